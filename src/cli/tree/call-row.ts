import type { CallNode, StepNode } from '../../view/index.ts'
import { elapsed } from '../terminal/format-numbers.ts'
import { fitWidth, printable, widthOf } from '../terminal/paint.ts'
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
/** Of what was going on when nobody drove it any more. */
export const unfinishedLabel = 'not ended'
/** Of a command that ran, and ended with another code than 0. */
export const failedCommandMark = '≠'

export interface CallPlace {
  readonly step: StepNode
  readonly toolWidth: number
  readonly moment: Moment
}

/** A call as a line, without what an agent below it has to tell. */
export function callRow(call: CallNode, { step, toolWidth, moment }: CallPlace): Row {
  const { span, reason, inQueue } = call
  const name = printable(call.name)
  const about = printable(call.about)
  const status = shownStatus(call)
  const isRunning = status === 'running' && moment.kind === 'live'
  const isTold = status === 'completed' || status === 'failed' || isRunning
  const waitsFor = status === 'waiting' && moment.kind === 'live' ? inQueue : undefined
  const standing = waitsFor ? queueText(waitsFor.queue) : status === 'running' ? unfinishedLabel : status
  return {
    kind: 'call',
    label: `${name}${' '.repeat(Math.max(0, toolWidth - widthOf(name)))}`,
    about,
    note: joinParts([isTold ? '' : standing, resultOf(call), quoted(reason), call.permit ? permitText(call.permit) : '']),
    ...callStyle(call, moment),
    ...(step.calls.some((other) => other !== call && overlap(call, other)) && { mark: '∥' }),
    ...(isRunning && { time: elapsed(moment.now - span.from) }),
    ...(waitsFor && moment.kind === 'live' && { time: elapsed(Math.max(0, moment.now - waitsFor.since)) }),
    details: callDetails(call, isRunning),
  }
}

/** What tells at a glance how a call stands. */
function callStyle(call: CallNode, moment: Moment): Pick<Row, 'icon' | 'iconShade' | 'shade'> {
  const status = shownStatus(call)
  if (status === 'running' && moment.kind === 'live') return { icon: spinnerAt(moment.now), iconShade: 'cyan' }
  const icon = callMarks[status]
  if (status !== 'completed') return { icon, shade: status === 'failed' || status === 'declined' ? 'red' : 'yellow' }
  return isFailedExit(call.exitCode) ? { icon: failedCommandMark, iconShade: 'yellow' } : { icon, iconShade: 'green' }
}

/** The model's own words are told apart from ours, and are not all that there is to tell. */
export function quoted(reason: string, most = maxReasonWidth): string {
  const text = printable(reason)
  return text === '' ? '' : `“${fitWidth(text, Math.min(most, widthOf(text)))}”`
}
const maxReasonWidth = 40

/** What came of it, in a word or two: a file that has changed, a command that did not succeed. */
function resultOf({ about, changes = [], exitCode }: CallNode): string {
  const [only, ...others] = changes
  const changed = only && others.length === 0 ? (about.includes(only.path) ? lineCounts(only) : changeText(only)) : ''
  return joinParts([changed, isFailedExit(exitCode) ? `exit code ${exitCode}` : ''])
}

/** A call may wait for a queue; one that asks an agent stands in line until that agent begins; one that asks to leave the sandbox does nothing meanwhile. */
export const shownStatus = ({ status, isAgent, child, sandbox, inQueue }: CallNode): CallNode['status'] =>
  status === 'running' && (sandbox.kind === 'asking' || inQueue || (isAgent && !child)) ? 'waiting' : status

/** What is running overlaps with all that ended after it began; what waits overlaps with nothing. */
function overlap(a: CallNode, b: CallNode): boolean {
  if (shownStatus(a) === 'waiting' || shownStatus(b) === 'waiting') return false
  return a.span.from < endOf(b) && b.span.from < endOf(a)
}
const endOf = ({ status, span }: CallNode): number => (status === 'running' ? Number.POSITIVE_INFINITY : span.to)
