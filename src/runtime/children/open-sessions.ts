import type { SessionId } from '../../contracts/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { BudgetQueue } from './budget-queue.ts'
import { OpenSession, type Stage } from './open-session.ts'
import { addUse, isSameUse, noUse, sessionUse, subtractUse } from './resource-use.ts'

/**
 * The sessions of a tree that are open here, and the calls that wait to have one. The root is among them.
 *
 * 1. Whoever has ended has no branch.
 * 2. `below` is kept by whoever changes: asking for it looks at nobody, and no change looks at anybody but those above.
 * 3. While somebody can go on by itself the tree is not stalled, and nobody is looked at to find that out.
 */
export class OpenSessions {
  readonly root: OpenSession
  readonly budget = new BudgetQueue()
  readonly #all = new Map<SessionId, OpenSession>()
  /** How many can go on by themselves. */
  #ableCount = 0
  /** Who was found at work last, when nobody seemed to be. */
  #busy: OpenSession | undefined

  constructor(root: ActiveSession) {
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

  /** A call stands in line for a new child: that one counts from now on. */
  queueNewChild(sessionId: SessionId, parent: OpenSession): OpenSession {
    const open = this.queueChild(sessionId, parent)
    open.isExpected = true
    parent.expectedChildren++
    this.recount(parent)
    return open
  }

  /** A call stands in line for a child that was begun before. */
  queueChild(sessionId: SessionId, parent: OpenSession): OpenSession {
    const open = this.#all.get(sessionId) ?? this.#add(sessionId, parent)
    this.#setStage(open, 'queued')
    return open
  }

  /** A session that the driver before left open. */
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

  /** Only a person can go on with it. */
  wait(open: OpenSession): void {
    this.#setStage(open, 'waiting')
  }

  resume(open: OpenSession): void {
    if (open.stage === 'waiting') this.#setStage(open, 'working')
  }

  /** To be called whenever a session may have taken something. */
  recount(open: OpenSession): void {
    // Nobody waits for a request of a session that is not driven yet: it would never end.
    const used = open.session ? sessionUse(open.session.state, isStarted(open.stage)) : noUse
    const own = open.expectedChildren === 0 ? used : { ...used, children: used.children + open.expectedChildren }
    if (isSameUse(own, open.own)) return
    const change = subtractUse(own, open.own)
    open.own = own
    for (let at = open.parent; at; at = at.parent) at.descendants = addUse(at.descendants, change)
    if (own.inFlight > 0) open.ticket = undefined
    if (change.inFlight < 0) this.budget.wakeReady()
  }

  /** What it took is in the account of its parent from now on. Nobody is below it any more. */
  remove(open: OpenSession): void {
    const { parent } = open
    if (open.stage === 'ended' || !parent) return
    this.#clearExpected(open)
    this.#setStage(open, 'ended')
    this.#all.delete(open.sessionId)
    if (this.#busy === open) this.#busy = undefined
    for (let at: OpenSession | undefined = parent; at; at = at.parent) at.descendants = subtractUse(at.descendants, open.own)
    parent.openChildren--
    // Money is no whole number: what rounding leaves behind ends here.
    if (parent.openChildren === 0) parent.descendants = noUse
    if (open.own.inFlight > 0) this.budget.wakeReady()
  }

  /** Whether everything that is at work waits for a person. */
  get isStalled(): boolean {
    if (this.#ableCount > 0 || this.#busy?.isBusy) return false
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
    if (parent) {
      parent.activeCalls += Number(isCalled(stage)) - Number(isCalled(open.stage))
      parent.startedChildren += Number(isStarted(stage)) - Number(isStarted(open.stage))
    }
    open.stage = stage
    this.#ableCount += Number(open.canProceed) + Number(parent?.canProceed ?? false)
  }
}

const isCalled = (stage: Stage): boolean => stage !== 'leftOpen' && stage !== 'ended'
const isStarted = (stage: Stage): boolean => stage === 'working' || stage === 'waiting'
