// How long turns wait: for a person, or without a driver. It is computed from the events, because older journals do not say it, and
// because a wait is shown while it lasts. The rules are those of `idleMs` in the state of a session.
//
// 1. A turn waits from its first open request, or its suspension, until it acts again. The time before a resumption is a wait, too.
// 2. A turn that does nothing but wait for one child waits while that child does. While others work, its time goes on; once they have
//    ended, the rest of the wait is one.
import type { InteractionEvent, TurnTotals } from '../contracts/index.ts'
import { type AgentNode, type CallNode, childrenOf, lastTurn, type SessionNodes, type TurnNode } from './nodes.ts'

/** The time from start to end, and the part of it that was no work. */
export type Times = Pick<TurnTotals, 'durationMs' | 'waitedMs'>

export const workOf = ({ durationMs, waitedMs = 0 }: Times): number => Math.max(0, durationMs - waitedMs)

/** Applies an event that has changed the nodes already. */
export function applyWaiting(session: SessionNodes, event: InteractionEvent): void {
  const turn = lastTurn(session)
  if (!turn) return
  const { waiting } = turn
  const { at } = event
  if (turn.ending) endWait(turn, at)
  else
    switch (event.type) {
      case 'interaction.approval.requested':
      case 'interaction.turn.suspended':
        waiting.since ??= at
        break
      case 'interaction.session.resumed':
        // The driver was gone since its last event, in any session of the tree.
        waiting.since ??= event.stoppedAt ?? waiting.at
        endWaitUnlessAsking(turn, at)
        break
      case 'interaction.step.started':
        endWait(turn, at)
        break
      case 'interaction.approval.resolved':
      case 'interaction.item.started':
      case 'interaction.item.updated':
      case 'interaction.item.completed':
        endWaitUnlessAsking(turn, at)
        break
      case 'interaction.subagent.started': {
        const child = session.tree.sessions.get(event.childId)?.agent
        if (child) waiting.children.set(child, { waited: waiting.ms, isSpawned: event.turn !== undefined })
        break
      }
      case 'interaction.subagent.completed':
      case 'interaction.subagent.failed': {
        const child = session.tree.sessions.get(event.childId)?.agent
        waiting.ms += waitForChild(turn, { durationMs: event.totals.durationMs, waitedMs: event.idleMs }, at)
        if (child) waiting.children.delete(child)
        // It has answered, and waited for this child only.
        if (event.turn !== undefined && hasAnswered(turn)) endWait(turn, at)
        break
      }
      default:
    }
  // An offer is recorded for a step of any session below.
  if (event.type !== 'interaction.offer.recorded') waiting.at = at
}

function endWait({ waiting }: TurnNode, at: number): void {
  if (waiting.since !== undefined) waiting.ms += Math.max(0, at - waiting.since)
  delete waiting.since
}

function endWaitUnlessAsking(turn: TurnNode, at: number): void {
  if (!turn.steps.at(-1)?.requests.size) endWait(turn, at)
}

const hasAnswered = ({ steps }: TurnNode): boolean => {
  const { attempts = [], calls = [] } = steps.at(-1) ?? {}
  const attempt = attempts.at(-1)
  return calls.length === 0 && attempt?.latencyMs !== undefined && !attempt.failure
}

/** The wait of the only child that works for a turn, as far as it is not a wait of the turn already. */
function waitForChild(turn: TurnNode, { durationMs, waitedMs }: Required<Times>, at: number): number {
  const [child, ...others] = turn.waiting.children.values()
  const { calls = [], open } = turn.steps.at(-1) ?? {}
  if (!child || others.length > 0 || !(open?.size === 1 || hasAnswered(turn))) return 0
  const left = waitedMs - (ownWait(turn, at) - child.waited)
  const alone = at - turn.waiting.at
  // What the turn did meanwhile was work.
  if (child.isSpawned) return calls.length > 1 ? 0 : Math.max(0, Math.min(left, alone))
  // Other calls of the step have worked before.
  return Math.max(0, calls.length > 1 ? Math.min(left, alone - (durationMs - waitedMs)) : left)
}

const ownWait = ({ waiting: { ms, since } }: TurnNode, at: number): number => ms + (since === undefined ? 0 : Math.max(0, at - since))

/** The times of a turn until now; without a time, until its last event. */
export function turnTimes(turn: TurnNode, now?: number): Required<Times> {
  const { totals, span, ending, waiting } = turn
  const end = ending ? span.to : Math.max(span.to, now ?? 0)
  const durationMs = totals?.durationMs ?? end - span.from
  if (ending) return { durationMs, waitedMs: Math.min(totals?.waitedMs ?? waiting.ms, durationMs) }
  const [child] = waiting.children.keys()
  const below = child?.turns.at(-1)
  const waitedMs = ownWait(turn, end) + (below ? waitForChild(turn, turnTimes(below, end), end) : 0)
  return { durationMs, waitedMs: Math.min(waitedMs, durationMs) }
}

export function agentTimes({ turns }: Pick<AgentNode, 'turns'>, now?: number): Required<Times> {
  const times = turns.map((turn) => turnTimes(turn, now))
  return {
    durationMs: times.reduce((sum, { durationMs }) => sum + durationMs, 0),
    waitedMs: times.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
  }
}

/** The times of the agents that a call has started. A tool may start several at the same time. */
export function callTimes(call: CallNode, now?: number): Required<Times> {
  const { latencyMs: durationMs, isAgent } = call
  const turns = agentTimes({ turns: childrenOf(call).flatMap((child) => child.turns) }, now)
  return isAgent || durationMs === undefined ? turns : { durationMs, waitedMs: Math.min(turns.waitedMs, durationMs) }
}
