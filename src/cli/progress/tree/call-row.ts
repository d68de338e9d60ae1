import { type CallNode, elapsed, type StepNode, shownStatus } from '../../../view/index.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'
import { changeText, isFailedExit, lineCounts, permitText } from './call-texts.ts'
import { callDetails, queueText } from './leaf-rows.ts'
import { joinParts, type Moment, type Row, spinnerAt } from './tree-row.ts'

const callMarks: { readonly [Status in CallNode['status']]: string } = {
  completed: '✓',
  running: '…',
  waiting: '◌',
  failed: '✗',
  declined: '✗',
  interrupted: '■',
  skipped: '○',
  unknown: '?',
}
/** For calls and turns that had not ended when their process exited. */
export const unfinishedLabel = 'not ended'
/** A command that ended with another exit code than 0. */
export const failedCommandMark = '≠'

export interface CallPlace {
  readonly step: StepNode
  readonly toolWidth: number
  readonly moment: Moment
}

/** The row of a call, without its child. */
export function callRow(call: CallNode, { step, toolWidth, moment }: CallPlace): Row {
  const { span, reason, inQueue, isInClient } = call
  const name = printable(call.name)
  const about = printable(call.about)
  const status = shownStatus(call)
  const isRunning = status === 'running' && moment.kind === 'live'
  const isStatusClear = status === 'completed' || status === 'failed' || isRunning
  const waitsFor = status === 'waiting' && moment.kind === 'live' ? inQueue : undefined
  const statusText = waitsFor
    ? queueText(waitsFor.queue)
    : isInClient
      ? 'waits for the client'
      : status === 'running'
        ? unfinishedLabel
        : status
  return {
    kind: 'call',
    label: `${name}${' '.repeat(Math.max(0, toolWidth - widthOf(name)))}`,
    about,
    note: joinParts([isStatusClear ? '' : statusText, resultOf(call), quoted(reason), call.permit ? permitText(call.permit) : '']),
    ...callStyle(call, moment),
    ...(step.calls.some((other) => other !== call && overlap(call, other)) && { mark: '∥' }),
    ...(isRunning && { time: elapsed(moment.now - span.from) }),
    ...(waitsFor && moment.kind === 'live' && { time: elapsed(Math.max(0, moment.now - waitsFor.since)) }),
    details: callDetails(call, isRunning),
  }
}

function callStyle(call: CallNode, moment: Moment): Pick<Row, 'icon' | 'iconShade' | 'shade'> {
  const status = shownStatus(call)
  if (status === 'running' && moment.kind === 'live') return { icon: spinnerAt(moment.now), iconShade: 'cyan' }
  const icon = callMarks[status]
  if (status !== 'completed') return { icon, shade: status === 'failed' || status === 'declined' ? 'red' : 'yellow' }
  return isFailedExit(call.exitCode) ? { icon: failedCommandMark, iconShade: 'yellow' } : { icon, iconShade: 'green' }
}

/** Text of the model is quoted and shortened. */
export function quoted(reason: string, maxWidth = maxReasonWidth): string {
  const text = printable(reason)
  return text === '' ? '' : `“${fitWidth(text, Math.min(maxWidth, widthOf(text)))}”`
}
const maxReasonWidth = 40

/** A changed file, or the exit code of a failed command. */
function resultOf({ about, changes = [], exitCode }: CallNode): string {
  const [only, ...others] = changes
  const changed = only && others.length === 0 ? (about.includes(only.path) ? lineCounts(only) : changeText(only)) : ''
  return joinParts([changed, isFailedExit(exitCode) ? `exit code ${exitCode}` : ''])
}

/** A running call has no end yet; a waiting call overlaps with nothing. */
function overlap(a: CallNode, b: CallNode): boolean {
  if (shownStatus(a) === 'waiting' || shownStatus(b) === 'waiting') return false
  return a.span.from < endOf(b) && b.span.from < endOf(a)
}
const endOf = ({ status, span }: CallNode): number => (status === 'running' ? Number.POSITIVE_INFINITY : span.to)
