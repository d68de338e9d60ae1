import type { AccountingEntry, AskedFirst, StepId } from '../contracts/index.ts'

/** A question that came before the first step, as the attempt that it was. */
export function selectionEntry({ model, usage, cost, latencyMs, failure }: AskedFirst, agentPath: string, stepId: StepId): AccountingEntry {
  const entry = { kind: 'model', agentPath, stepId, attempt: 1, model, usage, cost, latencyMs } as const
  return failure ? { ...entry, status: 'failed', failure } : { ...entry, status: 'completed' }
}
