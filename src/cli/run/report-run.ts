import type { Outcome } from '../../contracts/index.ts'
import { type AgentSummary, runSummary } from '../../view/index.ts'
import type { NextSteps } from '../approvals/next-steps.ts'
import { exitCodeOf, exitCodeOfError, exitCodes } from '../host/exit-codes.ts'
import type { EndRequest } from '../host/process-host.ts'
import type { OutputForm } from '../options/parse-arguments.ts'
import { type Progress, showsTree } from '../progress/display.ts'
import type { StartDiagnostic } from '../team/start-diagnostics.ts'
import { reasonText } from '../terminal/format-numbers.ts'
import type { PrintedError } from '../terminal/print-errors.ts'
import { logRecord, type PrintTarget, printError } from '../terminal/print-messages.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { renderSummary } from '../tree/render-summary.ts'
import { renderTree } from '../tree/render-tree.ts'
import type { Followed } from './follow-run.ts'
import { InterruptedError } from './interrupted-error.ts'
import { printAnswer } from './print-answer.ts'
import { errorDocument, outcomeDocument, runEnd, runEndOfError } from './run-documents.ts'

interface Reporting extends PrintTarget {
  readonly output: OutputForm
  readonly progress: Progress
  /** What was told about the team before it ran. */
  readonly before?: readonly StartDiagnostic[]
  /** For a run that waits, or was stopped. */
  readonly nextSteps?: NextSteps
  /** Who asked the command to end, if somebody did. */
  readonly request?: EndRequest | undefined
}

/** Tells how a run ended, to whoever asked in whatever form, and answers with the exit code. */
export async function reportRun(followed: Followed, reporting: Reporting): Promise<number> {
  const { outcome } = followed
  if (!outcome) return reportOverdue(reporting)
  await printTree(followed, reporting)
  if (isToBeTold(outcome, reporting)) await printError(failureOf(outcome, reporting), reporting)
  await printOutcome(outcome, reporting)
  return exitCodeOf(outcome, reporting.request)
}

interface TreeTelling extends Pick<Reporting, 'host' | 'progress'> {
  /** A line below the tree. */
  readonly legend?: string
}

/** What happened, as a tree; where agents called agents also who did how much. */
export async function printTree({ events, past, outcome }: Followed, { host, progress, legend }: TreeTelling): Promise<void> {
  const summary = outcome && runSummary(outcome)
  const isTeam = summary !== undefined && summary.agents.length > 0
  if (progress === 'json' && isTeam) await host.stderr.line(logRecord(host, { level: 'info', msg: 'summary', summary }))
  if (!showsTree(progress)) return
  await host.stderr.lines([
    // A live tree leaves its place to the final one; lines do not.
    ...(progress === 'live' ? [] : ['']),
    ...renderTree(events, { paint: host.paint, width: host.width, past }),
    '',
    ...(legend === undefined ? [] : [legend, '']),
    ...(isTeam ? [...renderSummary(withToolNames(summary, events), host), ''] : []),
  ])
}

/** People know an agent by its tool name; programs are given its name, as in `agentPath`. */
export function withToolNames(summary: AgentSummary, events: Followed['events']): AgentSummary {
  const names = new Map(
    events.flatMap((event) => (event.type === 'interaction.session.created' ? [[event.agent.name, event.agent.toolName] as const] : [])),
  )
  const named = (each: AgentSummary): AgentSummary => ({
    ...each,
    agent: names.get(each.agent) ?? each.agent,
    agents: each.agents.map(named),
  })
  return named(summary)
}

async function printOutcome(outcome: Outcome, { host, output, before, request }: Reporting): Promise<void> {
  const { stdout } = host
  const told = { before, exitCode: exitCodeOf(outcome, request) }
  switch (output) {
    case 'json':
      return stdout.line(safeJson(outcomeDocument(outcome, told)))
    case 'stream-json':
      return stdout.line(safeJson(runEnd(outcome, told)))
    case 'answer':
      return isAnswered(outcome) ? printAnswer(outcome.report, host) : undefined
    default:
      return output satisfies never
  }
}

async function reportOverdue(reporting: Reporting): Promise<number> {
  const { host, output, request } = reporting
  const error = new InterruptedError('The run did not stop in time.', 'Everything recorded until then is kept.', request)
  if (output === 'json') await host.stdout.line(safeJson(errorDocument(error)))
  if (output === 'stream-json') await host.stdout.line(safeJson(runEndOfError(error)))
  await printError(error, reporting)
  return exitCodeOfError(error)
}

const isAnswered = ({ status }: Outcome): boolean => status === 'completed' || status === 'partial'

/** Why the exit code is not 0. The tree tells it where there is one, but for failures, whose remedy it has no room for. */
function isToBeTold(outcome: Outcome, { progress }: Reporting): boolean {
  if (outcome.status === 'failed' || outcome.status === 'suspended') return true
  return !showsTree(progress) && exitCodeOf(outcome) !== exitCodes.done.code
}

function failureOf(outcome: Outcome, { nextSteps, request }: Reporting): PrintedError {
  const { failure, reason } = outcome
  const message = reason === 'released' && request !== undefined ? stopTexts[request] : outcome.message
  const told = { message: message ?? failure?.message ?? endingText(outcome), problems: [] }
  return { ...told, remedy: outcome.remedy ?? failure?.remedy ?? limitRemedy(outcome), ...nextSteps }
}

const stopTexts: { readonly [Request in EndRequest]: string } = {
  interrupted: 'The run was stopped before it ended.',
  terminated: 'The run was stopped by SIGTERM before it ended.',
  hangup: 'The run was stopped before it ended: its terminal was closed.',
  pipe: 'The run was stopped before it ended: the reader of its output has gone.',
}

/** How to raise the limit that made an answer partial. */
const limitRemedy = ({ status, diagnostics }: Outcome): string | undefined =>
  status === 'partial' ? diagnostics.findLast(({ code }) => code === 'limit_reached')?.remedy : undefined

function endingText({ status, reason }: Outcome): string {
  const why = reason === undefined || reason === status ? '' : `: ${reasonText[reason]}`
  return status === 'partial' ? `The answer is partial${why}.` : `The run ended as ${status}${why}.`
}
