import type { Outcome, Report } from '../../../contracts/index.ts'
import { turnEndTexts } from '../../../policy/limit-texts.ts'
import type { StartDiagnostic } from '../../../project/index.ts'
import { joinNames } from '../../../util/join-names.ts'
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
  const ended: Ended = { outcome, denials, exitCode }
  await printTree({ ...followed, denials }, reporting)
  if (needsMessage(ended, reporting)) await printError(failureOf(ended, reporting), reporting)
  await printOutcome(ended, reporting)
  return exitCode
}

interface Ended {
  readonly outcome: Outcome
  readonly denials: readonly Denial[]
  readonly exitCode: number
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

async function printOutcome({ outcome, denials, exitCode }: Ended, { host, output, before }: Reporting): Promise<void> {
  const { stdout } = host
  const options = { before, denials, exitCode }
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
function needsMessage({ outcome, exitCode }: Ended, { progress }: Reporting): boolean {
  if (outcome.status === 'failed' || outcome.status === 'suspended') return true
  if (exitCode === exitCodes.done.code) return false
  return !showsTree(progress) || exitCodeOf(outcome) === exitCodes.done.code
}

function failureOf({ outcome, denials, exitCode }: Ended, { nextSteps, request }: Reporting): PrintedError {
  const { failure, reason } = outcome
  if (exitCodeOf(outcome, request) === exitCodes.done.code) return exitCode === exitCodes.approval.code ? deniedText(denials) : strictText
  const message = reason === 'released' && request !== undefined ? stopTexts[request] : outcome.message
  const remedy = outcome.remedy ?? failure?.remedy ?? limitRemedy(outcome)
  const isWaiting = outcome.status === 'suspended' && reason === 'approval'
  if (isWaiting) return { message: suspendedText, problems: [], remedy, ...nextSteps, isFailure: false }
  const said = message ?? failure?.message ?? endingText(outcome)
  return { message: said, problems: [], remedy, ...nextSteps, ...(reason === 'input' && { isFailure: false }) }
}

/** The agent has answered, but the run does not count as done. */
function deniedText(denials: readonly Denial[]): PrintedError {
  const unavailable = denials.filter(({ kind }) => kind === 'unavailable')
  const tools = joinNames([...new Set((unavailable.length > 0 ? unavailable : denials).map(({ tool }) => tool))])
  if (unavailable.length === 0)
    return { message: `Calls were denied, and --strict allows no denial: ${tools}.`, problems: [], remedy: undefined }
  const remedy = 'Allow them in advance with --allow PATTERN, or run the agent on a terminal.'
  return { message: `Calls were denied because nobody could be asked: ${tools}.`, problems: [], remedy }
}

const strictText: PrintedError = {
  message: 'There were warnings, and --strict allows none.',
  problems: [],
  remedy: 'Fix what they name, or run without --strict.',
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
