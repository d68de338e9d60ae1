import type { Cost, Usage } from './usage.ts'

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

const addCost = (a: Cost, b: Cost): Cost => (a === 'unknown' || b === 'unknown' ? 'unknown' : a + b)

export const addSpent = (spent: Spent, usage: Usage, cost: Cost): Spent => ({
  usage: addUsage(spent.usage, usage),
  cost: addCost(spent.cost, cost),
})
