import { type ChildResult, type InteractionEvent, type SessionId, type ToolFailure, TroupeError } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { type Breach, breakOff, interrupted } from '../tree/end-open-turn.ts'
import { childIdOf, forSummary, type TreeState } from '../tree/tree-state.ts'
import { childFailure } from './child-failure.ts'
import { EndedChild } from './ended-child.ts'
import type { Branch } from './open-session.ts'
import { Branches } from './open-sessions.ts'

/**
 * Everything below the root. Most trees have nothing there, and pay for nothing.
 *
 * 1. A child that has ended is kept as far as the outcome of the turn needs it, and let go with that turn.
 * 2. What a child took is in the account of its parent exactly once: when it ends, or when its call ends without it.
 */
export class Below {
  /** Children that are not open here: they have ended, or their turn has not begun. */
  readonly atRest: Map<SessionId, SessionState>
  /** Those whose end is in the account of their parent. */
  readonly settled: Set<SessionId>
  readonly branches: Branches
  stalled = Promise.withResolvers<'stalled'>()
  /** Sessions that still do something, although their turn was ended for them. */
  readonly #givenUp = new Set<SessionId>()

  constructor(root: ActiveSession, { children, settled, numbers }: Pick<TreeState, 'children' | 'settled' | 'numbers'>) {
    this.atRest = new Map(children)
    this.settled = new Set(settled)
    this.branches = new Branches(root)
    this.branches.root.numbers = new Map(numbers)
  }

  isGivenUp(sessionId: SessionId): boolean {
    return this.#givenUp.size > 0 && this.#givenUp.has(sessionId)
  }

  /** Takes notice of what has just been recorded. */
  read(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.item.completed':
        if (event.item.kind === 'call' && this.#hasHadChildren(event.sessionId)) this.callEnded(childIdOf(event.sessionId, event.item.id))
        return
      case 'interaction.turn.started':
        if (event.sessionId === this.branches.root.sessionId) this.#dropEnded()
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
  look(): void {
    if (this.branches.isStalled) this.stalled.resolve('stalled')
  }

  /** Puts the end of a child into the account of its parent. */
  settle({ session, above }: Branch): ChildResult {
    const state = session?.state
    if (!state || !above?.session) throw new TroupeError('internal', 'Only a child that was begun can be settled.')
    return this.settleEnded(state, above)
  }

  settleEnded(state: SessionState, above: Branch): ChildResult {
    const { sessionId: childId, turn, parent } = state
    if (turn.kind !== 'ended') throw new TroupeError('internal', `The child ${childId} came to rest in the middle of its turn.`)
    const branch = this.branches.get(childId)
    if (!this.settled.has(childId)) {
      if (above.session && parent && isTurn(above.session, parent.turnId)) tell(above.session, state)
      this.settled.add(childId)
      this.atRest.set(childId, state)
    }
    if (branch) this.branches.remove(branch)
    return this.resultOf(state)
  }

  /** Ends a child that nobody will go on with; it counts with all that it has taken, and so does whatever is below it. */
  abandon(branch: Branch, ending: Breach): void {
    const { session, sessionId } = branch
    if (session?.state.turn.kind === 'open') {
      const isAtWork = branch.stage === 'working' || branch.stage === 'waiting'
      session.interrupt.fire('interrupted')
      breakOff(session, ending)
      if (isAtWork) this.#givenUp.add(sessionId)
    }
    if (session?.state.turn.kind === 'ended') this.settle(branch)
    else this.branches.remove(branch)
    branch.giveUp?.()
  }

  /** With its call a child ends, too, whatever it is still at. From then on only the summary is asked for. */
  callEnded(childId: SessionId): void {
    const branch = this.branches.get(childId)
    if (branch) this.abandon(branch, interrupted)
    const ended = this.atRest.get(childId)
    if (ended) this.atRest.set(childId, forSummary(ended))
  }

  /** How a child ended, for the call that started it. */
  resultOf(state: SessionState): ChildResult {
    const { turn, agent } = state
    if (turn.kind !== 'ended') throw new TroupeError('internal', `The child ${state.sessionId} has not ended.`)
    return new EndedChild({ state, turn, children: this.atRest, failure: childFailure(agent, turn.ending) })
  }

  /** Most sessions never start one: their calls end without anybody looking for it. */
  #hasHadChildren(sessionId: SessionId): boolean {
    const branch = this.branches.get(sessionId)
    const turn = branch?.session?.state.turn
    return turn === undefined || branch?.size !== 0 || turn.kind !== 'open' || turn.children > 0
  }

  #recount(sessionId: SessionId): void {
    const branch = this.branches.get(sessionId)
    if (branch) this.branches.recount(branch)
  }

  #dropEnded(): void {
    this.atRest.clear()
    this.settled.clear()
  }
}

const isTurn = ({ state: { turn } }: ActiveSession, id: string): boolean => turn.kind === 'open' && turn.id === id

function tell(parent: ActiveSession, { sessionId: childId, agent, turn, parent: call }: SessionState): void {
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
