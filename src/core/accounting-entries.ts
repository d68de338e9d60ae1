import type { AccountingEntry, AskedFirst, CallEntry, CallRecord, InteractionEvent, ModelEntry, StepId } from '../contracts/index.ts'
import type { AskingStep, StartedCall } from './state/state.ts'
import { illegalEvent } from './state/state-changes.ts'

export function modelEntry(
  event: InteractionEvent<'interaction.step.completed' | 'interaction.step.failed'>,
  step: AskingStep,
  status: 'completed' | 'failed',
): ModelEntry {
  const { agentPath, usage, cost, latencyMs } = event
  return { kind: 'model', agentPath, stepId: step.id, attempt: step.attempt, model: step.modelId, status, usage, cost, latencyMs }
}

/** The request that selected the agent, before the first step. */
export function selectionEntry({ model, usage, cost, latencyMs, failure }: AskedFirst, agentPath: string, stepId: StepId): AccountingEntry {
  const entry = { kind: 'model', agentPath, stepId, attempt: 1, model, usage, cost, latencyMs } as const
  return failure ? { ...entry, status: 'failed', failure } : { ...entry, status: 'completed' }
}

export function callEntry(
  event: InteractionEvent<'interaction.item.completed'>,
  { intent, sandbox }: StartedCall,
  item: CallRecord,
): CallEntry {
  if (!event.stepId) throw illegalEvent(event, 'it has no step id')
  const entry = {
    kind: 'call',
    agentPath: event.agentPath,
    stepId: event.stepId,
    itemId: item.id,
    tool: intent.tool,
    namespace: intent.namespace,
    title: intent.title,
    status: item.status,
    bytesIn: item.bytesIn,
    bytesOut: item.bytesOut,
    latencyMs: item.latencyMs,
  } as const
  if (sandbox.kind !== 'outside' && !item.error) return entry
  return { ...entry, ...(sandbox.kind === 'outside' && { unsandboxed: true }), ...(item.error && { error: item.error.class }) }
}
