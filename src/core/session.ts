import {
  type Clock,
  type Envelope,
  type EventDraft,
  type InteractionEvent,
  type LiveEvent,
  type LivePlace,
  type MaybePromise,
  TroupeError,
} from '../contracts/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepHiddenClass } from '../util/keep-hidden-class.ts'
import { Sequence } from '../util/sequence.ts'
import { apply } from './apply.ts'
import { type Headroom, unlimited } from './budget/accounts.ts'
import type { Action } from './decide.ts'
import { type Exclusions, noExclusions } from './next-model.ts'
import type { Recipe } from './recipe.ts'
import type { OpenTurn, SessionState } from './state/state.ts'

/** The only writer of a tree's events: it numbers and dates them, and makes them durable in order. */
export interface EventWriter {
  readonly nextSeq: number
  readonly now: number
  /** Converts a moment of the monotonic clock to milliseconds since 1970. */
  at(moment: number): number
  /** `before`: the state of the session before the event. */
  push(event: InteractionEvent, before: SessionState): void
  live(event: LiveEvent): void
  flush(): MaybePromise<void>
  handedOver(): MaybePromise<void>
}

export interface SessionParts {
  readonly recipe: Recipe
  readonly clock: Clock
  readonly writer: EventWriter
  readonly state: SessionState
}

/** States with a longer history are not kept. */
const maxKeptHistoryChars = 10_000

/**
 * A session that is being driven: its state and its event writer.
 *
 * 1. Only `record` changes the state, and only by events that the reducer accepts.
 * 2. `interrupt` belongs to the open turn; a new turn gets a new one.
 * 3. A released session records only the results of calls that were running; anything else throws `Released`.
 */
export class Session {
  readonly recipe: Recipe
  readonly clock: Clock
  readonly #writer: EventWriter
  readonly #sleepers: (() => void)[] = []
  #state: SessionState
  #interrupt = new Interrupt()
  #mode: 'open' | 'retired' | 'released' = 'open'

  constructor({ recipe, clock, writer, state }: SessionParts) {
    this.recipe = recipe
    this.clock = clock
    this.#writer = writer
    this.#state = state
  }

  get state(): SessionState {
    return this.#state
  }

  get interrupt(): Interrupt {
    return this.#interrupt
  }

  /** Milliseconds since 1970, on a clock that does not jump. */
  get now(): number {
    return this.#writer.now
  }

  /** @throws an internal error if no turn is open. */
  get turn(): OpenTurn {
    const { turn } = this.#state
    if (turn.kind !== 'open') throw new TroupeError('internal', `Session ${this.#state.sessionId} has no open turn.`)
    return turn
  }

  /** What the ancestors leave. Overridden for children. */
  get headroom(): Headroom {
    return unlimited
  }

  get exclusions(): Exclusions {
    return noExclusions
  }

  decide(): Action {
    return this.recipe.decide(this.#state, this.headroom, this.exclusions)
  }

  /** `moment`: of the monotonic clock, if it was read just now. */
  nextEnvelope(moment?: number): Envelope {
    const { treeId, sessionId, agentPath, turn } = this.#state
    const seq = this.#writer.nextSeq
    const at = moment === undefined ? this.#writer.now : this.#writer.at(moment)
    if (turn.kind !== 'open') return { seq, treeId, sessionId, agentPath, at }
    const { id: turnId, step } = turn
    if (step.kind !== 'asking' && step.kind !== 'calling') return { seq, treeId, sessionId, agentPath, turnId, at }
    return { seq, treeId, sessionId, agentPath, turnId, stepId: step.id, at }
  }

  /** `event` begins with `nextEnvelope()`. */
  record(event: InteractionEvent): void {
    if (this.#mode === 'released' && !isAllowedAfterRelease(event)) throw new Released()
    const before = this.#state
    this.#state = apply(before, event)
    this.#writer.push(event, before)
    if (this.#state.historyChars < maxKeptHistoryChars) keepHiddenClass(event.type, event, this.#state)
    if (event.type === 'interaction.turn.started') this.#interrupt = new Interrupt()
  }

  note(draft: EventDraft): void {
    this.record(Object.assign(this.nextEnvelope(), draft) as InteractionEvent)
  }

  /** Hands recorded events to the journal. Await it before anything acts on them. */
  flush(): MaybePromise<void> {
    return this.#writer.flush()
  }

  /** Resolves when everything is durable that was handed to the journal before, such as the intent of the call that started a child. */
  handedOver(): MaybePromise<void> {
    return this.#writer.handedOver()
  }

  /** Publishes a piece of an item. There are very many pieces: they share one `LivePlace`. */
  live(place: LivePlace, text: string): void {
    const { stepId, itemId, attempt, kind, offset } = place
    const { treeId, sessionId, agentPath } = this.#state
    const turnId = this.turn.id
    place.offset = offset + text.length
    this.#writer.live({ type: 'interaction.item.delta', treeId, sessionId, agentPath, turnId, stepId, itemId, attempt, kind, text, offset })
  }

  /** Begins no further turn. Accepted inputs stay. */
  retire(): void {
    if (this.#mode === 'open') this.#mode = 'retired'
  }

  get isRetired(): boolean {
    return this.#mode !== 'open'
  }

  /** Stops here and leaves everything open, as after a crash. Running calls are interrupted separately. */
  release(): void {
    this.#mode = 'released'
  }

  get isReleased(): boolean {
    return this.#mode === 'released'
  }

  /** Frees the memory of the history. */
  clearHistory(): void {
    this.#state = { ...this.#state, history: Sequence.empty(), inputs: [] }
  }

  /** Resolves at the next `wake`: an outside event may have changed the state. */
  nextWake(): Promise<void> {
    return new Promise((resolve) => this.#sleepers.push(resolve))
  }

  wake(): void {
    for (const sleeper of this.#sleepers.splice(0)) sleeper()
  }
}

/** Thrown when a released session would continue. Its driver stops. */
export class Released extends Error {
  override readonly name = 'Released'

  constructor() {
    super('The session was released by its driver.')
  }
}

/** Results of running calls, the cost of a request in flight, and diagnostics are still recorded after a release. */
function isAllowedAfterRelease(event: InteractionEvent): boolean {
  switch (event.type) {
    case 'interaction.diagnostic':
      return event.inbox === undefined
    case 'interaction.step.failed':
      return event.failure.class === 'lost'
    case 'interaction.item.completed':
      if (event.item.kind === 'text') return event.item.status === 'interrupted'
      return event.item.kind === 'call' && event.item.status === 'completed'
    default:
      return false
  }
}
