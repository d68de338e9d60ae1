import type { CallItemType, ItemStatus, Json, ModelFailure, StreamEvent } from '../../contracts/index.ts'

// What a client that waits for an answer sees of a turn, from the events of its session.
//
// 1. The pieces of a text add up to the text that is recorded, even if live events were lost.
// 2. Texts of the root agent are parts of the answer, in all steps. Texts of children are not.
// 3. A text that was sent cannot be taken back: if its attempt fails, the answer ends with `broken`.

export type TurnPart =
  /** The first piece of a text has `begins`. */
  | { readonly type: 'text' | 'reasoning'; readonly itemId: string; readonly text: string; readonly begins: boolean }
  /** A text is complete. */
  | { readonly type: 'text.done' | 'reasoning.done'; readonly itemId: string; readonly text: string }
  | { readonly type: 'call'; readonly call: CallView }
  | { readonly type: 'call.done'; readonly call: CallView; readonly status: ItemStatus; readonly content: string; readonly value?: Json }
  /** A child or a tool reports progress. */
  | { readonly type: 'progress'; readonly agentPath: string; readonly text: string }
  | { readonly type: 'broken'; readonly failure: ModelFailure }
  /** The turn has ended, or waits for a person. */
  | { readonly type: 'end' }

export interface CallView {
  readonly itemId: string
  readonly type: CallItemType
  readonly tool: string
  readonly namespace: string
  readonly title: string
  readonly input: object
  readonly agentPath: string
}

interface OpenText {
  readonly kind: 'text' | 'reasoning'
  readonly attempt: number
  sent: number
}

/** Folds events into parts. One for each turn. */
export class TurnParts {
  readonly #texts = new Map<string, OpenText>()
  readonly #calls = new Map<string, CallView>()
  readonly #hasNoTexts: boolean

  /** `none`: for answers that are checked before they are sent, such as JSON: the caller sends the report at the end. */
  constructor({ texts = 'live' }: { readonly texts?: 'live' | 'none' } = {}) {
    this.#hasNoTexts = texts === 'none'
  }

  read(event: StreamEvent): readonly TurnPart[] {
    const isRoot = event.agentPath === 'root'
    switch (event.type) {
      case 'interaction.item.delta':
        if (event.kind === 'progress') return [{ type: 'progress', agentPath: event.agentPath, text: event.text }]
        if (!isRoot || event.kind === 'output' || this.#hasNoTexts) return []
        return this.#piece(event.itemId, { kind: event.kind, attempt: event.attempt, offset: event.offset, text: event.text })
      case 'interaction.item.started':
        return event.item.kind === 'call' ? this.#callStarted(event.item, event.agentPath) : []
      case 'interaction.item.completed':
        if (event.item.kind === 'call') return this.#callDone(event.item)
        return event.item.kind === 'text' && isRoot ? this.#textDone(event.item) : []
      case 'interaction.step.failed':
        return isRoot && this.#texts.size > 0 ? [{ type: 'broken', failure: event.failure }] : []
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
      case 'interaction.turn.suspended':
        return isRoot ? [{ type: 'end' }] : []
      default:
        return []
    }
  }

  #piece(
    itemId: string,
    {
      kind,
      attempt,
      offset,
      text,
    }: { readonly kind: 'text' | 'reasoning'; readonly attempt: number; readonly offset: number; readonly text: string },
  ): readonly TurnPart[] {
    const open = this.#texts.get(itemId) ?? { kind, attempt, sent: 0 }
    const begins = open.sent === 0
    // A gap is filled when the item is complete; what was sent is skipped.
    if (offset > open.sent) return []
    const fresh = text.slice(open.sent - offset)
    if (fresh === '') return []
    open.sent += fresh.length
    this.#texts.set(itemId, open)
    return [{ type: kind, itemId, text: fresh, begins }]
  }

  #textDone({
    id,
    type,
    text,
    status,
  }: {
    readonly id: string
    readonly type: string
    readonly text: string
    readonly status: ItemStatus
  }): readonly TurnPart[] {
    const kind = type === 'reasoning' ? 'reasoning' : 'text'
    const sent = this.#texts.get(id)?.sent ?? 0
    this.#texts.delete(id)
    if (this.#hasNoTexts || type === 'error' || status !== 'completed' || text === '') return []
    const rest = text.slice(sent)
    return [
      ...(rest === '' ? [] : [{ type: kind, itemId: id, text: rest, begins: sent === 0 } as const]),
      { type: `${kind}.done`, itemId: id, text },
    ]
  }

  #callStarted(item: Omit<CallView, 'itemId' | 'agentPath'> & { readonly id: string }, agentPath: string): readonly TurnPart[] {
    const { id: itemId, type, tool, namespace, title, input } = item
    const call = { itemId, type, tool, namespace, title, input, agentPath }
    this.#calls.set(itemId, call)
    return [{ type: 'call', call }]
  }

  #callDone({
    id,
    status,
    content,
    value,
  }: {
    readonly id: string
    readonly status: ItemStatus
    readonly content: string
    readonly value?: Json
  }): readonly TurnPart[] {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    return call ? [{ type: 'call.done', call, status, content, ...(value !== undefined && { value }) }] : []
  }
}
