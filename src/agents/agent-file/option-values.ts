import type { Problem } from '../../contracts/index.ts'
import type { AgentOptionKey } from './agent-options.ts'
import { contractOf } from './setting-conflicts.ts'

/** Somewhere that a problem can be told at. */
export type SourceLocation = Pick<Problem, 'place' | 'line'>

/** Whose word it is: somebody's who goes before the file, the file's, or that of those who speak where it is silent. */
export type Precedence = 'override' | 'file' | 'default'

/** A value that was found to be right, and where it was said. */
export interface OptionValue {
  readonly value: unknown
  readonly rank: Precedence
  /** Where it was said: `a.ai:3:9`, `--model`, `TROUPE_MODELS`. */
  readonly place: string
  readonly line?: string
  /** Of a list, where each entry stands. */
  readonly entries?: readonly SourceLocation[]
}

export type OptionValues = ReadonlyMap<AgentOptionKey, OptionValue>

/** A value by another's word, before or behind what a file says. */
export interface ExternalValue {
  readonly value: unknown
  readonly place: string
}
export type ExternalValues = ReadonlyMap<AgentOptionKey, ExternalValue>

/** Where the entry of a list stands, or the list. */
export const locationOf = ({ place, line, entries }: OptionValue, index: number): SourceLocation =>
  entries?.[index] ?? { place, ...(line !== undefined && { line }) }

export interface ValueLayers {
  readonly over: ExternalValues | undefined
  /** What the file says. */
  readonly own: OptionValues
  readonly defaults: ExternalValues | undefined
}

/** Everything that holds for an agent. Who comes first counts. */
export function mergeLayers({ over, own, defaults }: ValueLayers): OptionValues {
  return mergeTwo(withPrecedence('override', over), mergeTwo(own, withPrecedence('default', defaults)))
}

/** A contract of input or output is one thing, so it is taken from one source as a whole. */
function mergeTwo(stronger: OptionValues, weaker: OptionValues): OptionValues {
  if (stronger.size === 0) return weaker
  if (weaker.size === 0) return stronger
  const taken = new Set([...stronger.keys()].map(contractOf))
  const kept = [...weaker].filter(([key]) => {
    const contract = contractOf(key)
    return contract === undefined || !taken.has(contract)
  })
  return new Map([...kept, ...stronger])
}

function withPrecedence(rank: Precedence, values: ExternalValues = new Map()): OptionValues {
  return new Map([...values].map(([key, { value, place }]) => [key, { value, place, rank }]))
}
