import type { SessionId } from '../contracts/index.ts'
import type { SessionState } from '../core/index.ts'
import type { ActiveSession, Lanes } from '../steps/index.ts'
import type { TreeState } from './tree-state.ts'

/** A call that has asked for a child: still in line, or with its session. */
export interface Branch {
  readonly parent: ActiveSession
  session: ActiveSession | undefined
  /** It is no longer in line. */
  isNext: boolean
}

export const none: ReadonlyMap<SessionId, SessionState> = new Map()
export const nobody: ReadonlySet<SessionId> = new Set()

/** Everything below the root. Most trees have nothing there, and pay for nothing. */
export class Below {
  /** Children that have ended, kept for the outcome. */
  readonly known: Map<SessionId, SessionState>
  /** Those that the driver before left open: the calls that started them will find them. */
  readonly resting = new Map<SessionId, ActiveSession>()
  /** Those whose end is in the account of their parent. */
  readonly settled: Set<SessionId>
  readonly branches = new Map<SessionId, Branch>()
  readonly lines = new Map<SessionId, Lanes>()
  readonly suspended = new Set<ActiveSession>()
  stalled = Promise.withResolvers<'stalled'>()
  readonly #numbers = new Map<SessionId, Map<string, number>>()

  constructor({ children = none, settled = nobody }: Partial<Pick<TreeState, 'children' | 'settled'>> = {}) {
    this.known = new Map(children)
    this.settled = new Set(settled)
    for (const { parent, agent } of children.values()) if (parent) this.numberOf(parent.sessionId, agent.name)
  }

  /** The how manieth child of its agent a session is about to have. */
  numberOf(parent: SessionId, agent: string): number {
    let ofParent = this.#numbers.get(parent)
    if (!ofParent) {
      ofParent = new Map()
      this.#numbers.set(parent, ofParent)
    }
    const number = (ofParent.get(agent) ?? 0) + 1
    ofParent.set(agent, number)
    return number
  }
}
