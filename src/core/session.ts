import type {
  ApprovalId,
  Approver,
  Blobs,
  Clock,
  Envelope,
  EventDraft,
  Hook,
  Inbox,
  InteractionEvent,
  LiveEvent,
  MaybePromise,
  Model,
  Random,
  Sandbox,
  SchemaValidator,
  StepId,
  Tool,
} from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepShape } from '../util/keep-shape.ts'
import type { Redactor } from '../util/redact.ts'
import { apply } from './apply.ts'
import type { Ledger } from './ledger.ts'
import type { Recipe } from './recipe.ts'
import type { OpenTurn, SessionState } from './state.ts'
import type { Offer, ToolRegistry } from './tool-registry.ts'

/** Everything a session reaches the world through. */
export interface SessionPorts {
  readonly recipe: Recipe
  readonly models: ReadonlyMap<string, Model>
  readonly registry: ToolRegistry
  readonly validator: SchemaValidator
  readonly approver: Approver
  readonly sandbox: Sandbox
  readonly hooks: readonly Hook[]
  readonly inbox: Inbox
  readonly blobs: Blobs
  readonly clock: Clock
  readonly random: Random
  readonly redactor: Redactor
  readonly overlay: { readonly [name: string]: string }
  readonly flags: readonly string[]
}

/**
 * A session that is being driven: its state, its pen, and its ports.
 *
 * 1. The state changes by `record` alone.
 * 2. `interrupt` belongs to the open turn; a new turn gets a new one.
 */
export class Session {
  readonly ports: SessionPorts
  readonly #ledger: Ledger
  readonly #offers = new Map<string, Offer>()
  /** What the approver said to a request that it did not decide. Not part of the state: a new driver asks anew. */
  readonly verdicts = new Map<ApprovalId, 'asked' | 'wait' | 'suspend'>()
  readonly #sleepers: (() => void)[] = []
  #state: SessionState
  #interrupt = new Interrupt()

  constructor(ports: SessionPorts, ledger: Ledger, state: SessionState) {
    this.ports = ports
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

  live(event: Pick<LiveEvent, 'stepId' | 'itemId' | 'attempt' | 'kind' | 'text'>): void {
    const { treeId, sessionId, agentPath } = this.#state
    this.#ledger.live({ type: 'interaction.item.delta', treeId, sessionId, agentPath, turnId: this.turn.id, ...event })
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

  model(name: string): Model {
    const model = this.ports.models.get(name)
    if (!model) throw new TroupeError('model_unknown', `The session has no model "${name}".`)
    return model
  }

  /** A tool by the name that its intent has; gates aside, as it was offered when it was called. */
  toolOf(name: string): Tool | undefined {
    return this.ports.registry.find(name)
  }

  /** The tools that the next step offers to a model. */
  offer(model: Model): Offer {
    const { storedOutputs, tools } = this.#state
    const key = storedOutputs > 0 ? `${model.id}+` : model.id
    const known = this.#offers.get(key)
    if (known) return known
    const flags = storedOutputs > 0 ? [...this.ports.flags, 'stored_output'] : this.ports.flags
    const offer = this.ports.registry.offer(tools, { abilities: model.abilities, flags })
    this.#offers.set(key, offer)
    return offer
  }
}

/** Milliseconds since a moment of the monotonic clock, to the hundredth. */
export const since = (clock: Clock, started: number): number => Math.round((clock.monotonic() - started) * 100) / 100

function titleOf(state: SessionState): string {
  const [first] = state.history.toArray()
  const text = first?.role === 'user' ? first.parts.find((part) => part.type === 'text')?.text : undefined
  return (text ?? '').trim().split('\n', 1)[0]?.slice(0, 80) ?? ''
}
