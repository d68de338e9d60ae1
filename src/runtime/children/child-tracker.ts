import {
  type AccountingEntry,
  type ChildResult,
  type HandoffReason,
  type InteractionEvent,
  type ItemId,
  type Message,
  type Report,
  type SessionId,
  type ToolFailure,
  TroupeError,
  type TurnOperation,
  type TurnReason,
} from '../../contracts/index.ts'
import type { EndedTurn, SessionState, SpawnedChild } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { BudgetQueue } from '../budgets/budget-queue.ts'
import { type OpenSession, OpenSessions } from '../budgets/open-sessions.ts'
import { accountingOf, operationOf } from '../journal/operations.ts'
import { childIdOf, childIdsOf, summaryOnly, type TreeState } from '../journal/tree-state.ts'
import { childFailure } from './child-failure.ts'
import { childNotice } from './child-notice.ts'
import { endHandoff } from './end-handoff.ts'
import { endOpenTurn, type ForcedEnding, interrupted } from './end-open-turn.ts'

/**
 * The descendants of the root. Created with the first child: most trees have none.
 *
 * 1. A child that has ended is kept as far as the outcome of the turn needs it, until the next turn of the root.
 * 2. What a turn of a child spent is added to its parent exactly once: when it ends, or when its call ends first.
 * 3. A spawned child outlives its call. It is idle between its turns, and ends with the turn of its parent.
 */
export class ChildTracker {
  /** Children that are not open: they have ended, or their turn has not begun. */
  readonly inactive: Map<SessionId, SessionState>
  /** Children whose spending has been added to their parent. */
  readonly settled: Set<SessionId>
  readonly openSessions: OpenSessions
  stalled = Promise.withResolvers<'stalled'>()
  /** Sessions whose turn was ended while something of them was still running. */
  readonly #abandoned = new Set<SessionId>()
  /** Whether a call may have another child than its first. */
  #hasNumbered: boolean

  constructor(
    root: ActiveSession,
    { children, settled, numbers }: Pick<TreeState, 'children' | 'settled' | 'numbers'>,
    budget: BudgetQueue | undefined,
  ) {
    this.inactive = new Map(children)
    this.settled = new Set(settled)
    this.#hasNumbered = children.size > 0
    this.openSessions = new OpenSessions(root, budget)
    this.openSessions.root.numbers = new Map(numbers)
  }

  isAbandoned(sessionId: SessionId): boolean {
    return this.#abandoned.size > 0 && this.#abandoned.has(sessionId)
  }

  observe(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.session.created':
        if (event.parent && event.sessionId !== childIdOf(event.parent.sessionId, event.parent.itemId)) this.#hasNumbered = true
        return
      case 'interaction.item.completed':
        if (event.item.kind === 'call') this.#itemEnded(event.sessionId, event.item.id)
        return
      case 'interaction.subagent.closed':
        this.#summarise(event.childId)
        return
      case 'interaction.subagent.started':
        if (event.turn !== undefined) this.settled.delete(event.childId)
        this.#recount(event.sessionId)
        return
      case 'interaction.turn.started':
        if (event.sessionId === this.openSessions.root.sessionId) this.#dropEnded()
        this.#recount(event.sessionId)
        return
      case 'interaction.step.started':
      case 'interaction.step.completed':
      case 'interaction.step.failed':
      case 'interaction.subagent.completed':
      case 'interaction.subagent.failed':
        this.#recount(event.sessionId)
    }
  }

  checkStalled(): void {
    if (this.openSessions.isStalled) this.stalled.resolve('stalled')
  }

  /** Adds what a child spent to its parent. */
  settle({ session, parent }: OpenSession): ChildResult {
    if (!session || !parent) throw new TroupeError('internal', 'Only a child with a session can be settled.')
    return this.settleEnded(session.state, parent)
  }

  settleEnded(state: SessionState, parent: OpenSession): ChildResult {
    const { sessionId: childId } = state
    const result = this.resultOf(state)
    const open = this.openSessions.get(childId)
    if (!this.settled.has(childId)) {
      this.settled.add(childId)
      this.inactive.set(childId, state)
      if (parent.session) reportEnd(parent.session, state, result.failure)
    }
    if (open) this.openSessions.remove(open)
    return result
  }

  /** Ends a child that nobody continues, with its descendants. What they spent counts. */
  abandon(open: OpenSession, ending: ForcedEnding): void {
    const { session, sessionId } = open
    if (session?.state.turn.kind === 'open') {
      const isRunning = open.stage === 'working' || open.stage === 'waiting' || open.stage === 'resting'
      session.interrupt.fire('interrupted')
      this.closeSpawned(session)
      endOpenTurn(session, ending)
      if (isRunning) this.#abandoned.add(sessionId)
    }
    if (session?.state.turn.kind === 'ended') this.settle(open)
    else this.openSessions.remove(open)
    open.stopWaiting?.()
  }

  /** A child ends with its call. After that only its summary is needed. */
  callEnded(childId: SessionId): void {
    const open = this.openSessions.get(childId)
    if (open) this.abandon(open, interrupted)
    this.#summarise(childId)
  }

  /** Ends the spawned children of a session whose turn is about to be ended by force. */
  closeSpawned(parent: ActiveSession): void {
    const { turn } = parent.state
    if (turn.kind !== 'open') return
    for (const child of turn.spawned) this.#close(parent, child)
  }

  #close(parent: ActiveSession, child: SpawnedChild): void {
    const { childId, itemId, agent } = child
    this.endHandoff(parent, child, 'ended')
    const open = this.openSessions.get(childId)
    if (open) this.abandon(open, interrupted)
    parent.note({ type: 'interaction.subagent.closed', itemId, childId, agent })
  }

  endHandoff(parent: ActiveSession, child: SpawnedChild, reason: HandoffReason): void {
    const state = this.openSessions.get(child.childId)?.session?.state ?? this.inactive.get(child.childId)
    endHandoff(parent, child, { reason, child: state })
  }

  #itemEnded(parentId: SessionId, itemId: ItemId): void {
    const open = this.openSessions.get(parentId)
    const turn = open?.session?.state.turn
    // Saves the lookup for calls of sessions without children.
    if (turn?.kind === 'open' && turn.children === 0 && open?.openChildren === 0) return
    const parent = open?.session
    const children = this.#hasNumbered ? childIdsOf(parentId, itemId, this) : [childIdOf(parentId, itemId)]
    for (const childId of children) {
      const spawned = turn?.kind === 'open' ? turn.spawned.find((child) => child.childId === childId) : undefined
      if (!spawned) this.callEnded(childId)
      // Such a child ends with its call, like one that is called. After a release it ends with the turn.
      else if (spawned.handoff && parent && !parent.isReleased) this.#close(parent, spawned)
    }
  }

  has(childId: SessionId): boolean {
    return this.inactive.has(childId) || this.openSessions.get(childId) !== undefined
  }

  #summarise(childId: SessionId): void {
    const ended = this.inactive.get(childId)
    if (ended) this.inactive.set(childId, summaryOnly(ended))
  }

  resultOf(state: SessionState): Ended {
    const { turn, sessionId } = state
    if (turn.kind !== 'ended') throw new TroupeError('internal', `The child ${sessionId} stopped in the middle of its turn.`)
    return new EndedChild(state, turn, this.inactive)
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

/** Records the end in the parent, unless the turn of the call is over. */
function reportEnd(
  parent: ActiveSession,
  { sessionId: childId, agent, turn, inputs, parent: call }: SessionState,
  failure?: ToolFailure,
): void {
  const { turn: around } = parent.state
  if (turn.kind !== 'ended' || !call || around.kind !== 'open' || around.id !== call.turnId) return
  const { ending, totals, paidUsd, children, idleMs } = turn
  const spawned = around.spawned.find((child) => child.childId === childId)
  const plain = { itemId: call.itemId, childId, agent: agent.name, totals, paidUsd, children, idleMs }
  // What a child says to the person is no report to its parent.
  const notice = spawned && !spawned.handoff ? { notice: childNotice(parent, spawned, { turn, failure }) } : undefined
  const end = spawned ? { ...plain, turn: spawned.turn, ...notice } : plain
  if (ending.status === 'completed' || ending.status === 'partial')
    parent.note({ type: 'interaction.subagent.completed', ...end, status: ending.status })
  else if (failure) parent.note({ type: 'interaction.subagent.failed', ...end, status: ending.status, failure })
  // Input that has arrived meanwhile starts the next turn: the child is not idle in between.
  if (spawned && !spawned.handoff && inputs.length > 0 && ending.status !== 'interrupted') noteNextTurn(parent, spawned)
}

/** Records that a spawned child starts its next turn. */
export function noteNextTurn(parent: ActiveSession, { itemId, childId, agent, name, turn }: SpawnedChild): void {
  const childPath = `${parent.state.agentPath}/${name}`
  parent.note({ type: 'interaction.subagent.started', itemId, childId, agent, childPath, turn: turn + 1 })
}

type Ended = Extract<ChildResult, { kind: 'ended' }>

/** The result of a child. Large parts are computed on demand: few callers read them. */
class EndedChild implements Ended {
  readonly kind = 'ended'
  readonly status: Ended['status']
  readonly reason?: TurnReason
  readonly failure?: ToolFailure
  readonly report?: Report
  readonly #state: SessionState
  readonly #turn: EndedTurn
  /** Includes its descendants. */
  readonly #children: ReadonlyMap<SessionId, SessionState>

  constructor(state: SessionState, turn: EndedTurn, children: ReadonlyMap<SessionId, SessionState>) {
    const { ending, report } = turn
    const failure = childFailure(state.agent, ending)
    this.status = ending.status
    if ('reason' in ending) this.reason = ending.reason
    if (failure) this.failure = failure
    if (report) this.report = report
    this.#state = state
    this.#turn = turn
    this.#children = children
  }

  get accounting(): readonly AccountingEntry[] {
    return accountingOf(this.#state, this.#children)
  }

  get operations(): TurnOperation {
    return operationOf(this.#state, this.#turn, this.#children)
  }

  get conversation(): readonly Message[] {
    return this.#state.history.toJSON()
  }
}
