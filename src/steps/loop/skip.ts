import type { ToolFailure } from '../../contracts/index.ts'
import { type Action, failedRecord, type Session } from '../../core/index.ts'
import { notRunEvents } from '../session/not-run-events.ts'

type Skip = Extract<Action, { kind: 'skip' }>

const reasons: { readonly [Why in Skip['why']]: ToolFailure } = {
  steps: {
    class: 'budget',
    message: 'The call was not run: the step limit of this turn is reached.',
    remedy: 'Answer with what you have.',
  },
  interrupt: { class: 'cancelled', message: 'The call was not run: the turn was interrupted.' },
  stop: { class: 'cancelled', message: 'The call was not run: the user asked to stop.', remedy: 'Answer with what you have.' },
  abort: { class: 'denied', message: 'The call was not run: the user ended the turn.' },
}

/** Ends calls that never ran. Every call of a reply needs a result for the model. */
export function skip(session: Session, { calls, why }: Skip): void {
  const failure = reasons[why]
  for (const call of calls) {
    if (call.kind === 'started')
      session.note({ type: 'interaction.item.completed', itemId: call.itemId, item: failedRecord(call.intent, failure, 'skipped') })
    else for (const draft of notRunEvents(call, { failure, status: 'skipped' })) session.note(draft)
  }
}
