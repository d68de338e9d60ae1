import type {
  AgentLimits,
  EventDraft,
  MaybePromise,
  PartialReason,
  PlanIntent,
  Report,
  TurnEnding,
  TurnTotals,
} from '../contracts/index.ts'
import { errorItemIdOf, type OpenTurn, remainingCost, remainingTime, remainingTokens } from '../core/index.ts'
import { leftByCallers, limitsInForce, ranOut } from '../util/turn-words.ts'
import type { ActiveSession } from './active-session.ts'
import { atStop, hasHooksAt } from './hooks.ts'
import { reportOf } from './report-of.ts'

/** Ends the turn, unless a hook sends the model back to work. */
export function finish(session: ActiveSession, wanted: TurnEnding): MaybePromise<void> {
  return wanted.status === 'completed' && hasHooksAt(session, 'atStop') ? finishIfAllowed(session, wanted) : endTurn(session, wanted)
}

async function finishIfAllowed(session: ActiveSession, wanted: TurnEnding): Promise<void> {
  const verdict = await atStop(session)
  if (verdict.kind === 'resume') return
  if (verdict.kind === 'failed') return endTurn(session, { status: 'failed', reason: 'config', message: verdict.message })
  // Somebody may have steered while hooks thought: then the turn is not at its end.
  if (session.decide().kind !== 'finish') return
  if (verdict.kind !== 'overruled') return endTurn(session, wanted)
  for (const diagnostic of verdict.objections) session.note({ type: 'interaction.diagnostic', diagnostic })
  // The answer is given, and not called complete.
  await endTurn(session, { status: 'partial', reason: 'hook' })
}

/** Everything before the end of a turn and the end itself are durable when this is done; only then is the answer given. */
export function endTurn(session: ActiveSession, wanted: TurnEnding): MaybePromise<void> {
  const { turn } = session
  const ending = withAnswer(withWhose(session, wanted), turn, session.state.agent.limits)
  const { steps, calls, spent, startedAt } = turn
  const totals = { ...spent, steps, calls, durationMs: Math.max(0, session.now - startedAt) }
  if (turn.plan) endPlan(session, turn.plan, ending)
  if (ending.status === 'failed') noteError(session, ending.message)
  session.note(endEvent(ending, reportOf(turn, session.state.agent), totals))
  if (session.state.inputs.length === 0) session.note({ type: 'interaction.session.idle' })
  return session.flush()
}

/** A turn that ran out before anything was said has nothing partial to give. */
function withAnswer(ending: TurnEnding, turn: OpenTurn, limits: AgentLimits): TurnEnding {
  if (ending.status !== 'partial' || turn.lastText !== '') return ending
  const { reason, limit } = ending
  const { why, remedy } = ranOut[reason]
  const message = `The turn ended before there was an answer: ${why}`
  if (limit)
    return { status: 'failed', reason, message: `${message}${leftByCallers}.`, remedy: `${remedy.slice(0, -1)} of whoever calls it.` }
  return { status: 'failed', reason, message: `${message}${limitsInForce(reason, limits)}.`, remedy }
}

/** Whose limit it was that ran out: a child may have less than its own. */
function withWhose(session: ActiveSession, ending: TurnEnding): TurnEnding {
  if (ending.status !== 'partial' || !session.state.parent || !isBoundFromAbove(session, ending.reason)) return ending
  return { ...ending, limit: 'above' }
}

function isBoundFromAbove(session: ActiveSession, reason: PartialReason): boolean {
  const { state, turn, headroom } = session
  switch (reason) {
    case 'tokens':
      return isLess(headroom.tokens, remainingTokens(state, turn))
    case 'cost':
      return isLess(headroom.costUsd, remainingCost(state, turn))
    case 'time':
      return isLess(headroom.timeMs, remainingTime(state, turn, session.now))
    default:
      return false
  }
}

const isLess = (above: number | undefined, own = Number.POSITIVE_INFINITY): boolean => above !== undefined && above < own

function endEvent(ending: TurnEnding, report: Report | undefined, totals: TurnTotals): EventDraft {
  const said = report && { report }
  switch (ending.status) {
    case 'completed':
    case 'partial':
      return { type: 'interaction.turn.completed', ending, report: report ?? { format: 'text', text: '' }, totals }
    case 'failed':
      return { type: 'interaction.turn.failed', ending, ...said, totals }
    case 'interrupted':
      return { type: 'interaction.turn.interrupted', ending, ...said, totals }
    default:
      return ending satisfies never
  }
}

/** A plan is an item of its turn, and ends with it. */
function endPlan(session: ActiveSession, plan: PlanIntent, { status }: TurnEnding): void {
  session.note({
    type: 'interaction.item.completed',
    itemId: plan.id,
    item: { ...plan, status: status === 'partial' ? 'completed' : status },
  })
}

/** People who watch items see a failure as an item too. */
function noteError(session: ActiveSession, message: string): void {
  const id = errorItemIdOf(session.turn.id)
  session.note({ type: 'interaction.item.started', itemId: id, item: { kind: 'text', id, type: 'error' } })
  session.note({
    type: 'interaction.item.completed',
    itemId: id,
    item: { kind: 'text', id, type: 'error', status: 'failed', text: message },
  })
}
