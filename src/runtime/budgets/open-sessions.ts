import { addUsd, type SessionId, subtractUsd } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ActiveSession, Lanes } from '../../steps/index.ts'
import { BudgetQueue } from './budget-queue.ts'

/**
 * The sessions of a tree that this process drives, the root included, and the calls that wait to start one.
 *
 * 1. A session that has ended has no entry.
 * 2. Every change updates the sums of the ancestors (`descendants`), so that reading them costs nothing.
 * 3. A counter of sessions that can proceed makes `isStalled` cheap while there is one.
 * 4. A spawned child has an entry while its turn is open or queued. It is no call of its parent, which works on beside it.
 */
export class OpenSessions {
  readonly root: OpenSession
  /** Shared with other trees if their owner has a budget. */
  budget: BudgetQueue
  readonly #all = new Map<SessionId, OpenSession>()
  /** How many sessions can proceed. */
  #ableCount = 0
  /** Spawned children whose turn has ended, while their parent records it and the next turn starts. */
  #gaps = 0
  /** The busy session that `isStalled` found last. */
  #busy: OpenSession | undefined

  constructor(root: ActiveSession, budget = new BudgetQueue()) {
    this.budget = budget
    this.root = this.#add(root.state.sessionId, undefined)
    this.begin(this.root, root)
  }

  /** Without the root. */
  get size(): number {
    return this.#all.size - 1
  }

  get(sessionId: SessionId): OpenSession | undefined {
    return this.#all.get(sessionId)
  }

  /** Parents before their children. */
  values(): Iterable<OpenSession> {
    return this.#all.values()
  }

  /** A call queues for a new child, which counts as a child from now on. */
  queueNewChild(sessionId: SessionId, parent: OpenSession): OpenSession {
    const open = this.queueChild(sessionId, parent)
    open.isExpected = true
    parent.expectedChildren++
    this.recount(parent)
    return open
  }

  /** A call queues for a child that exists already. */
  queueChild(sessionId: SessionId, parent: OpenSession): OpenSession {
    const open = this.#all.get(sessionId) ?? this.#add(sessionId, parent)
    this.#setStage(open, 'queued')
    return open
  }

  /** A turn of a spawned child queues. */
  queueSpawned(sessionId: SessionId, parent: OpenSession): OpenSession {
    const open = this.#all.get(sessionId) ?? this.#add(sessionId, parent)
    open.isSpawned = true
    this.#setStage(open, 'queued')
    return open
  }

  /** A session that an earlier driver left open. */
  addLeftOpen(session: ActiveSession, parent: OpenSession): OpenSession {
    const open = this.#add(session.state.sessionId, parent)
    open.session = session
    this.recount(open)
    return open
  }

  enter(open: OpenSession): void {
    this.#setStage(open, 'starting')
  }

  begin(open: OpenSession, session: ActiveSession): void {
    this.#clearExpected(open)
    open.session = session
    this.#setStage(open, 'working')
    this.recount(open)
  }

  /** Only a person can continue it. */
  wait(open: OpenSession): void {
    this.#setStage(open, 'waiting')
  }

  /** Only its spawned children can continue it. */
  rest(open: OpenSession): void {
    if (open.stage === 'working') this.#setStage(open, 'resting')
  }

  resume(open: OpenSession): void {
    if (open.stage === 'waiting' || open.stage === 'resting') this.#setStage(open, 'working')
  }

  /** A call of the session waits for spawned children, however long they take. Call the result when the wait is over. */
  addWait(open: OpenSession, wait: Wait): () => void {
    const count = (change: 1 | -1): void => {
      this.#ableCount -= Number(open.canProceed)
      open.activeCalls += change
      open.startedChildren += change
      this.#ableCount += Number(open.canProceed)
    }
    open.waits ??= new Set()
    open.waits.add(wait)
    count(1)
    return () => {
      open.waits?.delete(wait)
      count(-1)
    }
  }

  /** When the first of the waits is over although nothing has happened. */
  get wakesAt(): number | undefined {
    const times = [...this.#all.values()].flatMap(({ waits }) => [...(waits ?? [])].flatMap(({ until }) => until?.() ?? []))
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** What follows the turn of a spawned child has been done. */
  endGap(open: OpenSession): void {
    if (open.hasGap) this.#gaps--
    open.hasGap = false
  }

  /** Call it whenever a session may have spent or reserved something. */
  recount(open: OpenSession): void {
    // A request on record of a session that is not driven yet is not in flight: waiting for it would never end.
    const used = open.session ? sessionUse(open.session.state, isStarted(open.stage)) : noUse
    const own = open.expectedChildren === 0 ? used : { ...used, children: used.children + open.expectedChildren }
    if (isSameUse(own, open.own)) return
    const change = subtractUse(own, open.own)
    open.own = own
    for (let at = open.parent; at; at = at.parent) at.descendants = addUse(at.descendants, change)
    if (own.inFlight > 0) open.ticket = undefined
    if (change.inFlight < 0) this.budget.wakeReady()
  }

  /** For a session without open children. What it spent belongs to its parent from now on. */
  remove(open: OpenSession): void {
    const { parent } = open
    if (open.stage === 'ended' || !parent) return
    this.#clearExpected(open)
    if (open.isSpawned && open.stage !== 'queued' && open.stage !== 'leftOpen') {
      open.hasGap = true
      this.#gaps++
    }
    this.#setStage(open, 'ended')
    this.#all.delete(open.sessionId)
    if (this.#busy === open) this.#busy = undefined
    for (let at: OpenSession | undefined = parent; at; at = at.parent) at.descendants = subtractUse(at.descendants, open.own)
    parent.openChildren--
    // Clears the rounding errors of costs.
    if (parent.openChildren === 0) parent.descendants = noUse
    if (open.own.inFlight > 0) this.budget.wakeReady()
  }

  /** Whether every active session waits for a person. */
  get isStalled(): boolean {
    if (this.#ableCount > 0 || this.#gaps > 0 || this.#busy?.isBusy) return false
    this.#busy = undefined
    for (const open of this.#all.values()) {
      if (!open.isBusy) continue
      this.#busy = open
      return false
    }
    return true
  }

  #add(sessionId: SessionId, parent: OpenSession | undefined): OpenSession {
    const open = new OpenSession(sessionId, parent)
    this.#all.set(sessionId, open)
    if (parent) parent.openChildren++
    return open
  }

  #clearExpected(open: OpenSession): void {
    if (!open.isExpected || !open.parent) return
    open.isExpected = false
    open.parent.expectedChildren--
    this.recount(open.parent)
  }

  #setStage(open: OpenSession, stage: Stage): void {
    const { parent } = open
    if (open.stage === 'ended') return
    this.#ableCount -= Number(open.canProceed) + Number(parent?.canProceed ?? false)
    if (parent && !open.isSpawned) {
      parent.activeCalls += Number(isCalled(stage)) - Number(isCalled(open.stage))
      parent.startedChildren += Number(isStarted(stage)) - Number(isStarted(open.stage))
    }
    open.stage = stage
    this.#ableCount += Number(open.canProceed) + Number(parent?.canProceed ?? false)
  }
}

const isCalled = (stage: Stage): boolean => stage !== 'leftOpen' && stage !== 'ended'
const isStarted = (stage: Stage): boolean => stage === 'working' || stage === 'waiting' || stage === 'resting'

/**
 * `leftOpen`: an earlier driver left it open, and its call has not asked for it yet.
 * `queued`, `starting`: its session does not run yet; it waits for a lane, or is being prepared.
 * `waiting`: for a person. `resting`: for its spawned children.
 */
type Stage = 'leftOpen' | 'queued' | 'starting' | 'working' | 'waiting' | 'resting' | 'ended'

/** A wait for spawned children. `until`: when it is over although nothing has happened. */
export interface Wait {
  isDone(): boolean
  until?(): number | undefined
}

/** A session that is open in this process, or a call that is about to start one. Only `OpenSessions` changes it. */
export class OpenSession {
  readonly sessionId: SessionId
  readonly parent: OpenSession | undefined
  session: ActiveSession | undefined
  stage: Stage = 'leftOpen'
  /** Its own spending, and the sum over all its open descendants. */
  own: ResourceUse = noUse
  descendants: ResourceUse = noUse
  /** It outlives the call that started it. */
  isSpawned = false
  hasGap = false
  /** Calls that wait for spawned children. */
  waits: Set<Wait> | undefined
  /** Direct children: all open ones; of those that are not spawned, the ones whose call and whose session is running. */
  openChildren = 0
  activeCalls = 0
  startedChildren = 0
  /** Direct children that are queued and not yet in `own.children`; and whether it is one itself. */
  expectedChildren = 0
  isExpected = false
  /** Limits how many of its children run at the same time. */
  lanes: Lanes | undefined
  /** How many children of each agent it has started. */
  numbers: Map<string, number> | undefined
  /** Its position in the budget queue, from its first wait until its request starts. */
  ticket: number | undefined
  /** Ends the wait for its session. */
  stopWaiting: (() => void) | undefined

  constructor(sessionId: SessionId, parent: OpenSession | undefined) {
    this.sessionId = sessionId
    this.parent = parent
  }

  /** All its descendants that were started or are queued. */
  get children(): number {
    return this.own.children + this.descendants.children
  }

  get canProceed(): boolean {
    return this.stage === 'starting' || (this.stage === 'working' && this.startedChildren === 0)
  }

  /** Something of its own is running, or an answer has arrived that it has not processed. */
  get isBusy(): boolean {
    if (this.stage === 'waiting') return this.session?.decide().kind !== 'wait'
    if (this.stage === 'resting') return this.session?.decide().kind !== 'rest'
    return this.stage === 'working' && (this.session?.callsInFlight !== this.activeCalls || this.#hasEndedWait)
  }

  get #hasEndedWait(): boolean {
    if (this.waits) for (const { isDone } of this.waits) if (isDone()) return true
    return false
  }

  /** The number of the next child of an agent: `#2` is its second. */
  nextNumber(agent: string): number {
    this.numbers ??= new Map()
    const number = (this.numbers.get(agent) ?? 0) + 1
    this.numbers.set(agent, number)
    return number
  }
}

/** What was spent or is reserved. It counts against all ancestors. */
export interface ResourceUse {
  readonly tokens: number
  readonly costUsd: number
  /** Descendants that were started. */
  readonly children: number
  /** Sessions with a request in flight, and other sessions with an open turn. */
  readonly inFlight: number
  readonly openTurns: number
}

export const noUse: ResourceUse = { tokens: 0, costUsd: 0, children: 0, inFlight: 0, openTurns: 0 }

export const addUse = (a: ResourceUse, b: ResourceUse): ResourceUse => ({
  tokens: a.tokens + b.tokens,
  costUsd: addUsd(a.costUsd, b.costUsd),
  children: a.children + b.children,
  inFlight: a.inFlight + b.inFlight,
  openTurns: a.openTurns + b.openTurns,
})

/** Not a sum with a factor of -1: that makes -0 of 0, which the engine stores as a heap object. */
export const subtractUse = (a: ResourceUse, b: ResourceUse): ResourceUse => ({
  tokens: a.tokens - b.tokens,
  costUsd: subtractUsd(a.costUsd, b.costUsd),
  children: a.children - b.children,
  inFlight: a.inFlight - b.inFlight,
  openTurns: a.openTurns - b.openTurns,
})

export const isSameUse = (a: ResourceUse, b: ResourceUse): boolean =>
  a.tokens === b.tokens && a.costUsd === b.costUsd && a.children === b.children && a.inFlight === b.inFlight && a.openTurns === b.openTurns

/** Includes ended children, not open ones. `isDriven`: whether a recorded request is in flight, or was lost with a driver. */
function sessionUse({ turn }: SessionState, isDriven: boolean): ResourceUse {
  if (turn.kind === 'none') return noUse
  const { paidUsd, children } = turn
  const { usage } = turn.kind === 'open' ? turn.spent : turn.totals
  const tokens = usage.input + usage.output
  if (turn.kind === 'ended') return { tokens, costUsd: paidUsd, children, inFlight: 0, openTurns: 0 }
  if (turn.step.kind !== 'asking') return { tokens, costUsd: paidUsd, children, inFlight: 0, openTurns: 1 }
  const { input, output, costUsd = 0 } = turn.step.reservation
  const inFlight = isDriven ? 1 : 0
  return { tokens: tokens + input + output, costUsd: addUsd(paidUsd, costUsd), children, inFlight, openTurns: 1 - inFlight }
}
