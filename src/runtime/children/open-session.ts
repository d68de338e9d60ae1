import type { SessionId } from '../../contracts/index.ts'
import type { ActiveSession, Lanes } from '../../steps/index.ts'
import { noUse, type ResourceUse } from './resource-use.ts'

/**
 * `leftOpen`: the driver before left it open, and the call that it belongs to has not come for it yet.
 * `queued`, `starting`: there is no session at work yet; others are before it, or it is being got ready.
 */
export type Stage = 'leftOpen' | 'queued' | 'starting' | 'working' | 'waiting' | 'ended'

/** A session that is open here, or a call that is about to have one. `Branches` keeps it up to date. */
export class OpenSession {
  readonly sessionId: SessionId
  readonly parent: OpenSession | undefined
  session: ActiveSession | undefined
  stage: Stage = 'leftOpen'
  /** What is in its own account, and the sum over all below it. */
  own: ResourceUse = noUse
  descendants: ResourceUse = noUse
  /** Branches right below it: all, those whose call is under way, those that have a session at work. */
  openChildren = 0
  activeCalls = 0
  startedChildren = 0
  /** Those right below it that are in no account yet, as they have not begun; and whether it is one itself. */
  expectedChildren = 0
  isExpected = false
  /** Where its children stand in line. */
  lanes: Lanes | undefined
  /** How many children of each agent it has had. */
  numbers: Map<string, number> | undefined
  /** Its place in the line for a shared budget, from when it first waits there until its request begins. */
  ticket: number | undefined
  /** Ends the wait for it, whatever its session still does. */
  stopWaiting: (() => void) | undefined

  constructor(sessionId: SessionId, parent: OpenSession | undefined) {
    this.sessionId = sessionId
    this.parent = parent
  }

  /** Children that it has started, and theirs; those in line count, too. */
  get children(): number {
    return this.own.children + this.descendants.children
  }

  /** It can go on by itself. */
  get canProceed(): boolean {
    return this.stage === 'starting' || (this.stage === 'working' && this.startedChildren === 0)
  }

  /** Something of its own is under way, or an answer has come that it has not taken up. */
  get isBusy(): boolean {
    if (this.stage === 'waiting') return this.session?.decide().kind !== 'wait'
    return this.stage === 'working' && this.session?.callsInFlight !== this.activeCalls
  }

  /** The how manieth child of an agent the next one is. */
  nextNumber(agent: string): number {
    this.numbers ??= new Map()
    const number = (this.numbers.get(agent) ?? 0) + 1
    this.numbers.set(agent, number)
    return number
  }
}
