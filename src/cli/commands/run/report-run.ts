import type { Outcome, Report } from '../../../contracts/index.ts'
import { turnEndTexts } from '../../../policy/limit-texts.ts'
import type { StartDiagnostic } from '../../../project/index.ts'
import { runSummary } from '../../../view/index.ts'
import { type Progress, showsTree } from '../../progress/display.ts'
import { renderSummary, withToolNames } from '../../progress/tree/render-summary.ts'
import { renderTree } from '../../progress/tree/render-tree.ts'
import type { OutputForm } from '../../terminal/display-options.ts'
import { exitCodeOf, exitCodes } from '../../terminal/exit-codes.ts'
import { InterruptedError } from '../../terminal/interruption.ts'
import { renderMarkdown, wrapText } from '../../terminal/markdown/render-markdown.ts'
import { plainPaint } from '../../terminal/paint.ts'
import type { PrintedError } from '../../terminal/print-errors.ts'
import { logRecord, type PrintTarget, printError } from '../../terminal/print-messages.ts'
import type { EndRequest, Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { outcomeDocument, runEnd } from '../output/run-documents.ts'
import type { NextSteps } from '../sessions/next-commands.ts'
import type { Followed } from './follow-run.ts'
import { reportError } from './report-error.ts'

interface Reporting extends PrintTarget {
  readonly output: OutputForm
  readonly progress: Progress
  /** Diagnostics from before the start. */
  readonly before?: readonly StartDiagnostic[]
  /** For a suspended run. */
  readonly nextSteps?: NextSteps
  /** The signal that ended the command, if any. */
  readonly request?: EndRequest | undefined
}

/** Prints how a run ended in the requested output format, and returns the exit code. */
export async function reportRun(followed: Followed, reporting: Reporting): Promise<number> {
  const { outcome } = followed
  if (!outcome)
    return reportError(new InterruptedError('The run did not stop in time.', 'Its journal is kept.', reporting.request), reporting)
  await printTree(followed, reporting)
  if (needsMessage(outcome, reporting)) await printError(failureOf(outcome, reporting), reporting)
  await printOutcome(outcome, reporting)
  return exitCodeOf(outcome, reporting.request)
}

interface TreeOptions extends Pick<Reporting, 'host' | 'progress'> {
  /** A line below the tree. */
  readonly legend?: string
}

/** Prints the tree of the run and, for a team, the summary per agent. */
export async function printTree({ events, past, outcome }: Followed, { host, progress, legend }: TreeOptions): Promise<void> {
  const summary = outcome && runSummary(outcome)
  const isTeam = summary !== undefined && summary.agents.length > 0
  if (progress === 'json' && isTeam) await host.stderr.line(logRecord(host, { level: 'info', msg: 'summary', summary }))
  if (!showsTree(progress)) return
  await host.stderr.lines([
    // The live tree is erased; lines of a log are not.
    ...(progress === 'live' ? [] : ['']),
    ...renderTree(events, { paint: host.paint, width: host.width, past }),
    '',
    ...(legend === undefined ? [] : [legend, '']),
    ...(isTeam ? [...renderSummary(withToolNames(summary, events), host), ''] : []),
  ])
}

async function printOutcome(outcome: Outcome, { host, output, before, request }: Reporting): Promise<void> {
  const { stdout } = host
  const options = { before, exitCode: exitCodeOf(outcome, request) }
  switch (output) {
    case 'json':
      return stdout.line(safeJson(outcomeDocument(outcome, options)))
    case 'stream-json':
      return stdout.line(safeJson(runEnd(outcome, options)))
    case 'answer':
      return isAnswered(outcome) ? printAnswer(outcome.report, host) : undefined
    default:
      return output satisfies never
  }
}

/** Also the text before an interrupt. */
const isAnswered = ({ status, report }: Outcome): boolean =>
  status === 'completed' || status === 'partial' || (status === 'interrupted' && report !== undefined)

/** Whether to print why the exit code is not 0. The tree shows it, but not the remedy of a failure. */
function needsMessage(outcome: Outcome, { progress }: Reporting): boolean {
  if (outcome.status === 'failed' || outcome.status === 'suspended') return true
  return !showsTree(progress) && exitCodeOf(outcome) !== exitCodes.done.code
}

function failureOf(outcome: Outcome, { nextSteps, request }: Reporting): PrintedError {
  const { failure, reason } = outcome
  const message = reason === 'released' && request !== undefined ? stopTexts[request] : outcome.message
  const remedy = outcome.remedy ?? failure?.remedy ?? limitRemedy(outcome)
  const isWaiting = outcome.status === 'suspended' && reason === 'approval'
  if (isWaiting) return { message: suspendedText, problems: [], remedy, ...nextSteps, isFailure: false }
  const said = message ?? failure?.message ?? endingText(outcome)
  return { message: said, problems: [], remedy, ...nextSteps, ...((reason === 'input' || reason === 'client') && { isFailure: false }) }
}

const suspendedText = 'The run is suspended: a request is waiting for your answer.'

const stopTexts: { readonly [Request in EndRequest]: string } = {
  interrupted: 'The run was stopped before it ended.',
  terminated: 'The run was stopped by SIGTERM before it ended.',
  hangup: 'The run was stopped before it ended: its terminal was closed.',
  pipe: 'The run was stopped before it ended: its output was closed.',
}

/** How to raise the limit that made an answer partial. */
const limitRemedy = ({ status, diagnostics }: Outcome): string | undefined =>
  status === 'partial' ? diagnostics.findLast(({ code }) => code === 'limit_reached')?.remedy : undefined

function endingText({ status, reason }: Outcome): string {
  const why = reason === undefined || reason === status ? '' : `: ${turnEndTexts[reason].status}`
  return status === 'partial' ? `The answer is partial${why}.` : `The run has the status ${status}${why}.`
}

/** For readability. */
const maxWidth = 120

/** Prints the answer: unchanged to a pipe or file, rendered and wrapped to a terminal with colours. */
export function printAnswer(report: Report | undefined, { stdout, answerPaint = plainPaint }: Host): Promise<void> {
  const { columns } = stdout
  const { format, text = '' } = report ?? {}
  if (columns === undefined || answerPaint === plainPaint || format === 'json') return stdout.text(asLine(text))
  const width = Math.min(maxWidth, columns - 1)
  return stdout.lines(format === 'text' ? wrapText(text.trimEnd(), { width }) : renderMarkdown(text.trim(), { width, paint: answerPaint }))
}

/** The answer with exactly one added newline if it has none. */
const asLine = (answer: string): string => (answer.endsWith('\n') ? answer : `${answer}\n`)
