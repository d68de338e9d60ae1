import {
  type AgentCard,
  type AgentSpec,
  type ApprovalId,
  type ApprovalKey,
  type ApprovalPolicy,
  type Approver,
  type BlobId,
  type Blobs,
  type ChildControl,
  type ChildResult,
  type ChildTask,
  type ClientId,
  type Clock,
  type Diagnostic,
  type HandoffReason,
  type Hook,
  type InputMode,
  type InputPart,
  type ItemId,
  type MaybePromise,
  type Model,
  type ModelAbility,
  type Principal,
  type ProjectGrants,
  type QueueEvent,
  type Random,
  type RecordedOffer,
  type RemainingBudget,
  type Sandbox,
  type SchemaValidator,
  type SessionPlace,
  storedOutputFlag,
  type Tool,
  TroupeError,
  type WaitRequest,
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
  type StartedCall,
  tightestAccount,
  timeReserve,
  unlimited,
  workedMs,
} from '../../core/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { isSameList } from '../../util/is-same-list.ts'
import type { Redactor } from '../../util/redact.ts'
import type { ModelHealth } from '../model-health.ts'
import type { QueueSlots, WaitTarget } from '../queues/queue-slot.ts'
import type { Queues } from '../queues/queues.ts'
import type { Offer, ToolRegistry } from '../tools/tool-registry.ts'

export interface TreePort {
  headroom(session: ActiveSession): Headroom
  /** Where a session waits for a shared budget. */
  budgetQueue(session: ActiveSession): WaitTarget
  agentsOf(session: ActiveSession): readonly AgentCard[]
  /** The message from outside that a session works on: the last one that it, or else its parent, has read. */
  messageOf(session: ActiveSession): ClientId | undefined
  /** Grants for all sessions of the tree. */
  grants(): readonly ApprovalKey[]
  grant(session: ActiveSession, keys: readonly ApprovalKey[], by: string): void
  /** Reads what has come for the tree, such as an answer of somebody else. */
  readInbox(): Promise<void>
  /** A denial ended the whole run. */
  abort(session: ActiveSession, by: string): void
  startChild(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult>
  callEnded(): void
  /** Brings agent and tools of a session up to date before a turn begins. */
  prepareTurn(session: ActiveSession): MaybePromise<void>
  /** Offers the tools that came with results of the client. Returns whether anything has changed. */
  adoptTools(session: ActiveSession): boolean
  /** Waits for a spawned child or another change, while the turn has an answer. */
  rest(session: ActiveSession): Promise<void>
  readonly spawned: SpawnPort
  /** Records what is offered, unless the journal has it. Returns its hash. */
  recordOffer(offer: Offer): string
  /** Whether the owner has a budget, which binds every session of the tree. */
  readonly hasOwnerBudget: boolean
  /** Who opened the root. */
  readonly principal: Principal | undefined
}

/** Spawned children, by the session that spawned them. */
export interface SpawnPort {
  spawn(parent: ActiveSession, call: SpawningCall, task: ChildTask): ReturnType<ChildControl['spawn']>
  takeBack(parent: ActiveSession, id: string, reason: HandoffReason): ReturnType<ChildControl['takeBack']>
  send(parent: ActiveSession, call: StartedCall, message: SpawnMessage): ReturnType<ChildControl['send']>
  wait(parent: ActiveSession, call: WaitingCall, request: WaitRequest): ReturnType<ChildControl['wait']>
  close(parent: ActiveSession, id: string): ReturnType<ChildControl['close']>
  list(parent: ActiveSession): ReturnType<ChildControl['list']>
  /** At the end of the turn. */
  closeAll(parent: ActiveSession): Promise<void>
}

/** `number`: among the children that the call starts. */
export interface SpawningCall {
  readonly itemId: ItemId
  readonly number: number
  /** The child talks to the person. */
  readonly handsOver: boolean
}

export interface SpawnMessage {
  readonly id: string
  readonly input: readonly InputPart[]
  readonly mode: InputMode
}

export interface WaitingCall {
  readonly itemId: ItemId
  readonly interrupt: Interrupt
  readonly slots: QueueSlots | undefined
}

export interface ChildStart {
  readonly task: ChildTask
  /** An agent that is not in the configuration. A call can start several such children, each a new one. */
  readonly inline?: AgentSpec | undefined
  /** Its number among the children that the call starts. */
  readonly number?: number
  /** Called once it is accepted, or found again: its number is taken. */
  readonly accepted?: () => void
  /** The call only returns the result: its end need not be durable before. */
  readonly isAgentCall?: boolean
  /** The interrupt of the call that starts it. */
  readonly interrupt: Interrupt
  readonly slots: QueueSlots | undefined
}

export interface StepPorts {
  readonly tree: TreePort
  readonly models: ReadonlyMap<string, Model>
  readonly modelHealth: ModelHealth
  readonly registry: ToolRegistry
  readonly validator: SchemaValidator
  readonly approver: Approver
  /** One policy for each source of rules. */
  readonly rules: readonly ApprovalPolicy[]
  readonly grants: ProjectGrants | undefined
  readonly sandbox: Sandbox
  readonly hooks: readonly Hook[]
  readonly blobs: Blobs
  readonly random: Random
  readonly redactor: Redactor
  readonly overlay: { readonly [name: string]: string }
  readonly flags: readonly string[]
  /** Names of the skills that exist now. */
  readonly skills: readonly string[]
  /** Absent if there are no queues. */
  readonly queues: Queues | undefined
}

/** Base64 of images and files, by blob. */
export type LoadedParts = ReadonlyMap<BlobId, string>

const nothingWithheld: ReadonlySet<string> = new Set()

/** Milliseconds of work. */
interface TimeLeft {
  readonly ms: number
  /** Without the reserve for the last step. */
  readonly usable: number
}

/** A session with the ports that its steps need. */
export class ActiveSession extends Session {
  /** Replaced before a turn begins, if tools have changed. */
  ports: StepPorts
  /** Calls that run and are not yet recorded. Synchronous calls are not counted. */
  callsInFlight = 0
  /** Queue slots of the call that started this session: taken while the session works, given back while it waits. */
  slots: QueueSlots | undefined
  hasAncestorLimits = true
  /** By call that waited for spawned children: the notices that its result contains. */
  deliveries: Map<ItemId, readonly ClientId[]> | undefined
  /** Reported that the grants of the project cannot be read. */
  hasReportedGrants = false
  /** Tools that it may no longer use, such as those of an agent that is no longer trusted. Set by each driver. */
  withheld: ReadonlySet<string> = nothingWithheld
  #usable: { readonly all: readonly string[]; readonly withheld: ReadonlySet<string>; readonly left: readonly string[] } | undefined
  readonly #writer: EventWriter
  #verdicts: Map<ApprovalId, 'asked' | 'wait' | 'suspend'> | undefined
  /** Keys of the attempts whose wait is over, and whose hooks were asked. */
  pausedAttempt: string | undefined
  hookedAttempt: string | undefined
  /** What the last request was recorded with. Most steps have the same objects. */
  #offered: { readonly offer: Offer; readonly abilities: readonly ModelAbility[]; readonly capsOutput: boolean } | undefined
  /** Bytes of images and files in the last request. */
  loadedParts: LoadedParts | undefined

  constructor(parts: SessionParts, ports: StepPorts) {
    super(parts)
    this.ports = ports
    this.#writer = parts.writer
  }

  get place(): SessionPlace {
    const { treeId, sessionId, agentPath } = this.state
    return { treeId, sessionId, agentPath, principal: this.ports.tree.principal }
  }

  showQueue(event: QueueEvent): void {
    this.#writer.live(event)
  }

  /** Answers of the approver that are no decision. Not part of the state: a new driver asks again. */
  get verdicts(): Map<ApprovalId, 'asked' | 'wait' | 'suspend'> {
    this.#verdicts ??= new Map()
    return this.#verdicts
  }

  attemptKey({ attempt }: AskAction): string {
    return `${this.turn.id}.${this.turn.steps}.${attempt}`
  }

  /** Notes a diagnostic once in a turn. */
  reportOnce(diagnostic: Diagnostic): void {
    const { code, message } = diagnostic
    if (this.turn.diagnostics.toArray().some((told) => told.code === code && told.message === message)) return
    this.note({ type: 'interaction.diagnostic', diagnostic })
  }

  override get headroom(): Headroom {
    const { parent, turn } = this.state
    const isShared = (this.hasAncestorLimits && parent !== undefined) || (turn.kind === 'open' && turn.spawned.length > 0)
    return isShared || this.ports.tree.hasOwnerBudget ? this.ports.tree.headroom(this) : unlimited
  }

  override get exclusions(): Exclusions {
    const { modelHealth, models } = this.ports
    return modelHealth.isEmpty ? noExclusions : modelHealth.exclusions(this.state.agent.models, models, this.now)
  }

  /** Time left in the turn, at `at` or now. `undefined` without a limit; then the clock is not read. */
  timeLeft(at?: number): TimeLeft | undefined {
    const { state, turn, headroom } = this
    const { timeBudget } = state.agent.limits
    const ancestors = tightestAccount(headroom, 'time')
    if (timeBudget === undefined && !ancestors) return undefined
    const now = at ?? this.now
    const own = timeBudget === undefined ? Number.POSITIVE_INFINITY : timeBudget - workedMs(turn, now)
    const ms = ancestors ? Math.min(own, ancestors.left) : own
    return { ms, usable: Math.max(0, ms - timeReserve(turn, ms, now)) }
  }

  /** What the limits of the session and its ancestors leave, for tools. */
  remainingBudget(timeLeft: number | undefined): RemainingBudget {
    const { state, turn, headroom } = this
    const { limits } = state.agent
    const accounts = allAccounts(state, turn, { headroom, now: state.at })
    const tokens = tightestAccount(accounts, 'tokens')?.left
    const costUsd = tightestAccount(accounts, 'cost')?.left
    const left: { -readonly [Key in keyof RemainingBudget]: RemainingBudget[Key] } = {
      steps: Math.max(0, limits.maxToolTurns - turn.steps),
    }
    if (tokens !== undefined) left.tokens = Math.max(0, tokens)
    if (costUsd !== undefined) left.costUsd = Math.max(0, costUsd)
    if (limits.maxCalls !== undefined) left.calls = Math.max(0, limits.maxCalls - turn.calls)
    if (timeLeft !== undefined) left.timeMs = Math.max(0, timeLeft)
    return left
  }

  model(name: string): Model {
    const model = this.ports.models.get(name)
    if (!model) throw new TroupeError('model_unknown', `The session has no model "${name}".`)
    return model
  }

  /** The model that made the calls, or the first model if the session has other models now. */
  modelOfStep(name: string): Model {
    return this.ports.models.get(name) ?? this.model(this.state.agent.models[0] ?? name)
  }

  /** By the name in the intent. Gates do not apply: the tool was offered. */
  toolOf(name: string): Tool | undefined {
    return this.withheld.has(name) ? undefined : this.ports.registry.find(name)
  }

  /** The same object for the same tools: the cache of offers uses it as a key. */
  get #tools(): readonly string[] {
    const { withheld } = this
    const all = this.state.tools
    if (withheld.size === 0) return all
    if (this.#usable?.all !== all || this.#usable.withheld !== withheld)
      this.#usable = { all, withheld, left: all.filter((name) => !withheld.has(name)) }
    return this.#usable.left
  }

  offer(model: Model): Offer {
    const { flags, registry } = this.ports
    return registry.offer(this.#tools, model, this.state.stored.output ? [...flags, storedOutputFlag] : flags)
  }

  /** What the next step records of its offer: nothing if it is that of the step before. */
  changedOffer(offer: Offer, { abilities }: Model, capsOutput: boolean): RecordedOffer | undefined {
    const last = this.#offered
    if (last && last.offer === offer && last.abilities === abilities && last.capsOutput === capsOutput) return undefined
    this.#offered = { offer, abilities, capsOutput }
    const hash = this.ports.tree.recordOffer(offer)
    const { offer: before } = this.state.stored
    const isSame = before?.hash === hash && before.capsOutput === capsOutput && isSameList(before.abilities, abilities)
    return isSame ? undefined : { hash, abilities, capsOutput }
  }
}

/** Milliseconds since a moment of the monotonic clock, to the hundredth. */
export const elapsedSince = (clock: Clock, started: number): number => elapsedBetween(started, clock.monotonic())
export const elapsedBetween = (started: number, ended: number): number => Math.round((ended - started) * 100) / 100
