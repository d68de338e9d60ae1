import type { Outcome, Report } from '../../../contracts/index.ts'
import type { StartDiagnostic } from '../../../project/index.ts'
import { type Denial, denialsIn, runSummary } from '../../../view/index.ts'
import { type Progress, showsTree } from '../../progress/display.ts'
import { renderSummary, withToolNames } from '../../progress/tree/render-summary.ts'
import { renderTree } from '../../progress/tree/render-tree.ts'
import type { OutputForm } from '../../terminal/display-options.ts'
import { exitCodeOf, exitCodeOfRun, exitCodes } from '../../terminal/exit-codes.ts'
import { InterruptedError } from '../../terminal/interruption.ts'
import { renderMarkdown, wrapText } from '../../terminal/markdown/render-markdown.ts'
import { plainPaint } from '../../terminal/paint.ts'
import type { PrintedError } from '../../terminal/print-errors.ts'
import { logRecord, type PrintTarget, printError } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { EndRequest, Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { outcomeDocument, runEnd } from '../output/run-documents.ts'
import { type EndedRun, errorOfRun } from '../output/run-error.ts'
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
  /** Whether `--strict` was given. */
  readonly isStrict?: boolean
  /** The signal that ended the command, if any. */
  readonly request?: EndRequest | undefined
}

/** Prints how a run ended in the requested output format, and returns the exit code. */
export async function reportRun(followed: Followed, reporting: Reporting): Promise<number> {
  const { outcome } = followed
  if (!outcome)
    return reportError(new InterruptedError('The run did not stop in time.', 'Its journal is kept.', reporting.request), reporting)
  const { isStrict, request } = reporting
  const denials = denialsIn(followed.events)
  const warnings = outcome.diagnostics.filter(({ severity }) => severity !== 'info')
  const exitCode = exitCodeOfRun(outcome, { denials, hasWarnings: warnings.length > 0, isStrict, request })
  const ended: ShownRun = { outcome, denials, exitCode }
  await printTree({ ...followed, denials }, reporting)
  if (needsMessage(ended, reporting)) await printError(failureOf(ended, reporting), reporting)
  await printOutcome(ended, reporting)
  return exitCode
}

interface ShownRun extends EndedRun {
  readonly outcome: Outcome
}

interface TreeOptions extends Pick<Reporting, 'host' | 'progress'> {
  /** A line below the tree. */
  readonly legend?: string
}

/** Prints the tree of the run and, for a team, the summary per agent. */
export async function printTree(
  { events, past, outcome, denials = [] }: Followed & { readonly denials?: readonly Denial[] },
  { host, progress, legend }: TreeOptions,
): Promise<void> {
  const summary = outcome && runSummary(outcome)
  const isTeam = summary !== undefined && summary.agents.length > 0
  if (progress === 'json' && (isTeam || denials.length > 0))
    await host.stderr.line(logRecord(host, { level: 'info', msg: 'summary', summary, ...(denials.length > 0 && { denials }) }))
  if (!showsTree(progress)) return
  await host.stderr.lines([
    // The live tree is erased; lines of a log are not.
    ...(progress === 'live' ? [] : ['']),
    ...renderTree(events, { paint: host.paint, width: host.width, past }),
    '',
    ...(legend === undefined ? [] : [legend, '']),
    ...(isTeam ? [...renderSummary(withToolNames(summary, events), host), ''] : []),
    ...(denials.length > 0 ? [...denials.map((denial) => host.paint('yellow', denialLine(denial))), ''] : []),
  ])
}

const denialLine = ({ agentPath, tool, by, message }: Denial): string => printable(`denied: ${agentPath} ${tool}: ${message} (${by})`)

async function printOutcome({ outcome, denials, exitCode }: ShownRun, { host, output, before, request }: Reporting): Promise<void> {
  const { stdout } = host
  const options = { before, denials, exitCode, request }
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
function needsMessage({ outcome, exitCode }: ShownRun, { progress }: Reporting): boolean {
  if (outcome.status === 'failed' || outcome.status === 'suspended') return true
  if (exitCode === exitCodes.done.code) return false
  return !showsTree(progress) || exitCodeOf(outcome) === exitCodes.done.code
}

function failureOf(ended: ShownRun, { nextSteps, request }: Reporting): PrintedError {
  const { message, remedy } = errorOfRun(ended, request)
  const { status, reason } = ended.outcome
  const isWaiting = status === 'suspended' && reason !== 'released'
  return { message, problems: [], remedy, ...nextSteps, ...(isWaiting && { isFailure: false }) }
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
