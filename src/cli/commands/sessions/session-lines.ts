import { agentFileOf, type CommandPlace, resumeHint } from '../../../project/index.ts'
import { price, timeText } from '../../../view/index.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { matchLine } from './match-line.ts'
import type { StoredSession, StoredSessionState } from './stored-sessions.ts'

const indent = '  '

/** State, place and time of a session, and the command that resumes it. Pure. */
export function sessionLines(session: StoredSession, place: CommandPlace, paint: Paint): readonly string[] {
  const { run, origin, standing } = session
  const { workspace = place.here } = origin ?? run
  const where = [origin ? agentFileOf(origin) : '', workspace === place.here ? '' : `in ${workspace}`].filter(Boolean).join(' ')
  const cost = run.cost === undefined || run.cost === 'unknown' ? '' : price(run.cost)
  const labels = (run.labels ?? []).map((label) => `#${label}`).join(' ')
  const about = [where, timeText(run.updatedAt), cost, `“${run.title}”`, labels].filter(Boolean).join(' · ')
  return [
    `${run.treeId}  ${printable(run.agent)}  ${paint(shadeOf(standing), printable(stateText(standing)))}`,
    `${indent}${paint('dim', printable(about))}`,
    ...(run.match ? [`${indent}${matchLine(run.match, paint)}`] : []),
    ...(standing.kind === 'unfinished' || standing.kind === 'waiting' ? [`${indent}${resumeHint(session, place)}`] : []),
  ]
}

const shadeOf = ({ kind }: StoredSessionState): 'red' | 'yellow' | 'bold' =>
  kind === 'damaged' ? 'red' : kind === 'unfinished' ? 'yellow' : 'bold'

export function stateText(standing: StoredSessionState): string {
  switch (standing.kind) {
    case 'running':
      return `running: ${standing.driver}`
    case 'unfinished':
      return 'unfinished: its process has exited'
    case 'waiting':
      if (standing.open === 0) return standing.for === 'client' ? 'waits for its client' : 'answered; resume it'
      return `waiting for ${standing.open === 1 ? 'an answer' : `${standing.open} answers`}`
    case 'ended':
      return { completed: 'completed', partial: 'ended with a partial answer', failed: 'failed', interrupted: 'interrupted' }[
        standing.status
      ]
    case 'damaged':
      return `damaged: its journal cannot be read from event ${standing.seq} on`
    default:
      return standing satisfies never
  }
}
