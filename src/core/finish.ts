import type { EventDraft, Report, TurnTotals } from '../contracts/index.ts'
import type { Ending } from './decide.ts'
import { itemName, stepName } from './names.ts'
import type { Session } from './session.ts'
import type { OpenTurn } from './state.ts'

/** Ends the turn: everything before it and its end are durable when this resolves, and only then is the answer given. */
export async function finish(session: Session, wanted: Ending): Promise<void> {
  const { turn } = session
  const ending = withReport(wanted, turn)
  const now = session.clock.now()
  const totals = { ...turn.spent, steps: turn.steps, calls: turn.calls, durationMs: Math.max(0, now - turn.startedAt) }
  if (ending.status === 'failed') noteError(session, ending.message)
  session.note(endEvent(ending, reportOf(turn), totals))
  session.summarise(ending.status)
  if (session.state.inputs.length === 0) session.note({ type: 'interaction.session.idle' })
  await session.flush()
}

/** A turn that ran out before anything was said has nothing partial to give. */
function withReport(ending: Ending, turn: OpenTurn): Ending {
  if (ending.status !== 'partial' || turn.lastText !== '') return ending
  return {
    status: 'failed',
    reason: ending.reason,
    message: `The turn ran out of ${ending.reason} before there was an answer.`,
    remedy: remedies[ending.reason] ?? 'Raise the limit.',
  }
}

const remedies: { readonly [reason: string]: string } = {
  steps: 'Raise maxToolTurns.',
  tokens: 'Raise maxTokens.',
  time: 'Raise timeBudget.',
  calls: 'Raise maxCalls.',
  stopped: 'Send a further message to go on.',
}

export function reportOf(turn: OpenTurn): Report | undefined {
  const text = turn.step.kind === 'answered' ? turn.step.text : turn.lastText
  return text === '' ? undefined : { format: 'text', text }
}

function endEvent(ending: Ending, report: Report | undefined, totals: TurnTotals): EventDraft {
  const said = report && { report }
  switch (ending.status) {
    case 'completed':
    case 'partial':
      return { type: 'interaction.turn.completed', ...ending, report: report ?? { format: 'text', text: '' }, totals }
    case 'failed': {
      const { status: _, ...why } = ending
      return { type: 'interaction.turn.failed', ...why, ...said, totals }
    }
    case 'interrupted':
      return { type: 'interaction.turn.interrupted', reason: ending.reason, ...said, totals }
    default:
      return ending satisfies never
  }
}

/** People who watch items see a failure as an item too. */
function noteError(session: Session, message: string): void {
  const id = itemName(stepName(session.turn.id, session.turn.steps + 1), 1, 0)
  session.note({ type: 'interaction.item.started', itemId: id, item: { id, type: 'error' } })
  session.note({ type: 'interaction.item.completed', itemId: id, item: { id, type: 'error', status: 'failed', text: message } })
}
