import type { SessionId } from '../../contracts/index.ts'
import type { ActiveSession, Lanes } from '../../steps/index.ts'
import { nothing, type Use } from './resource-use.ts'

/**
 * `resting`: the driver before left it open, and the call that it belongs to has not come for it yet.
 * `inLine`, `entering`: there is no session at work yet; others are before it, or it is being got ready.
 */
export type Stage = 'resting' | 'inLine' | 'entering' | 'working' | 'waiting' | 'over'

/** A session that is open here, or a call that is about to have one. `Branches` keeps it up to date. */
export class Branch {
  readonly sessionId: SessionId
  readonly above: Branch | undefined
  session: ActiveSession | undefined
  stage: Stage = 'resting'
  /** What is in its own account, and the sum over all below it. */
  own: Use = nothing
  below: Use = nothing
  /** Branches right below it: all, those whose call is under way, those that have a session at work. */
  size = 0
  calls = 0
  started = 0
  /** Those right below it that are in no account yet, as they have not begun; and whether it is one itself. */
  expected = 0
  isExpected = false
  /** Where its children stand in line. */
  line: Lanes | undefined
  /** How many children of each agent it has had. */
  numbers: Map<string, number> | undefined
  /** Its place in the line for a shared budget, from when it first waits there until its request begins. */
  ticket: number | undefined
  /** Ends the wait for it, whatever its session still does. */
  giveUp: (() => void) | undefined

  constructor(sessionId: SessionId, above: Branch | undefined) {
    this.sessionId = sessionId
    this.above = above
  }

  /** Children that it has started, and theirs; those in line count, too. */
  get children(): number {
    return this.own.children + this.below.children
  }

  /** It can go on by itself. */
  get isAble(): boolean {
    return this.stage === 'entering' || (this.stage === 'working' && this.started === 0)
  }

  /** Something of its own is under way, or an answer has come that it has not taken up. */
  get isBusy(): boolean {
    if (this.stage === 'waiting') return this.session?.decide().kind !== 'wait'
    return this.stage === 'working' && this.session?.callsInFlight !== this.calls
  }

  /** The how manieth child of an agent the next one is. */
  nextNumber(agent: string): number {
    this.numbers ??= new Map()
    const number = (this.numbers.get(agent) ?? 0) + 1
    this.numbers.set(agent, number)
    return number
  }
}
