import type { CallIntent, EventDraft, ItemStatus, ToolFailure } from '../../contracts/index.ts'
import { type Action, type CallBase, failedRecord, type Session } from '../../core/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { cutText } from '../../util/well-formed.ts'

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

type Facts = Pick<CallIntent, 'tool' | 'type' | 'namespace' | 'title' | 'effect' | 'lane' | 'input'>

/** Start and end of a call that does not run. It is an item, and its result goes to the model. */
export function notRunEvents(
  { itemId, part }: CallBase,
  { failure, status, facts }: { readonly failure: ToolFailure; readonly status: ItemStatus; readonly facts?: Partial<Facts> },
): readonly EventDraft[] {
  const unknown: Facts = {
    tool: part.name,
    type: 'tool_call',
    namespace: '',
    title: part.name,
    effect: 'read',
    lane: { kind: 'shared' },
    input: parseJsonObject(part.input) ?? { unparsed: cutText(part.input, 2_000) },
  }
  const intent: CallIntent = { kind: 'call', id: itemId, providerCallId: part.id, ...unknown, ...facts }
  return [
    { type: 'interaction.item.started', itemId, item: intent },
    { type: 'interaction.item.completed', itemId, item: failedRecord(intent, failure, status) },
  ]
}
