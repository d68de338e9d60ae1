import type { Clock, Envelope, EventDraft, InteractionEvent, LiveEvent, MaybePromise, StepId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepShape } from '../util/keep-shape.ts'
import { apply } from './apply.ts'
import type { Ledger } from './ledger.ts'
import type { Recipe } from './recipe.ts'
import type { OpenTurn, SessionState } from './state.ts'

/** What a session is driven with. */
export interface SessionParts {
  readonly recipe: Recipe
  readonly clock: Clock
  readonly ledger: Ledger
  readonly state: SessionState
}

/**
 * A session that is being driven: its state and its pen.
 *
 * 1. The state changes by `record` alone.
 * 2. `interrupt` belongs to the open turn; a new turn gets a new one.
 */
export class Session {
  readonly recipe: Recipe
  readonly clock: Clock
  readonly #ledger: Ledger
  readonly #sleepers: (() => void)[] = []
  #state: SessionState
  #interrupt = new Interrupt()

  constructor({ recipe, clock, ledger, state }: SessionParts) {
    this.recipe = recipe
    this.clock = clock
    this.#ledger = ledger
    this.#state = state
    keepShape('session', this)
  }

  get state(): SessionState {
    return this.#state
  }

  get interrupt(): Interrupt {
    return this.#interrupt
  }

  /** The open turn; asking for it where there is none is a mistake of ours. */
  get turn(): OpenTurn {
    const { turn } = this.#state
    if (turn.kind !== 'open') throw new TroupeError('internal', `Session ${this.#state.sessionId} has no open turn.`)
    return turn
  }

  /** `event` begins with `here()`: its number and its time are filled in. */
  record(event: InteractionEvent): void {
    this.#ledger.record(event)
    this.#state = apply(this.#state, event)
    keepShape(event.type, this.#state)
    if (event.type === 'interaction.turn.started') this.#interrupt = new Interrupt()
  }

  /** What an event begins with: who speaks, and where in the turn. */
  here(stepId?: StepId): Envelope {
    const { treeId, sessionId, agentPath, turn } = this.#state
    if (turn.kind !== 'open') return { seq: 0, treeId, sessionId, agentPath, at: 0 }
    if (stepId === undefined) return { seq: 0, treeId, sessionId, agentPath, turnId: turn.id, at: 0 }
    return { seq: 0, treeId, sessionId, agentPath, turnId: turn.id, stepId, at: 0 }
  }

  note(draft: EventDraft, stepId?: StepId): void {
    this.record({ ...this.here(stepId), ...draft } as InteractionEvent)
  }

  /** Hands what was recorded to the journal; await it before anything acts on it. */
  flush(): MaybePromise<void> {
    return this.#ledger.flush()
  }

  live({ stepId, itemId, attempt, kind, text }: Pick<LiveEvent, 'stepId' | 'itemId' | 'attempt' | 'kind' | 'text'>): void {
    const { treeId, sessionId, agentPath } = this.#state
    const turnId = this.turn.id
    this.#ledger.live({ type: 'interaction.item.delta', treeId, sessionId, agentPath, turnId, stepId, itemId, attempt, kind, text })
  }

  /** Resolves at the next `wake`: something from outside may have changed the state. */
  woken(): Promise<void> {
    return new Promise((resolve) => this.#sleepers.push(resolve))
  }

  wake(): void {
    for (const sleeper of this.#sleepers.splice(0)) sleeper()
  }

  summarise(status: Parameters<Ledger['summarise']>[0]['status']): void {
    this.#ledger.summarise({ agent: this.#state.agent.name, title: titleOf(this.#state), status })
  }
}

function titleOf(state: SessionState): string {
  const [first] = state.history.toArray()
  const text = first?.role === 'user' ? first.parts.find((part) => part.type === 'text')?.text : undefined
  return (text ?? '').trim().split('\n', 1)[0]?.slice(0, 80) ?? ''
}
