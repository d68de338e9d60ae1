import { type ChildResult, type InteractionEvent, type SessionId, type ToolFailure, TroupeError } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { endOpenTurn, type ForcedEnding, interrupted } from '../tree/end-open-turn.ts'
import { childIdOf, summaryOnly, type TreeState } from '../tree/tree-state.ts'
import { childFailure } from './child-failure.ts'
import { EndedChild } from './ended-child.ts'
import type { OpenSession } from './open-session.ts'
import { OpenSessions } from './open-sessions.ts'

/**
 * Everything below the root. Most trees have nothing there, and pay for nothing.
 *
 * 1. A child that has ended is kept as far as the outcome of the turn needs it, and let go with that turn.
 * 2. What a child took is in the account of its parent exactly once: when it ends, or when its call ends without it.
 */
export class ChildTracker {
  /** Children that are not open here: they have ended, or their turn has not begun. */
  readonly inactive: Map<SessionId, SessionState>
  /** Those whose end is in the account of their parent. */
  readonly settled: Set<SessionId>
  readonly openSessions: OpenSessions
  stalled = Promise.withResolvers<'stalled'>()
  /** Sessions that still do something, although their turn was ended for them. */
  readonly #abandoned = new Set<SessionId>()

  constructor(root: ActiveSession, { children, settled, numbers }: Pick<TreeState, 'children' | 'settled' | 'numbers'>) {
    this.inactive = new Map(children)
    this.settled = new Set(settled)
    this.openSessions = new OpenSessions(root)
    this.openSessions.root.numbers = new Map(numbers)
  }

  isAbandoned(sessionId: SessionId): boolean {
    return this.#abandoned.size > 0 && this.#abandoned.has(sessionId)
  }

  /** Takes notice of what has just been recorded. */
  observe(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.item.completed':
        if (event.item.kind === 'call' && this.#hasHadChildren(event.sessionId)) this.callEnded(childIdOf(event.sessionId, event.item.id))
        return
      case 'interaction.turn.started':
        if (event.sessionId === this.openSessions.root.sessionId) this.#dropEnded()
        this.#recount(event.sessionId)
        return
      case 'interaction.step.started':
      case 'interaction.step.completed':
      case 'interaction.step.failed':
      case 'interaction.subagent.started':
      case 'interaction.subagent.completed':
      case 'interaction.subagent.failed':
        this.#recount(event.sessionId)
    }
  }

  /** Looks whether only people can go on. */
  checkStalled(): void {
    if (this.openSessions.isStalled) this.stalled.resolve('stalled')
  }

  /** Puts the end of a child into the account of its parent. */
  settle({ session, parent }: OpenSession): ChildResult {
    const state = session?.state
    if (!state || !parent?.session) throw new TroupeError('internal', 'Only a child that was begun can be settled.')
    return this.settleEnded(state, parent)
  }

  settleEnded(state: SessionState, parent: OpenSession): ChildResult {
    const { sessionId: childId, turn, parent: call } = state
    if (turn.kind !== 'ended') throw new TroupeError('internal', `The child ${childId} came to rest in the middle of its turn.`)
    const open = this.openSessions.get(childId)
    if (!this.settled.has(childId)) {
      if (parent.session && call && isTurn(parent.session, call.turnId)) reportEnd(parent.session, state)
      this.settled.add(childId)
      this.inactive.set(childId, state)
    }
    if (open) this.openSessions.remove(open)
    return this.resultOf(state)
  }

  /** Ends a child that nobody will go on with; it counts with all that it has taken, and so does whatever is below it. */
  abandon(open: OpenSession, ending: ForcedEnding): void {
    const { session, sessionId } = open
    if (session?.state.turn.kind === 'open') {
      const isAtWork = open.stage === 'working' || open.stage === 'waiting'
      session.interrupt.fire('interrupted')
      endOpenTurn(session, ending)
      if (isAtWork) this.#abandoned.add(sessionId)
    }
    if (session?.state.turn.kind === 'ended') this.settle(open)
    else this.openSessions.remove(open)
    open.stopWaiting?.()
  }

  /** With its call a child ends, too, whatever it is still at. From then on only the summary is asked for. */
  callEnded(childId: SessionId): void {
    const open = this.openSessions.get(childId)
    if (open) this.abandon(open, interrupted)
    const ended = this.inactive.get(childId)
    if (ended) this.inactive.set(childId, summaryOnly(ended))
  }

  /** How a child ended, for the call that started it. */
  resultOf(state: SessionState): ChildResult {
    const { turn, agent } = state
    if (turn.kind !== 'ended') throw new TroupeError('internal', `The child ${state.sessionId} has not ended.`)
    return new EndedChild({ state, turn, children: this.inactive, failure: childFailure(agent, turn.ending) })
  }

  /** Most sessions never start one: their calls end without anybody looking for it. */
  #hasHadChildren(sessionId: SessionId): boolean {
    const open = this.openSessions.get(sessionId)
    const turn = open?.session?.state.turn
    return turn === undefined || open?.openChildren !== 0 || turn.kind !== 'open' || turn.children > 0
  }

  #recount(sessionId: SessionId): void {
    const open = this.openSessions.get(sessionId)
    if (open) this.openSessions.recount(open)
  }

  #dropEnded(): void {
    this.inactive.clear()
    this.settled.clear()
  }
}

const isTurn = ({ state: { turn } }: ActiveSession, id: string): boolean => turn.kind === 'open' && turn.id === id

function reportEnd(parent: ActiveSession, { sessionId: childId, agent, turn, parent: call }: SessionState): void {
  if (turn.kind !== 'ended' || !call) return
  const { ending, totals, paidUsd, children, idleMs } = turn
  const end = { itemId: call.itemId, childId, agent: agent.name, totals, paidUsd, children, idleMs }
  if (ending.status === 'completed' || ending.status === 'partial')
    parent.note({ type: 'interaction.subagent.completed', ...end, status: ending.status })
  else
    parent.note({
      type: 'interaction.subagent.failed',
      ...end,
      status: ending.status,
      failure: childFailure(agent, ending) ?? unexplained,
    })
}

const unexplained: ToolFailure = { class: 'failed', message: 'It did not say why.' }
