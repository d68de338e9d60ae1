import type { AccountingEntry, CallEntry, ModelEntry, StepId, StepOperation } from '../contracts/index.ts'

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
