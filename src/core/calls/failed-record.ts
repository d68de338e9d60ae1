import type { CallIntent, CallRecord, ItemStatus, ToolFailure } from '../../contracts/index.ts'
import { utf8Length } from '../../util/fit-text.ts'

/** A failure as the model reads it. */
export function failureText({ class: kind, message, remedy }: ToolFailure): string {
  return remedy === undefined ? `Error (${kind}): ${message}` : `Error (${kind}): ${message} ${remedy}`
}

/** The record of a call that has no result of its own. */
export function failedRecord(intent: CallIntent, failure: ToolFailure, status: ItemStatus): CallRecord {
  const content = failureText(failure)
  const { id, type } = intent
  return { kind: 'call', id, type, status, content, error: failure, latencyMs: 0, bytesIn: 0, bytesOut: utf8Length(content) }
}
