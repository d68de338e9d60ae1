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
import { isAllowedAfterRelease, Released } from './released.ts'
import type { OpenTurn, SessionState } from './state.ts'

/** The only writer of a tree: numbers and dates events, and makes them durable in their order. */
export interface EventWriter {
  readonly nextSeq: number
  readonly now: number
  /** When a moment of the monotonic clock was. */
  at(moment: number): number
  push(event: InteractionEvent): void
  live(event: LiveEvent): void
  flush(): MaybePromise<void>
}

/** What a session is driven with. */
export interface SessionParts {
  readonly recipe: Recipe
  readonly clock: Clock
  readonly writer: EventWriter
  readonly state: SessionState
}

/** Of a session that has said more than this, nothing is kept. */
const maxKeptHistoryChars = 10_000

/**
 * A session that is being driven: its state and its event writer.
 *
 * 1. The state changes by `record` alone, and only by what the reducer accepts.
 * 2. `interrupt` belongs to the open turn; a new turn gets a new one.
 * 3. A released session records nothing but results of calls that were running: whatever else would be recorded throws `Released`.
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

  /** The open turn; asking for it where there is none is a mistake of ours. */
  get turn(): OpenTurn {
    const { turn } = this.#state
    if (turn.kind !== 'open') throw new TroupeError('internal', `Session ${this.#state.sessionId} has no open turn.`)
    return turn
  }

  /** What the ancestors leave; whoever drives a child knows more. */
  get headroom(): Headroom {
    return unlimited
  }

  /** Models that are left out for now; whoever asks them knows more. */
  get exclusions(): Exclusions {
    return noExclusions
  }

  /** What to do next. */
  decide(): Action {
    return this.recipe.decide(this.#state, this.headroom, this.exclusions)
  }

  /** What the next event begins with: its number and time, who speaks, and where in the turn. `moment`: read just now. */
  nextEnvelope(moment?: number): Envelope {
    const { treeId, sessionId, agentPath, turn } = this.#state
    const seq = this.#writer.nextSeq
    const at = moment === undefined ? this.#writer.now : this.#writer.at(moment)
    if (turn.kind !== 'open') return { seq, treeId, sessionId, agentPath, at }
    const { id: turnId, step } = turn
    if (step.kind !== 'asking' && step.kind !== 'calling') return { seq, treeId, sessionId, agentPath, turnId, at }
    return { seq, treeId, sessionId, agentPath, turnId, stepId: step.id, at }
  }

  /** `event` begins with `here()`. */
  record(event: InteractionEvent): void {
    if (this.#mode === 'released' && !isAllowedAfterRelease(event)) throw new Released()
    this.#state = apply(this.#state, event)
    this.#writer.push(event)
    if (this.#state.historyChars < maxKeptHistoryChars) keepHiddenClass(event.type, event, this.#state)
    if (event.type === 'interaction.turn.started') this.#interrupt = new Interrupt()
  }

  note(draft: EventDraft): void {
    this.record(Object.assign(this.nextEnvelope(), draft) as InteractionEvent)
  }

  /** Hands what was recorded to the journal; await it before anything acts on it. */
  flush(): MaybePromise<void> {
    return this.#writer.flush()
  }

  /** Shows a piece of what will be an item. There are very many: where they belong is told in one object for all. */
  live({ stepId, itemId, attempt, kind }: LivePlace, text: string): void {
    const { treeId, sessionId, agentPath } = this.#state
    const turnId = this.turn.id
    this.#writer.live({ type: 'interaction.item.delta', treeId, sessionId, agentPath, turnId, stepId, itemId, attempt, kind, text })
  }

  /** Begins no further turn; what waits in line stays there. */
  retire(): void {
    if (this.#mode === 'open') this.#mode = 'retired'
  }

  get isRetired(): boolean {
    return this.#mode !== 'open'
  }

  /** Stops here, with everything that is open left open, as after a crash. Calls that are running are interrupted separately. */
  release(): void {
    this.#mode = 'released'
  }

  get isReleased(): boolean {
    return this.#mode === 'released'
  }

  /** Lets go of what was said, where the session itself is kept. */
  clearHistory(): void {
    this.#state = { ...this.#state, history: Sequence.empty(), inputs: [] }
  }

  /** Resolves at the next `wake`: something from outside may have changed the state. */
  nextWake(): Promise<void> {
    return new Promise((resolve) => this.#sleepers.push(resolve))
  }

  wake(): void {
    for (const sleeper of this.#sleepers.splice(0)) sleeper()
  }
}
