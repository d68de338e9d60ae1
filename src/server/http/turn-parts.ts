import {
  type CallIntent,
  type CallItemType,
  type CallRecord,
  clientCallOf,
  type Envelope,
  type FinishReason,
  type ItemDelta,
  type ItemStatus,
  type Json,
  type ModelFailure,
  type StreamEvent,
  type TextRecord,
  type Usage,
} from '../../contracts/index.ts'
import { childSpeaker, speakerAfter } from '../../view/index.ts'
import { type WireCall, wireCall } from './client-calls.ts'

// What a client that waits for an answer sees of a turn, from the events of its session.
//
// 1. The pieces of a text add up to the text that is recorded, even if live events were lost.
// 2. Texts of the root agent, and of a child that talks to the person, are parts of the answer, in all steps. Texts of other children
//    are not.
// 3. A text that was sent cannot be taken back: if its attempt fails, the answer ends with `broken`. Reasoning is no part of the
//    answer: the next attempt has its own.

export type TurnPart =
  /** The first piece of a text has `begins`. `speaker`: in a handoff, the agent that wrote it. */
  | {
      readonly type: 'text' | 'reasoning'
      readonly itemId: string
      readonly text: string
      readonly begins: boolean
      readonly speaker?: string
    }
  /** A text is complete. */
  | { readonly type: 'text.done' | 'reasoning.done'; readonly itemId: string; readonly text: string }
  | { readonly type: 'call'; readonly call: CallView }
  | { readonly type: 'call.done'; readonly call: CallView; readonly status: ItemStatus; readonly content: string; readonly value?: Json }
  /** A child or a tool reports progress. */
  | { readonly type: 'progress'; readonly agentPath: string; readonly text: string }
  /** A reply of the agent that talks to the person is complete. The last one is the answer. */
  | { readonly type: 'step.done'; readonly finish: FinishReason; readonly usage: Usage }
  | { readonly type: 'broken'; readonly failure: ModelFailure }
  /** The client has to run it. Follows everything else, before `end`. */
  | { readonly type: 'client.call'; readonly call: WireCall }
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

interface TurnPartsOptions {
  /** `none`: for answers that are checked before they are sent, such as JSON: the caller sends the report at the end. */
  readonly texts?: 'live' | 'none'
  readonly speaker?: string | undefined
  /** Recorded texts of attempts that failed are parts, too: later readers get what those had who were there. */
  readonly showsFailed?: boolean
}

/** Folds events into parts. One for each turn. */
export class TurnParts {
  /** Characters sent, by item. */
  readonly #sent = new Map<string, number>()
  /** A text was sent whose attempt has not ended well. */
  #isOpen = false
  readonly #calls = new Map<string, CallView>()
  /** Calls that wait for the client, by request. */
  readonly #clientCalls = new Map<string, WireCall>()
  readonly #hasNoTexts: boolean
  readonly #showsFailed: boolean
  /** The path of the agent that talks to the person. */
  #speaker: string

  constructor({ texts = 'live', speaker = 'root', showsFailed = false }: TurnPartsOptions = {}) {
    this.#hasNoTexts = texts === 'none'
    this.#speaker = speaker
    this.#showsFailed = showsFailed
  }

  read(event: StreamEvent): readonly TurnPart[] {
    this.#speaker = speakerAfter(event, this.#speaker)
    const isRoot = event.agentPath === 'root'
    const speaks = event.agentPath === this.#speaker
    switch (event.type) {
      case 'interaction.item.delta':
        if (event.kind === 'progress') return [{ type: 'progress', agentPath: event.agentPath, text: event.text }]
        if (!speaks || event.kind === 'output' || this.#hasNoTexts) return []
        return this.#piece(event.kind, { ...event, itemId: textId(event.agentPath, event.itemId) })
      case 'interaction.item.started':
        return event.item.kind === 'call' && event.item.lane.kind !== 'client' ? this.#callStarted(event.item, event) : []
      case 'interaction.item.completed':
        if (event.item.kind === 'call') return this.#callDone(event.item, event)
        return event.item.kind === 'text' && speaks ? this.#textDone({ ...event.item, id: textId(event.agentPath, event.item.id) }) : []
      case 'interaction.step.completed':
        if (!speaks) return []
        this.#isOpen = false
        return [{ type: 'step.done', finish: event.finish, usage: event.usage }]
      case 'interaction.step.failed':
        return speaks && this.#isOpen ? [{ type: 'broken', failure: event.failure }] : []
      case 'interaction.approval.requested':
        if (isRoot && event.request.scope === 'client') this.#clientCalls.set(event.request.id, wireCall(clientCallOf(event.request)))
        return []
      case 'interaction.approval.resolved':
        this.#clientCalls.delete(event.approvalId)
        return []
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
      case 'interaction.turn.suspended':
        return isRoot ? this.#end(event.type === 'interaction.turn.suspended') : []
      default:
        return []
    }
  }

  #end(isSuspended: boolean): readonly TurnPart[] {
    const calls = isSuspended ? [...this.#clientCalls.values()] : []
    return [...calls.map((call) => ({ type: 'client.call', call }) as const), { type: 'end' }]
  }

  #piece(
    kind: 'text' | 'reasoning',
    { itemId, offset, text }: { readonly itemId: string } & Pick<ItemDelta, 'offset' | 'text'>,
  ): readonly TurnPart[] {
    const sent = this.#sent.get(itemId) ?? 0
    // A gap is filled when the item is complete; what was sent is skipped.
    if (offset > sent) return []
    const fresh = text.slice(sent - offset)
    if (fresh === '') return []
    this.#sent.set(itemId, sent + fresh.length)
    if (kind === 'text') this.#isOpen = true
    return [{ type: kind, itemId, text: fresh, begins: sent === 0, ...this.#child() }]
  }

  #textDone({ id, type, text, status }: { readonly id: string } & Pick<TextRecord, 'type' | 'text' | 'status'>): readonly TurnPart[] {
    const kind = type === 'reasoning' ? 'reasoning' : 'text'
    const sent = this.#sent.get(id) ?? 0
    this.#sent.delete(id)
    const isWhole = status === 'completed'
    if (this.#hasNoTexts || type === 'error' || text === '' || !(isWhole || this.#showsFailed)) return []
    if (kind === 'text' && !isWhole) this.#isOpen = true
    const rest = text.slice(sent)
    return [
      ...(rest === '' ? [] : [{ type: kind, itemId: id, text: rest, begins: sent === 0, ...this.#child() } as const]),
      ...(isWhole ? [{ type: `${kind}.done`, itemId: id, text } as const] : []),
    ]
  }

  #child(): { readonly speaker?: string } {
    const speaker = childSpeaker(this.#speaker)
    return speaker === undefined ? {} : { speaker }
  }

  #callStarted({ id: itemId, type, tool, namespace, title, input }: CallIntent, { sessionId, agentPath }: Envelope): readonly TurnPart[] {
    const call = { itemId, type, tool, namespace, title, input, agentPath }
    this.#calls.set(callKey(sessionId, itemId), call)
    return [{ type: 'call', call }]
  }

  #callDone({ id, status, content, value }: CallRecord, { sessionId }: Envelope): readonly TurnPart[] {
    const key = callKey(sessionId, id)
    const call = this.#calls.get(key)
    this.#calls.delete(key)
    return call ? [{ type: 'call.done', call, status, content, ...(value !== undefined && { value }) }] : []
  }
}

/** `coach-1.t1.s1.1` for a child: ids of items are unique in their session only. */
const textId = (path: string, itemId: string): string => (path === 'root' ? itemId : `${path.slice(5).replaceAll(/[#/]/g, '-')}.${itemId}`)

/** Ids of items are unique in their session only, and a child is another session. */
const callKey = (sessionId: string, itemId: string): string => `${sessionId}/${itemId}`
