import type { CallIntent, EventDraft, ItemStatus, ToolFailure } from '../../contracts/index.ts'
import { type CallBase, failedRecord } from '../../core/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { cutText } from '../../util/well-formed.ts'

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
