import type { CallIntent, EventDraft, ItemStatus, JsonObject, ToolFailure } from '../contracts/index.ts'
import { type Call, failed, type SkipReason } from '../core/index.ts'
import type { Stage } from './stage.ts'

const reasons: { readonly [Reason in SkipReason]: ToolFailure } = {
  interrupted: { class: 'cancelled', message: 'It was not run: the turn was interrupted.' },
  stopped: { class: 'cancelled', message: 'It was not run: the person asked to stop.', remedy: 'Answer with what you have.' },
  denied: { class: 'denied', message: 'It was not run: the person ended the turn.' },
}

/** Ends calls that never ran; the model is told, so that every call of a reply has its answer. */
export function skip(stage: Stage, calls: readonly Call[], reason: SkipReason): void {
  const { step } = stage.turn
  const stepId = step.kind === 'calling' ? step.id : undefined
  for (const call of calls) {
    for (const draft of refusal(call, reasons[reason], 'skipped')) stage.note({ itemId: call.itemId, ...draft }, stepId)
  }
}

/** Begins and ends a call in one breath: it never ran. */
export function refusal(call: Call, failure: ToolFailure, status: ItemStatus): readonly EventDraft[] {
  const intent: CallIntent = {
    id: call.itemId,
    type: 'tool_call',
    tool: call.part.name,
    namespace: '',
    title: call.part.name,
    callId: call.part.id,
    input: readable(call.part.input),
    inputHash: 0,
    effect: 'read',
    lane: { kind: 'shared' },
  }
  return [
    { type: 'interaction.item.started', item: intent },
    { type: 'interaction.item.completed', item: failed(intent, failure, status) },
  ]
}

function readable(input: string): JsonObject {
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch {
    // What the model wrote is no JSON; it is kept as text.
  }
  return { unparsed: input.slice(0, 2_000) }
}
