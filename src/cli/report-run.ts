import { type Outcome, TroupeError } from '../contracts/index.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import type { Followed } from './follow-run.ts'
import { type Progress, showsTree } from './live/progress.ts'
import { safeJson } from './live/safe-json.ts'
import type { OutputForm } from './parse-arguments.ts'
import { renderTree } from './render-tree.ts'
import { errorDocument, outcomeDocument, runEnd, runEndOfError } from './run-documents.ts'
import { type Told, tellError } from './tell.ts'

export interface Reporting extends Told {
  readonly output: OutputForm
  readonly progress: Progress
}

/** Tells how a run ended, to whoever asked in whatever form, and answers with the exit code. */
export async function reportRun({ events, outcome }: Followed, reporting: Reporting): Promise<number> {
  const { host, progress } = reporting
  if (!outcome) return reportOverdue(reporting)
  if (showsTree(progress)) await host.stderr.lines([...gapBefore(progress), ...renderTree(events, host), ''])
  if (outcome.status === 'failed' || outcome.status === 'suspended') await tellError(failureOf(outcome), reporting)
  await printOutcome(outcome, reporting)
  return exitCodeOf(outcome)
}

async function printOutcome(outcome: Outcome, { host: { stdout }, output }: Reporting): Promise<void> {
  switch (output) {
    case 'json':
      return stdout.line(safeJson(outcomeDocument(outcome)))
    case 'stream-json':
      return stdout.line(safeJson(runEnd(outcome)))
    case 'answer':
      return isAnswered(outcome) ? stdout.write(asLine(outcome.report?.text ?? '')) : undefined
    default:
      return output satisfies never
  }
}

async function reportOverdue(reporting: Reporting): Promise<number> {
  const { host, output } = reporting
  const { code } = exitCodes.interrupted
  const error = new TroupeError('internal', 'The run did not end in time after it was interrupted.', {
    remedy: 'What was recorded until then is kept.',
  })
  if (output === 'json') await host.stdout.line(safeJson(errorDocument(error, code)))
  if (output === 'stream-json') await host.stdout.line(safeJson(runEndOfError(error, code)))
  await tellError(error, reporting)
  return code
}

/** A live tree leaves its place to the final one; lines do not. */
export const gapBefore = (progress: Progress): readonly string[] => (progress === 'live' ? [] : [''])

const isAnswered = ({ status }: Outcome): boolean => status === 'completed' || status === 'partial'

/** The answer and a newline; one that ends its own last line gets no second one. */
export const asLine = (answer: string): string => (answer.endsWith('\n') ? answer : `${answer}\n`)

function failureOf({ message, remedy, failure, status }: Outcome): Pick<TroupeError, 'message' | 'remedy' | 'problems'> {
  return { message: message ?? failure?.message ?? status, remedy: remedy ?? failure?.remedy, problems: [] }
}
