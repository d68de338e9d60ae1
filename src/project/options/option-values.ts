import type { SourceLocation } from '../../yaml/source-text.ts'
import type { AgentOptionKey } from './agent-options.ts'
import { contractOf } from './setting-conflicts.ts'

/** Where a value of an option comes from: flags and variables override the agent file, which overrides defaults. */
export type Precedence = 'override' | 'file' | 'default'

/** A valid value of an option and where it is set. */
export interface OptionValue {
  readonly value: unknown
  readonly precedence: Precedence
  /** `a.ai:3:9`, `--model`, `TROUPE_MODELS`. */
  readonly place: string
  readonly line?: string
  /** The location of each entry of a list. */
  readonly entries?: readonly SourceLocation[]
}

export type OptionValues = ReadonlyMap<AgentOptionKey, OptionValue>

/** A value from outside the agent file. */
export type ExternalValue = Pick<OptionValue, 'value' | 'place'>
export type ExternalValues = ReadonlyMap<AgentOptionKey, ExternalValue>
/** Values that override those of a file, each with the flag that sets it. */
export type AgentOverrides = ExternalValues

/** The location of a value, or of an entry of a list if it is known. */
export const locationOf = ({ place, line, entries }: Omit<OptionValue, 'value' | 'precedence'>, index = -1): SourceLocation =>
  entries?.[index] ?? { place, ...(line !== undefined && { line }) }

interface ValueLayers {
  readonly overrides: ExternalValues | undefined
  readonly file: OptionValues
  readonly defaults: ExternalValues | undefined
}

/** All values of an agent, each from the source with the highest precedence. */
export function mergeLayers({ overrides, file, defaults }: ValueLayers): OptionValues {
  return mergeTwo(withPrecedence('override', overrides), mergeTwo(file, withPrecedence('default', defaults)))
}

/** The keys of `input` or `output` belong together, so they all come from one source. */
function mergeTwo(stronger: OptionValues, weaker: OptionValues): OptionValues {
  if (stronger.size === 0) return weaker
  if (weaker.size === 0) return stronger
  const taken = new Set([...stronger.keys()].map(contractOf))
  const rest = [...weaker].filter(([key]) => {
    const contract = contractOf(key)
    return contract === undefined || !taken.has(contract)
  })
  return new Map([...rest, ...stronger])
}

function withPrecedence(precedence: Precedence, values: ExternalValues = new Map()): OptionValues {
  return new Map([...values].map(([key, { value, place }]) => [key, { value, place, precedence }]))
}
