import type { CallView, TurnPart, WireCall } from '../http/index.ts'
import { type ClientCallItem, clientCallEvents, clientCallItem } from './client-call-item.ts'
import type { ResponseRecord } from './response-records.ts'

// The output of a response, from the parts of a turn.
//
// 1. Every item is added once, gets its pieces, and is done once. Items are numbered in the order in which they are added.
// 2. The same parts give the same items and events, whether texts come in pieces or as a whole. So a text is done when the next item
//    begins, although its record follows with the whole reply.

interface MessageItem {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly status: ItemState
  readonly content: readonly object[]
  /** In a handoff, the agent that wrote it. Not a field of OpenAI. */
  readonly speaker?: string
}
interface ReasoningItem {
  readonly id: string
  readonly type: 'reasoning'
  readonly status: ItemState
  readonly summary: readonly object[]
}
interface CallOutputItem {
  readonly id: string
  readonly type: 'mcp_call'
  readonly status: 'in_progress' | 'completed' | 'failed'
  readonly server_label: string
  readonly name: string
  readonly arguments: string
  readonly approval_request_id: null
  readonly output: string | null
  readonly error: object | null
}
export type OutputItem = MessageItem | ReasoningItem | CallOutputItem | ClientCallItem
type ItemState = 'in_progress' | 'completed' | 'incomplete'
type TextKind = 'text' | 'reasoning'

/** An event of the stream, without its number. */
export interface ResponseEvent {
  readonly type: string
  readonly [field: string]: unknown
}

interface TextPiece {
  readonly itemId: string
  readonly text: string
  readonly begins: boolean
  readonly speaker?: string | undefined
}

interface OpenText {
  readonly kind: TextKind
  readonly index: number
  readonly id: string
  readonly speaker: string | undefined
  text: string
  isDone: boolean
}

export class ResponseItems {
  readonly #items: OutputItem[] = []
  /** Indexes of texts that are no part of the answer. */
  readonly #dropped = new Set<number>()
  readonly #sessionId: string
  readonly #showsCalls: boolean
  readonly #custom: readonly string[]
  /** Texts by the id of their item, until they are recorded. All but the last one are done. */
  readonly #open = new Map<string, OpenText>()
  /** Calls by the id of their item, with their index. */
  readonly #calls = new Map<string, number>()

  constructor(sessionId: string, { showsCalls = false, custom = [] }: Pick<ResponseRecord, 'showsCalls' | 'custom'>) {
    this.#sessionId = sessionId
    this.#showsCalls = showsCalls
    this.#custom = custom
  }

  /** All that were sent. */
  get items(): readonly OutputItem[] {
    return this.#items
  }

  get output(): readonly OutputItem[] {
    return this.#items.filter((_, index) => !this.#dropped.has(index))
  }

  read(part: TurnPart): readonly ResponseEvent[] {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return this.#piece(part.type, part)
      case 'text.done':
      case 'reasoning.done':
        return this.#recorded(part)
      // Calls of children belong to the call of their parent.
      case 'call':
        return part.call.agentPath === 'root' && this.#showsCalls ? this.#callAdded(part.call) : []
      case 'call.done':
        return part.call.agentPath === 'root' ? this.#callDone(part) : []
      case 'client.call':
        return this.#clientCall(part.call)
      default:
        return []
    }
  }

  /** An answer that was checked before it is sent. */
  whole(piece: Omit<TextPiece, 'begins'>): readonly ResponseEvent[] {
    return [...this.#piece('text', { ...piece, begins: true }), ...this.#recorded(piece)]
  }

  /** Ends the texts whose reply has failed. They are no part of the answer, unless nothing follows them. */
  close({ keepsTexts = false } = {}): readonly ResponseEvent[] {
    if (!keepsTexts) for (const { index } of this.#open.values()) this.#dropped.add(index)
    const events = [...this.#open.values()].flatMap((open) => this.#textDone(open, 'incomplete'))
    this.#open.clear()
    return events
  }

  #recorded({ itemId, text }: { readonly itemId: string; readonly text: string }): readonly ResponseEvent[] {
    const open = this.#open.get(itemId)
    if (!open) return []
    this.#open.delete(itemId)
    open.text = text
    return this.#textDone(open, 'completed')
  }

  /** The events of a text that is done were sent; its item may change until it is recorded. */
  #textDone(open: OpenText, status: 'completed' | 'incomplete'): readonly ResponseEvent[] {
    const { kind, index, id, text, speaker } = open
    const item = textItem(kind, { id, status, text, speaker })
    this.#items[index] = item
    if (open.isDone) return []
    open.isDone = true
    const place = { item_id: id, output_index: index }
    const part = textPart(kind, text)
    const done: readonly ResponseEvent[] =
      kind === 'text'
        ? [
            { type: 'response.output_text.done', ...place, content_index: 0, text, logprobs: [] },
            { type: 'response.content_part.done', ...place, content_index: 0, part },
          ]
        : [
            { type: 'response.reasoning_summary_text.done', ...place, summary_index: 0, text },
            { type: 'response.reasoning_summary_part.done', ...place, summary_index: 0, part },
          ]
    return [...done, { type: 'response.output_item.done', output_index: index, item }]
  }

  #piece(kind: TextKind, { itemId, text, begins, speaker }: TextPiece): readonly ResponseEvent[] {
    const before = begins ? this.#textAdded(kind, { itemId, speaker }) : []
    const open = this.#open.get(itemId)
    if (!open || open.isDone) return before
    open.text += text
    const place = { item_id: open.id, output_index: open.index }
    return [
      ...before,
      kind === 'text'
        ? { type: 'response.output_text.delta', ...place, content_index: 0, delta: text, logprobs: [] }
        : { type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta: text },
    ]
  }

  #textAdded(kind: TextKind, { itemId, speaker }: Pick<TextPiece, 'itemId' | 'speaker'>): readonly ResponseEvent[] {
    const before = this.#nextItem()
    const id = `${kind === 'text' ? 'msg' : 'rs'}_${this.#sessionId}_${itemId}`
    const index = this.#items.length
    const item = textItem(kind, { id, status: 'in_progress', text: '', speaker })
    this.#items.push(item)
    this.#open.set(itemId, { kind, index, id, speaker, text: '', isDone: false })
    const place = { item_id: id, output_index: index }
    const part = textPart(kind, '')
    return [
      ...before,
      { type: 'response.output_item.added', output_index: index, item },
      kind === 'text'
        ? { type: 'response.content_part.added', ...place, content_index: 0, part }
        : { type: 'response.reasoning_summary_part.added', ...place, summary_index: 0, part },
    ]
  }

  #nextItem(): readonly ResponseEvent[] {
    return [...this.#open.values()].flatMap((open) => (open.isDone ? [] : this.#textDone(open, 'completed')))
  }

  #callAdded({ itemId, namespace, tool, input }: CallView): readonly ResponseEvent[] {
    const before = this.#nextItem()
    const index = this.#items.length
    const item: CallOutputItem = {
      id: `mcp_${this.#sessionId}_${itemId}`,
      type: 'mcp_call',
      status: 'in_progress',
      server_label: namespace,
      name: tool,
      arguments: JSON.stringify(input),
      approval_request_id: null,
      output: null,
      error: null,
    }
    this.#items.push(item)
    this.#calls.set(itemId, index)
    const place = { item_id: item.id, output_index: index }
    return [
      ...before,
      { type: 'response.output_item.added', output_index: index, item: { ...item, arguments: '' } },
      { type: 'response.mcp_call.in_progress', ...place },
      { type: 'response.mcp_call_arguments.delta', ...place, delta: item.arguments },
      { type: 'response.mcp_call_arguments.done', ...place, arguments: item.arguments },
    ]
  }

  /** The client runs it: for the response, it is done. */
  #clientCall(call: WireCall): readonly ResponseEvent[] {
    const before = this.#nextItem()
    const item = clientCallItem(call, this.#custom.includes(call.name))
    const index = this.#items.push(item) - 1
    return [...before, ...clientCallEvents(item, index)]
  }

  #callDone({ call, status, content }: Extract<TurnPart, { type: 'call.done' }>): readonly ResponseEvent[] {
    const index = this.#calls.get(call.itemId)
    const before = index === undefined ? undefined : this.#items[index]
    if (index === undefined || before?.type !== 'mcp_call') return []
    const isOk = status === 'completed'
    const item: CallOutputItem = {
      ...before,
      status: isOk ? 'completed' : 'failed',
      output: isOk ? content : null,
      error: isOk ? null : { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: content }] },
    }
    this.#items[index] = item
    return [
      { type: isOk ? 'response.mcp_call.completed' : 'response.mcp_call.failed', item_id: item.id, output_index: index },
      { type: 'response.output_item.done', output_index: index, item },
    ]
  }
}

interface TextItem extends Pick<OpenText, 'id' | 'text' | 'speaker'> {
  readonly status: ItemState
}

function textItem(kind: TextKind, { id, status, text, speaker }: TextItem): OutputItem {
  const parts = status === 'in_progress' ? [] : [textPart(kind, text)]
  return kind === 'text'
    ? { id, type: 'message', role: 'assistant', status, content: parts, ...(speaker !== undefined && { speaker }) }
    : { id, type: 'reasoning', status, summary: parts }
}

export const textPart = (kind: TextKind, text: string): object =>
  kind === 'text' ? { type: 'output_text', text, annotations: [], logprobs: [] } : { type: 'summary_text', text }
