import { contractOf } from './contract-faults.ts'
import type { PlacedValues, Rank, SaidValues } from './placed-value.ts'

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
