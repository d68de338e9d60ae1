import type { CallIntent, CallRecord, ItemStatus, ToolFailure } from '../../contracts/index.ts'
import { utf8Length } from '../../util/fit-text.ts'

// How a call that brought no result of its own is put on record.

/** What a model reads about a failure. */
export function failureText({ class: kind, message, remedy }: ToolFailure): string {
  return remedy === undefined ? `Error (${kind}): ${message}` : `Error (${kind}): ${message} ${remedy}`
}

export function failedRecord(intent: CallIntent, failure: ToolFailure, status: ItemStatus): CallRecord {
  const content = failureText(failure)
  const { id, type } = intent
  return { kind: 'call', id, type, status, content, error: failure, latencyMs: 0, bytesIn: 0, bytesOut: utf8Length(content) }
}

/** The driver died between intent and result: whether it ran is not known, and both model and person are told. */
export function unknownResult(intent: CallIntent): CallRecord {
  return failedRecord(
    intent,
    {
      class: 'failed',
      message: `It is not known whether "${intent.tool}" ran: the process ended before its result was recorded. It was not run again.`,
      remedy: 'Check whether it took effect before you repeat it.',
    },
    'unknown',
  )
}
