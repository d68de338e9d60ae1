import type { AccountingEntry, CallEntry, Cost, ModelEntry, StepId, StepOperation, Usage } from '../contracts/index.ts'
import type { Spent } from './state.ts'

export function addUsage(a: Usage, b: Usage): Usage {
  const sum = {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  }
  return a.estimated || b.estimated ? { ...sum, estimated: true } : sum
}

export const addCost = (a: Cost, b: Cost): Cost => (a === 'unknown' || b === 'unknown' ? 'unknown' : a + b)

export const addSpent = (spent: Spent, usage: Usage, cost: Cost): Spent => ({
  usage: addUsage(spent.usage, usage),
  cost: addCost(spent.cost, cost),
})

/** Groups the entries of a turn by step. Steps follow each other, so the entries of one stand together. */
export function operationsOf(accounting: readonly AccountingEntry[]): readonly StepOperation[] {
  const steps: StepOperation[] = []
  let attempts: ModelEntry[] = []
  let calls: CallEntry[] = []
  let stepId: StepId | undefined
  for (const entry of accounting) {
    if (entry.stepId !== stepId) {
      stepId = entry.stepId
      attempts = []
      calls = []
      steps.push({ kind: 'step', stepId, attempts, calls })
    }
    if (entry.kind === 'model') attempts.push(entry)
    else calls.push(entry)
  }
  return steps
}
