import {
  addSpent,
  type InteractionEvent,
  type ModelFailure,
  noUsage,
  type SessionService,
  type StreamEvent,
  type Usage,
} from '../../contracts/index.ts'
import { childSpeaker, speakerAfter } from '../../view/index.ts'
import { records, TurnParts } from '../http/index.ts'
import { type ResponseEvent, ResponseItems } from './response-items.ts'
import type { ResponseRecord, StoredResponse } from './response-records.ts'

// The turn of a response, from the events of its session.

type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

export type ResponseTurn =
  | { readonly kind: 'queued' }
  | { readonly kind: 'running' }
  /** Waits for a person. */
  | { readonly kind: 'suspended' }
  | { readonly kind: 'ended'; readonly end: TurnEnd }
  /** A child that talks to the person has answered, and waits for the next message. */
  | { readonly kind: 'answered'; readonly end: Suspension }
  /** The client has calls to run. Its results begin the next response. */
  | { readonly kind: 'called'; readonly end: Suspension }

type Suspension = Pick<InteractionEvent<'interaction.turn.suspended'>, 'type' | 'seq' | 'at'>
export type EndedTurn = Extract<ResponseTurn, { kind: 'ended' | 'answered' | 'called' }>

/** Whether nothing more is added to the response. */
export const isOver = (turn: ResponseTurn): turn is EndedTurn => turn.kind === 'ended' || turn.kind === 'answered' || turn.kind === 'called'

export class ResponseState {
  readonly #clientId: string | undefined
  readonly #record: ResponseRecord
  readonly #isJson: boolean
  readonly #items: ResponseItems
  #parts: TurnParts
  /** The path of the agent that talks to the person. */
  #speaker = 'root'
  /** Its last answer, if it is a child. */
  #spoken = ''
  /** By all steps of this response. */
  #spent = noUsage
  /** The results that the response follows are not recorded yet. */
  #isBefore: boolean
  #turnId: string | undefined
  #turn: ResponseTurn = { kind: 'queued' }
  #isContinued = false
  readonly #breaks: boolean
  #broken: ModelFailure | undefined

  constructor({ sessionId, clientId, record }: StoredResponse) {
    this.#clientId = clientId
    this.#record = record
    this.#isJson = record.isJson
    this.#isBefore = record.continues?.begins !== undefined
    if (record.continues) this.#turn = { kind: 'running' }
    this.#items = new ResponseItems(sessionId, record)
    this.#breaks = record.isStreamed === true && !record.background
    this.#parts = this.#partsOf('root')
  }

  get turn(): ResponseTurn {
    return this.#turn
  }

  get items(): ResponseItems['items'] {
    return this.#items.items
  }

  get output(): ResponseItems['output'] {
    return this.#items.output
  }

  /** The session has another turn after this one. */
  get isContinued(): boolean {
    return this.#isContinued
  }

  get usage(): Usage | undefined {
    if (!isOver(this.#turn)) return undefined
    return this.#turn.kind === 'ended' && !this.#record.continues ? this.#turn.end.totals.usage : this.#spent
  }

  /** The events before those that are read: calls that the client gets again are all of the answer. */
  begin(): readonly ResponseEvent[] {
    const { after, createdAt, continues } = this.#record
    if (!continues || continues.open.length === 0) return []
    this.#turn = { kind: 'called', end: { type: 'interaction.turn.suspended', seq: after, at: createdAt * 1000 } }
    return continues.open.flatMap((call) => this.#items.read({ type: 'client.call', call }))
  }

  /** The events of the stream that follow. */
  read(event: StreamEvent): readonly ResponseEvent[] {
    if (this.#isBefore) {
      this.#isBefore = !records(event, this.#record.continues?.begins ?? '')
      return []
    }
    this.#listen(event)
    if (event.agentPath === 'root') this.#follow(event)
    if (!this.#isOwn(event) || this.#broken) return []
    if (event.type === 'interaction.step.completed' || event.type === 'interaction.step.failed')
      this.#spent = addSpent({ usage: this.#spent, cost: 0 }, event.usage, 0).usage
    const events = this.#parts.read(event).flatMap((part) => {
      if (part.type === 'broken' && this.#breaks) this.#broken = part.failure
      if (part.type === 'client.call' && event.type === 'interaction.turn.suspended') this.#turn = { kind: 'called', end: event }
      return this.#items.read(part)
    })
    // The next attempt has its own texts. Nothing follows those before an interrupt.
    if (event.type === 'interaction.step.failed' && event.agentPath === this.#speaker)
      return this.#items.close({ keepsTexts: event.keepsText === true || this.#broken !== undefined })
    if (this.#turn.kind === 'answered') return [...events, ...this.#finished(this.#spoken)]
    if (this.#turn.kind !== 'ended') return events
    const { end } = this.#turn
    return [...events, ...this.#finished(end.type === 'interaction.turn.completed' ? end.report.text : '')]
  }

  /** A text was sent whose reply failed, to a client that takes no other. The response has nothing after it. */
  get broken(): ModelFailure | undefined {
    return this.#broken
  }

  #partsOf(speaker: string): TurnParts {
    return new TurnParts({ texts: this.#isJson ? 'none' : 'live', speaker, showsFailed: true })
  }

  #isOwn(event: StreamEvent): boolean {
    if (this.#turnId === undefined || (isOver(this.#turn) && event !== this.#turn.end)) return false
    return event.agentPath !== 'root' || event.turnId === this.#turnId
  }

  /** Handoffs: who talks to the person, and a message that went to that child, or ended the handoff, instead of starting a turn. */
  #listen(event: StreamEvent): void {
    this.#setSpeaker(speakerAfter(event, this.#speaker))
    if (event.type === 'interaction.turn.completed' && event.agentPath === this.#speaker) this.#spoken = event.report.text
    if (event.type !== 'interaction.input.accepted') return
    if (isOver(this.#turn)) this.#isContinued = true
    else if (event.clientId === this.#clientId && (event.endsHandoff || event.agentPath !== 'root')) {
      this.#setSpeaker(event.endsHandoff ? 'root' : event.agentPath)
      this.#parts = this.#partsOf(this.#speaker)
      this.#turn = { kind: 'running' }
    }
  }

  #setSpeaker(path: string): void {
    if (path !== this.#speaker) this.#spoken = ''
    this.#speaker = path
  }

  #follow(event: StreamEvent): void {
    const isStart = event.type === 'interaction.turn.started'
    // The turn of the root has begun before.
    if (this.#turn.kind === 'running' && !isStart) this.#turnId ??= event.turnId
    if (isStart) {
      if (this.#turnId !== undefined) this.#isContinued = true
      else if (this.#clientId === undefined || this.#record.continues || event.inputs.some((id) => id === this.#clientId)) {
        this.#turnId = event.turnId
        this.#turn = { kind: 'running' }
      }
      return
    }
    if (isOver(this.#turn) || this.#turnId === undefined || event.turnId !== this.#turnId) return
    if (event.type === 'interaction.turn.suspended')
      this.#turn = event.reason === 'input' && this.#speaker !== 'root' ? { kind: 'answered', end: event } : { kind: 'suspended' }
    else if (isEnd(event)) this.#turn = { kind: 'ended', end: event }
    else if (this.#turn.kind === 'suspended' && event.type !== 'interaction.item.delta') this.#turn = { kind: 'running' }
  }

  /** An answer in JSON is sent when it has been checked; so is one that the agent did not write itself. */
  #finished(text: string): readonly ResponseEvent[] {
    const closed = this.#items.close()
    const hasText = this.#items.output.some(({ type }) => type === 'message')
    if (text === '' || (hasText && !this.#isJson)) return closed
    return [...closed, ...this.#items.whole({ itemId: `${this.#turnId}.report`, text, speaker: childSpeaker(this.#speaker) })]
  }
}

const isEnd = (event: StreamEvent): event is TurnEnd =>
  event.type === 'interaction.turn.completed' || event.type === 'interaction.turn.failed' || event.type === 'interaction.turn.interrupted'

/** What the journal has of a response now. Waits for nothing. `undefined`: the session is not there, or belongs to somebody else. */
export async function readState(sessions: SessionService, response: StoredResponse): Promise<ResponseState | undefined> {
  const { sessionId, record } = response
  const entry = await sessions.get(sessionId)
  if (!entry) return undefined
  const state = new ResponseState(response)
  if (state.begin().length > 0 || entry.seq <= record.after) return state
  for await (const event of sessions.events(sessionId, { after: record.after, until: 'turn', live: false })) {
    state.read(event)
    if (state.turn.kind === 'called' || ('seq' in event && event.seq >= entry.seq)) break
  }
  return state
}

export async function untilEnded(sessions: SessionService, response: StoredResponse): Promise<void> {
  const state = new ResponseState(response)
  for await (const event of sessions.events(response.sessionId, { after: response.record.after, until: 'closed', live: false })) {
    state.read(event)
    if (isOver(state.turn)) return
  }
}
