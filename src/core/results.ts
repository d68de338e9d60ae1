import type { CallIntent, CallRecord, EventDraft, ItemStatus, JsonObject, ToolFailure } from '../contracts/index.ts'
import type { Call, StartedCall } from './state.ts'

// How a call that brought no result of its own is put on record.

/** What a model reads about a failure. */
export function failureText({ class: kind, message, remedy }: ToolFailure): string {
  return remedy === undefined ? `Error (${kind}): ${message}` : `Error (${kind}): ${message} ${remedy}`
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

export function failed(intent: CallIntent, failure: ToolFailure, status: ItemStatus): CallRecord {
  const content = failureText(failure)
  return { id: intent.id, type: intent.type, status, content, error: failure, latencyMs: 0, bytesIn: 0, bytesOut: content.length }
}

/** The driver died between intent and result: whether it ran is not known, and both model and person are told. */
export function unknownResult({ intent }: StartedCall): CallRecord {
  return failed(
    intent,
    {
      class: 'failed',
      message: `It is not known whether "${intent.tool}" ran: the process ended before its result was recorded. It was not run again.`,
      remedy: 'Check whether it took effect before you repeat it.',
    },
    'unknown',
  )
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
