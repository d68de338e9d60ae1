import type { CallIntent, CallRecord, Diagnostic, ToolFailure } from '../../contracts/index.ts'
import { failedRecord } from './failed-record.ts'

// What models and people read about a call or a model request that started and whose result was never recorded.

/** A write whose process crashed: it may have run, and it does not run again. */
export function lostCallRecord(intent: CallIntent): CallRecord {
  const message = `The process ended before the result of "${intent.tool}" was recorded. The call may have run. It was not run again.`
  return failedRecord(intent, { class: 'failed', message, remedy: 'Check whether it took effect before you repeat it.' }, 'unknown')
}

/** The same for a person. `place`: the item, and the agent path of a child. */
export const lostCallDiagnostic = (tool: string, place: string): Diagnostic => ({
  code: 'call_unknown',
  severity: 'warning',
  message: `The process ended before the result of ${tool} (${place}) was recorded. The call may have run.`,
  remedy: 'Check whether it took effect. It was not run again.',
})

/** A call that was running when its turn ended. */
export function unfinishedCallRecord(intent: CallIntent): CallRecord {
  const effect = intent.effect === 'write' ? ' It may have taken effect.' : ''
  return failedRecord(intent, { class: 'cancelled', message: `The turn ended before "${intent.tool}" finished.${effect}` }, 'interrupted')
}

/** A call that may have run in an earlier process. Its second attempt was cancelled. */
export const notRunAgain: ToolFailure = {
  class: 'cancelled',
  message: 'The call may have run before. It was not run again: the turn was interrupted.',
}

export const lostReplyText = 'The process ended before the reply of the model was recorded.'
