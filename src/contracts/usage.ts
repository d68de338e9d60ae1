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

const addCost = (a: Cost, b: Cost): Cost => (a === 'unknown' || b === 'unknown' ? 'unknown' : a + b)

export const addSpent = (spent: Spent, usage: Usage, cost: Cost): Spent => ({
  usage: addUsage(spent.usage, usage),
  cost: addCost(spent.cost, cost),
})
