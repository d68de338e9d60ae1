import type { InteractionEvent, ModelFailure, SessionService, StreamEvent, Usage } from '../../contracts/index.ts'
import { TurnParts } from '../server/index.ts'
import { type ResponseEvent, ResponseItems } from './response-items.ts'
import type { StoredResponse } from './response-records.ts'

// The turn of a response, from the events of its session.

export type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

export type ResponseTurn =
  | { readonly kind: 'queued' }
  | { readonly kind: 'running' }
  /** Waits for a person. */
  | { readonly kind: 'suspended' }
  | { readonly kind: 'ended'; readonly end: TurnEnd }

export class ResponseState {
  readonly #clientId: string | undefined
  readonly #isJson: boolean
  readonly #items: ResponseItems
  readonly #parts: TurnParts
  #turnId: string | undefined
  #turn: ResponseTurn = { kind: 'queued' }
  #isContinued = false
  #failure: ModelFailure | undefined

  constructor({ sessionId, clientId, record }: StoredResponse) {
    this.#clientId = clientId
    this.#isJson = record.isJson
    this.#items = new ResponseItems(sessionId)
    this.#parts = new TurnParts({ texts: record.isJson ? 'none' : 'live' })
  }

  get turn(): ResponseTurn {
    return this.#turn
  }

  get output(): ResponseItems['output'] {
    return this.#items.output
  }

  /** The session has another turn after this one. */
  get isContinued(): boolean {
    return this.#isContinued
  }

  get usage(): Usage | undefined {
    return this.#turn.kind === 'ended' ? this.#turn.end.totals.usage : undefined
  }

  /** The events of the stream that follow. */
  read(event: StreamEvent): readonly ResponseEvent[] {
    if (event.agentPath === 'root') this.#follow(event)
    if (!this.#isOwn(event)) return []
    const events = this.#parts.read(event).flatMap((part) => {
      if (part.type === 'broken') this.#failure = part.failure
      return this.#items.read(part)
    })
    return this.#turn.kind === 'ended' ? [...events, ...this.#ended(this.#turn.end)] : events
  }

  /** A text was sent whose reply failed. */
  get failure(): ModelFailure | undefined {
    return this.#failure
  }

  close(): readonly ResponseEvent[] {
    return this.#items.close()
  }

  #isOwn(event: StreamEvent): boolean {
    if (this.#turnId === undefined || (this.#turn.kind === 'ended' && event !== this.#turn.end)) return false
    return event.agentPath !== 'root' || event.turnId === this.#turnId
  }

  #follow(event: StreamEvent): void {
    if (event.type === 'interaction.turn.started') {
      if (this.#turnId !== undefined) this.#isContinued = true
      else if (this.#clientId === undefined || event.inputs.some((id) => id === this.#clientId)) {
        this.#turnId = event.turnId
        this.#turn = { kind: 'running' }
      }
      return
    }
    if (this.#turn.kind === 'ended') {
      if (event.type === 'interaction.input.accepted') this.#isContinued = true
      return
    }
    if (this.#turnId === undefined || event.turnId !== this.#turnId) return
    if (event.type === 'interaction.turn.suspended') this.#turn = { kind: 'suspended' }
    else if (isEnd(event)) this.#turn = { kind: 'ended', end: event }
    else if (this.#turn.kind === 'suspended' && event.type !== 'interaction.item.delta') this.#turn = { kind: 'running' }
  }

  /** An answer in JSON is sent when it has been checked; so is one that the agent did not write itself. */
  #ended(end: TurnEnd): readonly ResponseEvent[] {
    const closed = this.#items.close()
    const text = end.report?.text ?? ''
    const hasText = this.#items.output.some(({ type }) => type === 'message')
    if (end.type !== 'interaction.turn.completed' || text === '' || (hasText && !this.#isJson)) return closed
    return [...closed, ...this.#items.whole(`${this.#turnId}.report`, text)]
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
  if (entry.seq <= record.after) return state
  for await (const event of sessions.events(sessionId, { after: record.after, until: 'turn', live: false })) {
    state.read(event)
    if ('seq' in event && event.seq >= entry.seq) break
  }
  return state
}

export async function untilEnded(sessions: SessionService, response: StoredResponse): Promise<void> {
  const state = new ResponseState(response)
  for await (const event of sessions.events(response.sessionId, { after: response.record.after, until: 'closed', live: false })) {
    state.read(event)
    if (state.turn.kind === 'ended') return
  }
}
