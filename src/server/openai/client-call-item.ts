import type { WireCall } from '../http/index.ts'
import { argumentsOf } from './client-tools.ts'
import type { ResponseEvent } from './response-items.ts'

// Calls that the client runs, as items of a response.

interface FunctionCallItem {
  readonly id: string
  readonly type: 'function_call'
  readonly status: 'completed'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}
interface CustomCallItem {
  readonly id: string
  readonly type: 'custom_tool_call'
  readonly status: 'completed'
  readonly call_id: string
  readonly name: string
  readonly input: string
}
export type ClientCallItem = FunctionCallItem | CustomCallItem

/** The id of an item names its session: clients may send a reference in place of the item. */
export function clientCallItem({ id, name, input }: WireCall, isCustom: boolean): ClientCallItem {
  const place = id.slice('call_'.length)
  const common = { status: 'completed', call_id: id, name } as const
  if (isCustom) return { id: `ctc_${place}`, type: 'custom_tool_call', ...common, input: argumentsOf(input, true) }
  return { id: `fc_${place}`, type: 'function_call', ...common, arguments: argumentsOf(input, false) }
}

export function clientCallEvents(item: ClientCallItem, index: number): readonly ResponseEvent[] {
  const place = { item_id: item.id, output_index: index }
  const [text, added, begins, ends] =
    item.type === 'function_call'
      ? [item.arguments, { arguments: '' }, 'response.function_call_arguments.delta', { arguments: item.arguments, name: item.name }]
      : [item.input, { input: '' }, 'response.custom_tool_call_input.delta', { input: item.input }]
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, ...added, status: 'in_progress' } },
    { type: begins, ...place, delta: text },
    { type: begins.replace(/delta$/, 'done'), ...place, ...ends },
    { type: 'response.output_item.done', output_index: index, item },
  ]
}
