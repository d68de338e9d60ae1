import {
  type AgentCard,
  type ApprovalId,
  type ApprovalKey,
  type ApprovalPolicy,
  type Approver,
  type Blobs,
  type ChildResult,
  type ChildTask,
  type Clock,
  type Hook,
  type ItemId,
  type Model,
  type ProjectGrants,
  type QueueEvent,
  type Random,
  type Sandbox,
  type SchemaValidator,
  storedOutputFlag,
  type Tool,
  TroupeError,
} from '../../contracts/index.ts'
import {
  type AskAction,
  allAccounts,
  type EventWriter,
  type Exclusions,
  type Headroom,
  noExclusions,
  Session,
  type SessionParts,
  tightestAccount,
  timeReserve,
  unlimited,
} from '../../core/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { Redactor } from '../../util/redact.ts'
import type { Offer, ToolRegistry } from '../calls/tool-registry.ts'
import type { ModelHealth } from '../model/model-health.ts'
import type { QueueSlots, WaitTarget } from '../queues/queue-slot.ts'
import type { Queues } from '../queues/queues.ts'

/** What a session asks of the tree that it is part of. */
export interface TreePort {
  /** What the ancestors of a session leave to it. */
  headroom(session: ActiveSession): Headroom
  /** Where a session waits for what requests of others hold of a shared budget. */
  budgetQueue(session: ActiveSession): WaitTarget
  /** Who a session may call. */
  agentsOf(session: ActiveSession): readonly AgentCard[]
  /** What was approved in any session of the tree for all of them. */
  grants(): readonly ApprovalKey[]
  grant(session: ActiveSession, keys: readonly ApprovalKey[], by: string): void
  /** Whoever was asked has ended the run, whichever session of it had asked. */
  abort(session: ActiveSession, by: string): void
  startChild(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult>
  /** A call of some session is no longer in flight. */
  callEnded(): void
}

export interface ChildStart {
  readonly task: ChildTask
  /** Of the call that starts it. */
  readonly interrupt: Interrupt
  readonly slots: QueueSlots | undefined
}

/** What steps reach the world through. */
export interface StepPorts {
  readonly tree: TreePort
  readonly models: ReadonlyMap<string, Model>
  readonly modelHealth: ModelHealth
  readonly registry: ToolRegistry
  readonly validator: SchemaValidator
  readonly approver: Approver
  /** From each place that has any. */
  readonly rules: readonly ApprovalPolicy[]
  readonly grants: ProjectGrants | undefined
  readonly sandbox: Sandbox
  readonly hooks: readonly Hook[]
  readonly blobs: Blobs
  readonly random: Random
  readonly redactor: Redactor
  readonly overlay: { readonly [name: string]: string }
  readonly flags: readonly string[]
  /** Names of the skills that there are now; one that was taken away is none any more. */
  readonly skills: readonly string[]
  /** Absent where nothing is capped. */
  readonly queues: Queues | undefined
}

const nothingWithheld: ReadonlySet<string> = new Set()

/** Milliseconds of work. */
export interface TimeLeft {
  readonly ms: number
  /** What a step may take of it that is not the last. */
  readonly usable: number
}

/** A session with everything that its steps need to be performed. */
export class ActiveSession extends Session {
  readonly ports: StepPorts
  /** Calls that need not wait for another one, up to their record; those that answer at once are never among them. */
  callsInFlight = 0
  /** The slots of the call that started this session. It is in while the session itself works, out while it only waits. */
  slots: QueueSlots | undefined
  /** Somebody above it has limits that hold for it, too. A root has nobody above it; most parents set none. */
  hasAncestorLimits = true
  /** It was told that what was approved for the project cannot be read. */
  hasReportedGrants = false
  /** Tools that it began with and may not use now, such as those of an agent that is trusted no more. Each driver says it anew. */
  withheld: ReadonlySet<string> = nothingWithheld
  #usable: { readonly all: readonly string[]; readonly withheld: ReadonlySet<string>; readonly left: readonly string[] } | undefined
  readonly #writer: EventWriter
  #verdicts: Map<ApprovalId, 'asked' | 'wait' | 'suspend'> | undefined
  #paused: string | undefined
  #hooked: string | undefined

  constructor(parts: SessionParts, ports: StepPorts) {
    super(parts)
    this.ports = ports
    this.#writer = parts.writer
  }

  /** Shows that it, or a call of it, stands in line, or does so no longer. */
  showQueue(event: QueueEvent): void {
    this.#writer.live(event)
  }

  /** What the approver said to a request that it did not decide. Not part of the state: a new driver asks anew. */
  get verdicts(): Map<ApprovalId, 'asked' | 'wait' | 'suspend'> {
    this.#verdicts ??= new Map()
    return this.#verdicts
  }

  /** Whether the wait before this attempt has been sat out; told by the monotonic clock, whatever the wall clock says. */
  hasPaused({ attempt }: AskAction): boolean {
    return this.#paused === this.#attemptKey(attempt)
  }

  rememberPause({ attempt }: AskAction): void {
    this.#paused = this.#attemptKey(attempt)
  }

  /** Whether hooks have seen the request of this step. */
  hasAskedHooks({ attempt }: AskAction): boolean {
    return this.#hooked === this.#attemptKey(attempt)
  }

  rememberHooks({ attempt }: AskAction): void {
    this.#hooked = this.#attemptKey(attempt)
  }

  #attemptKey(attempt: number): string {
    return `${this.turn.id}.${this.turn.steps}.${attempt}`
  }

  override get headroom(): Headroom {
    return this.hasAncestorLimits && this.state.parent ? this.ports.tree.headroom(this) : unlimited
  }

  override get exclusions(): Exclusions {
    const { modelHealth, models } = this.ports
    return modelHealth.isEmpty ? noExclusions : modelHealth.exclusions(this.state.agent.models, models, this.now)
  }

  /** The time that the turn still has, at `at` or now; nothing where it has no limit. The clock is read only where it has one. */
  timeLeft(at?: number): TimeLeft | undefined {
    const { headroom } = this
    if (this.state.agent.limits.timeBudget === undefined && !tightestAccount(headroom, 'time')) return undefined
    const now = at ?? this.now
    const ms = tightestAccount(allAccounts(this.state, this.turn, { headroom, now }), 'time')?.left ?? 0
    return { ms, usable: Math.max(0, ms - timeReserve(this.turn, ms, now)) }
  }

  model(name: string): Model {
    const model = this.ports.models.get(name)
    if (!model) throw new TroupeError('model_unknown', `The session has no model "${name}".`)
    return model
  }

  /** The model that asked for calls; where the session has other models since, the first of these. */
  modelOfStep(name: string): Model {
    return this.ports.models.get(name) ?? this.model(this.state.agent.models[0] ?? name)
  }

  /** A tool by the name that its intent has; gates aside, as it was offered when it was called. */
  toolOf(name: string): Tool | undefined {
    return this.withheld.has(name) ? undefined : this.ports.registry.find(name)
  }

  /** The same object for the same tools: offers are found by it. */
  get #tools(): readonly string[] {
    const { withheld } = this
    const all = this.state.tools
    if (withheld.size === 0) return all
    if (this.#usable?.all !== all || this.#usable.withheld !== withheld)
      this.#usable = { all, withheld, left: all.filter((name) => !withheld.has(name)) }
    return this.#usable.left
  }

  /** The tools that the next step offers to a model. */
  offer(model: Model): Offer {
    const { flags, registry } = this.ports
    return registry.offer(this.#tools, model, this.state.hasStoredOutput ? [...flags, storedOutputFlag] : flags)
  }
}

/** Milliseconds since a moment of the monotonic clock, to the hundredth. */
export const elapsedSince = (clock: Clock, started: number): number => elapsedBetween(started, clock.monotonic())
export const elapsedBetween = (started: number, ended: number): number => Math.round((ended - started) * 100) / 100
