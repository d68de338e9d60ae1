import type { OwnerUsage } from './store.ts'

/** Tokens as the provider counts them. `input` includes `cacheRead` and `cacheWrite`; `output` includes `reasoning`. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  /** At least a part is our estimate, because the provider reported nothing. */
  readonly estimated?: true
}

/** US dollars; `unknown` if any part has no price. */
export type Cost = number | 'unknown'

const nanosPerUsd = 1e9
/** More than the products of prices and of this conversion are off. Amounts up to half a million dollars are exact. */
const inexactness = 2 ** -50

/** Whole nano-dollars. What is in between, such as a rest of inexact arithmetic in older journals, is rounded away from 0. */
function nanoUsd(usd: number): number {
  const nanos = Math.ceil(Math.abs(usd) * nanosPerUsd * (1 - inexactness))
  return usd < 0 ? -nanos : nanos
}

/** The cost of a step in US dollars, rounded up to a whole number of nano-dollars. */
export const roundUsd = (usd: number): number => nanoUsd(usd) / nanosPerUsd

/** US dollars. All amounts are added as whole nano-dollars: a sum is exact, and the same in any order. */
export const addUsd = (a: number, b: number): number => (nanoUsd(a) + nanoUsd(b)) / nanosPerUsd
export const subtractUsd = (a: number, b: number): number => (nanoUsd(a) - nanoUsd(b)) / nanosPerUsd

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** Tokens and money. */
export interface Spent {
  readonly usage: Usage
  readonly cost: Cost
}

function addUsage(a: Usage, b: Usage): Usage {
  const sum = {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  }
  return a.estimated || b.estimated ? { ...sum, estimated: true } : sum
}

const addCost = (a: Cost, b: Cost): Cost => (a === 'unknown' || b === 'unknown' ? 'unknown' : addUsd(a, b))

export const addSpent = (spent: Spent, usage: Usage, cost: Cost): Spent => ({
  usage: addUsage(spent.usage, usage),
  cost: addCost(spent.cost, cost),
})

export const addOwnerUsage = (a: OwnerUsage, b: OwnerUsage): OwnerUsage => ({
  tokens: a.tokens + b.tokens,
  costUsd: addUsd(a.costUsd, b.costUsd),
})
export const subtractOwnerUsage = (a: OwnerUsage, b: OwnerUsage): OwnerUsage => ({
  tokens: a.tokens - b.tokens,
  costUsd: subtractUsd(a.costUsd, b.costUsd),
})
