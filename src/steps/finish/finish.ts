import type { EventDraft, MaybePromise, Report, TurnEnding, TurnTotals } from '../../contracts/index.ts'
import { errorItemIdOf, nextInput, ownAccounts, tightestAccount, workedMs } from '../../core/index.ts'
import { limitText, type ReachedLimit, raiseLimitText, turnEndTexts } from '../../policy/limit-texts.ts'
import { atStop, hasHooksAt } from '../approval/hooks.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { reportOf } from './report-of.ts'

/** Ends the turn, unless a hook sends the model back to work. */
export function finish(session: ActiveSession, wanted: TurnEnding): MaybePromise<void> {
  return wanted.status === 'completed' && hasHooksAt(session, 'atStop') ? finishIfAllowed(session, wanted) : endTurn(session, wanted)
}

async function finishIfAllowed(session: ActiveSession, wanted: TurnEnding): Promise<void> {
  const verdict = await atStop(session)
  if (verdict.kind === 'resume') return
  if (verdict.kind === 'failed') return endTurn(session, { status: 'failed', reason: 'hook', message: verdict.message })
  // Steering input may have arrived while hooks ran.
  if (session.decide().kind !== 'finish') return
  if (verdict.kind !== 'overruled') return endTurn(session, wanted)
  for (const diagnostic of verdict.objections) session.note({ type: 'interaction.diagnostic', diagnostic })
  await endTurn(session, { status: 'partial', reason: 'hook' })
}

/** The end of the turn of a root is durable when this resolves, that of a child when its caller acts on it. Only then is it published. */
export function endTurn(session: ActiveSession, wanted: TurnEnding): MaybePromise<void> {
  const { turn } = session
  if (turn.spawned.length > 0) return session.ports.tree.spawned.closeAll(session).then(() => endTurn(session, wanted))
  const limit = reachedLimit(session, wanted)
  const ending = withLimit(session, wanted, limit)
  const { steps, calls, spent, startedAt } = turn
  const { now } = session
  const durationMs = Math.max(0, now - startedAt)
  // A clock that was set back may make it longer than the turn.
  const waitedMs = Math.min(durationMs, Math.max(0, durationMs - workedMs(turn, now)))
  const totals = { ...spent, steps, calls, durationMs, ...(waitedMs > 0 && { waitedMs }) }
  if (turn.plan) {
    const status = ending.status === 'partial' ? 'completed' : ending.status
    session.note({ type: 'interaction.item.completed', itemId: turn.plan.id, item: { ...turn.plan, status } })
  }
  if (limit) noteLimit(session, limit, ending)
  if (ending.status === 'failed') noteError(session, ending.message)
  session.note(endEvent(ending, reportOf(turn, session.state.agent), totals))
  if (!nextInput(session.state)) session.note({ type: 'interaction.session.idle' })
  const writing = session.flush()
  // Never synchronous for a child: whoever drives it keeps it from beginning another turn, once this one runs.
  return session.state.parent ? Promise.resolve() : writing
}

/** The limit that the turn reached. An answer that the model's own maximum cut reached none. */
function reachedLimit(session: ActiveSession, ending: TurnEnding): (ReachedLimit & { readonly isAbove?: true }) | undefined {
  if (ending.status !== 'partial' && ending.status !== 'failed') return undefined
  const { state, turn, headroom } = session
  const { step, last } = turn
  if (step.kind === 'answered' && step.truncated && last === undefined && step.cutBy === undefined) return undefined
  const { name, limits } = state.agent
  const isRoot = state.parent === undefined
  switch (ending.reason) {
    case 'steps':
      return { key: 'maxToolTurns', limit: limits.maxToolTurns, agent: name, isRoot }
    case 'calls':
      return { key: 'maxCalls', limit: limits.maxCalls ?? 0, agent: name, isRoot }
    case 'tokens':
    case 'cost':
    case 'time': {
      const own = tightestAccount(ownAccounts(state, turn, session.now), ending.reason)
      const above = tightestAccount(headroom, ending.reason)
      if (!above || (own && above.left >= own.left)) return own
      if ('owner' in above) return above
      // Its own limit, less what spawned children use, is not a limit above.
      return above.agent === name ? above : { ...above, isAbove: true }
    }
    default:
      return undefined
  }
}

/** Names the limit in the ending. Without any text, a partial ending becomes a failure. */
function withLimit({ turn }: ActiveSession, ending: TurnEnding, limit: ReturnType<typeof reachedLimit>): TurnEnding {
  if (ending.status === 'failed' && limit)
    return { ...ending, message: `${ending.message} The turn stopped at a limit: ${limitText(limit)}.`, remedy: raiseLimitText(limit) }
  if (ending.status !== 'partial') return ending
  if (turn.lastText !== '') {
    if (limit && 'owner' in limit) return { ...ending, limit: 'owner' }
    return limit?.isAbove ? { ...ending, limit: 'above' } : ending
  }
  const { ended, remedy } = turnEndTexts[ending.reason]
  const message = `The turn ended before there was an answer: it ${ended}${limit ? ` (${limitText(limit)})` : ''}.`
  return { status: 'failed', reason: ending.reason, message, remedy: limit ? raiseLimitText(limit) : remedy }
}

/** Outcomes of ancestors show it, too: the path names the child. */
function noteLimit(session: ActiveSession, limit: ReachedLimit, { status }: TurnEnding): void {
  const { parent, agentPath } = session.state
  const message = `The turn${parent ? ` of ${agentPath}` : ''} stopped at a limit: ${limitText(limit)}.`
  const severity = status === 'failed' ? 'error' : 'warning'
  session.note({ type: 'interaction.diagnostic', diagnostic: { code: 'limit_reached', severity, message, remedy: raiseLimitText(limit) } })
}

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

/** People who watch items see a failure as an item, too. */
function noteError(session: ActiveSession, message: string): void {
  const itemId = errorItemIdOf(session.turn.id)
  const item = { kind: 'text', id: itemId, type: 'error' } as const
  session.note({ type: 'interaction.item.started', itemId, item })
  session.note({ type: 'interaction.item.completed', itemId, item: { ...item, status: 'failed', text: message } })
}
