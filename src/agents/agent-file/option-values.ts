import type { Problem } from '../../contracts/index.ts'
import type { AgentOptionKey } from './agent-options.ts'
import { contractOf } from './setting-conflicts.ts'

/** Somewhere that a problem can be told at. */
export type Spot = Pick<Problem, 'place' | 'line'>

/** Whose word it is: somebody's who goes before the file, the file's, or that of those who speak where it is silent. */
export type Rank = 'over' | 'file' | 'default'

/** A value that was found to be right, and where it was said. */
export interface PlacedValue {
  readonly value: unknown
  readonly rank: Rank
  /** Where it was said: `a.ai:3:9`, `--model`, `TROUPE_MODELS`. */
  readonly place: string
  readonly line?: string
  /** Of a list, where each entry stands. */
  readonly entries?: readonly Spot[]
}

export type PlacedValues = ReadonlyMap<AgentOptionKey, PlacedValue>

/** A value by another's word, before or behind what a file says. */
export interface SaidValue {
  readonly value: unknown
  readonly place: string
}
export type SaidValues = ReadonlyMap<AgentOptionKey, SaidValue>

/** Where the entry of a list stands, or the list. */
export const spotOf = ({ place, line, entries }: PlacedValue, index: number): Spot =>
  entries?.[index] ?? { place, ...(line !== undefined && { line }) }

export interface Layers {
  readonly over: SaidValues | undefined
  /** What the file says. */
  readonly own: PlacedValues
  readonly defaults: SaidValues | undefined
}

/** Everything that holds for an agent. Who comes first counts. */
export function layered({ over, own, defaults }: Layers): PlacedValues {
  return laidOver(saidBy('over', over), laidOver(own, saidBy('default', defaults)))
}

/** A contract of input or output is one thing, so it is taken from one source as a whole. */
function laidOver(stronger: PlacedValues, weaker: PlacedValues): PlacedValues {
  if (stronger.size === 0) return weaker
  if (weaker.size === 0) return stronger
  const taken = new Set([...stronger.keys()].map(contractOf))
  const kept = [...weaker].filter(([key]) => {
    const contract = contractOf(key)
    return contract === undefined || !taken.has(contract)
  })
  return new Map([...kept, ...stronger])
}

function saidBy(rank: Rank, values: SaidValues = new Map()): PlacedValues {
  return new Map([...values].map(([key, { value, place }]) => [key, { value, place, rank }]))
}
