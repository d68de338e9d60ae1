import { noUsage, type Plan, type PlanStatus, type ToolFailure, type Usage } from '../../../contracts/index.ts'
import {
  type AttemptNode,
  type CallNode,
  duration,
  elapsed,
  grouped,
  type HookNode,
  type NoteNode,
  type QueuePlace,
  type RequestNode,
  tokens,
} from '../../../view/index.ts'
import { exactLine } from '../../terminal/exact-text.ts'
import { printable } from '../../terminal/printable.ts'
import { changeText, partTexts, unsandboxedText } from './call-texts.ts'
import { blockText, hookDetails, hookRow } from './hook-rows.ts'
import { modelText } from './model-text.ts'
import { type Detail, leafRow, type Row, type RowNode } from './tree-row.ts'

/** Approximate. */
const charactersPerToken = 4

/** Usage of an attempt, estimated while it runs. */
export function usageOf({ usage, expected, characters, failure }: AttemptNode): Usage {
  if (usage) return usage
  return failure ? noUsage : { ...noUsage, input: expected, output: Math.ceil(characters / charactersPerToken), estimated: true }
}

interface AttemptPlace {
  readonly last: AttemptNode | undefined
  readonly isOpen: boolean
}

export function attemptRow(attempt: AttemptNode, { last, isOpen }: AttemptPlace): RowNode {
  const { model, failure, latencyMs, usage, span, nextAt } = attempt
  const isFinal = attempt === last && !(isOpen && nextAt !== undefined)
  const isCancelled = failure?.class === 'cancelled'
  const row: Row = {
    kind: 'attempt',
    icon: isCancelled ? '■' : isFinal ? '✗' : '↻',
    label: String(failure?.class),
    note: `${model === last?.model ? '' : `${modelText(model)} · `}${printable(failure?.message ?? '')}`,
    shade: isFinal && !isCancelled ? 'red' : 'yellow',
    ...(latencyMs !== undefined && { time: duration(latencyMs) }),
    ...(usage && usage.input + usage.output > 0 && { tokens: tokens(usage) }),
    span,
  }
  return leafRow(row, span.to)
}

/** Counts down to the next attempt. */
export function pauseRow(attempt: AttemptNode | undefined, now: number): readonly RowNode[] {
  if (attempt?.nextAt === undefined) return []
  const left = Math.max(0, attempt.nextAt - now)
  // Rounded up, so that it never shows 0.0 s.
  const row: Row = { kind: 'attempt', icon: '◷', label: `next attempt in ${elapsed(Math.ceil(left / 100) * 100)}`, shade: 'cyan' }
  return [{ ...leafRow(row, now), state: 'running' }]
}

/** The queue that the next model request waits in. */
export function queueRow({ queue, since }: QueuePlace, now: number): RowNode {
  const row: Row = { kind: 'note', icon: '◷', label: queueText(queue), shade: 'cyan', time: elapsed(Math.max(0, now - since)) }
  return { ...leafRow(row, now), state: 'waiting' }
}

export const queueText = (queue: string): string => `waiting for queue ${printable(queue)}`

/** Names the hook that blocked the call. */
export const failureText = ({ class: kind, message }: ToolFailure, hooks: readonly HookNode[]): string =>
  (kind === 'blocked' ? blockText(hooks) : undefined) ?? `${kind}: ${printable(message)}`

function failureDetails(failure: ToolFailure, hooks: readonly HookNode[]): readonly Detail[] {
  const { remedy } = failure
  const what = { text: failureText(failure, hooks), shade: 'red' as const }
  return remedy === undefined ? [what] : [what, { text: `→ ${printable(remedy)}`, shade: 'dim' }]
}

export function requestRow({ summary, scope }: RequestNode): RowNode {
  const row: Row = { kind: 'note', icon: '?', label: requestLabel(scope), note: exactLine(summary), shade: 'yellow' }
  return { ...leafRow(row, 0), state: 'running' }
}

export const requestLabel = (scope: RequestNode['scope']): string => requestLabels[scope] ?? 'approval required'
const requestLabels: { readonly [Scope in RequestNode['scope']]?: string } = { question: 'answer required', client: 'waits for the client' }

export function noteRow(note: NoteNode): RowNode {
  if ('hook' in note) return hookRow(note)
  if (!('code' in note)) return leafRow({ kind: 'note', icon: '⇣', label: 'history compacted', note: compactionText(note) }, 0)
  const { code, severity, message, remedy } = note
  const row: Row = {
    kind: 'note',
    icon: '!',
    label: code,
    note: printable(message),
    ...(severity !== 'info' && { shade: severity === 'error' ? ('red' as const) : ('yellow' as const) }),
    ...(remedy !== undefined && { details: [{ text: `→ ${printable(remedy)}`, shade: 'dim' as const }] }),
  }
  return leafRow(row, 0)
}

export const compactionText = ({ tokensBefore, tokensAfter }: { readonly tokensBefore: number; readonly tokensAfter: number }): string =>
  `${grouped(tokensBefore)} → ${grouped(tokensAfter)} tokens`

const planMarks: { readonly [Status in PlanStatus]: string } = { completed: '✓', in_progress: '▸', pending: '·' }
/** In a longer plan, completed and later steps are summarised. */
const maxPlanSteps = 8

export function planRow({ steps }: Plan, state: RowNode['state']): RowNode {
  const row: Row = { kind: 'note', icon: '☰', label: 'plan', note: planText({ steps }), details: planLines({ steps }).map(dimmed) }
  return { ...leafRow(row, 0), state }
}

/** `1 of 3 done`. */
export const planText = ({ steps }: Plan): string =>
  `${steps.filter(({ status }) => status === 'completed').length} of ${steps.length} done`

export function planLines({ steps }: Plan, maxLines = maxPlanSteps): readonly string[] {
  const open = steps.findIndex(({ status }) => status !== 'completed')
  const first = steps.length <= maxLines ? 0 : Math.max(0, Math.min(open === -1 ? steps.length : open - 1, steps.length - maxLines))
  const shown = steps.slice(first, first + maxLines)
  const later = steps.length - first - shown.length
  return [
    ...(first > 0 ? [`✓ ${first} more`] : []),
    ...shown.map(({ step, status }) => `${planMarks[status]} ${printable(step)}`),
    ...(later > 0 ? [`· ${later} more`] : []),
  ]
}

const maxFiles = 6
const maxOutputLines = 3

export function callDetails(call: CallNode, isRunning: boolean): readonly Detail[] {
  const { sandbox } = call
  const left: readonly Detail[] =
    sandbox.kind === 'outside' ? [{ text: `↗ ${unsandboxedText(sandbox.by, isRunning ? 'runs' : 'ran')}`, shade: 'yellow' }] : []
  return [...hookDetails(call.hooks), ...left, ...resultDetails(call, isRunning)]
}

function resultDetails({ error, progress, output, changes = [], parts, hooks }: CallNode, isRunning: boolean): readonly Detail[] {
  if (error) return failureDetails(error, hooks)
  if (isRunning) return [...(progress === undefined ? [] : [progress]), ...outputLines(output ?? '')].map(printable).map(dimmed)
  // A single changed file is shown in the row itself.
  const lines = [...(changes.length < 2 ? [] : changes.map(changeText)), ...partTexts(parts)]
  const left = lines.length - maxFiles
  return [...lines.slice(0, maxFiles), ...(left > 0 ? [`and ${left} more`] : [])].map(dimmed)
}

export function outputLines(output: string, maxLines = maxOutputLines): readonly string[] {
  return output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-maxLines)
}

const dimmed = (text: string): Detail => ({ text, shade: 'dim' })
