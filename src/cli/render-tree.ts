import type { Cost, InteractionEvent, ToolFailure, Usage } from '../contracts/index.ts'
import { duration, reasonText, tokens } from './figures.ts'
import { fitWidth, type Paint, printable, widthOf } from './paint.ts'
import { type AttemptNode, type CallNode, runTree, type Span, type StepNode, type TurnNode } from './run-tree.ts'

export interface TreeStyle {
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
}

/** One line of the tree, before it is laid out. */
interface Row {
  /** Glyphs that hang it into the tree. */
  readonly branch: string
  readonly icon?: string
  readonly label: string
  /** Shown behind the label, quietly. */
  readonly note?: string
  readonly shade?: 'red' | 'yellow' | 'green' | 'bold'
  readonly mark?: string
  readonly latencyMs?: number | undefined
  readonly usage?: Usage | undefined
  readonly span?: Span
  /** Lines of their own, below. */
  readonly details?: readonly { readonly text: string; readonly shade: 'red' | 'dim' }[]
}

/** Draws what happened: turn → step → call, with status, latency, tokens, and when each ran. */
export function renderTree(events: readonly InteractionEvent[], style: TreeStyle): readonly string[] {
  return runTree(events).flatMap((turn) => {
    const rows = rowsOf(turn)
    return rows.flatMap((row) => layOut(row, turn.span, style))
  })
}

function rowsOf(turn: TurnNode): readonly Row[] {
  const { totals } = turn
  const head: Row = {
    branch: '',
    label: printable(turn.agent),
    note: headline(turn),
    shade: 'bold',
    latencyMs: totals?.durationMs ?? turn.span.to - turn.span.from,
    ...(totals && { usage: totals.usage }),
    span: turn.span,
  }
  const tools = turn.steps.flatMap((step) => step.calls.map(({ tool }) => widthOf(printable(tool))))
  const toolWidth = Math.min(widestTool, Math.max(0, ...tools))
  return [
    head,
    ...turn.steps.flatMap((step, i) => {
      const before = turn.steps[i - 1]?.attempts.at(-1)?.model
      return stepRows(step, { isLast: i === turn.steps.length - 1, before, toolWidth })
    }),
  ]
}

/** Titles line up behind names of up to this length. */
const widestTool = 24

interface Neighbours {
  readonly isLast: boolean
  /** The model of the step before: it is named only where it changes. */
  readonly before: string | undefined
  readonly toolWidth: number
}

function headline({ status, reason, totals }: TurnNode): string {
  const counts = totals ? ` · ${plural(totals.steps, 'step')} · ${plural(totals.calls, 'call')}${price(totals.cost)}` : ''
  const why = reason === undefined || reason === status ? '' : `: ${reasonText[reason]}`
  return `${status}${why}${counts}`
}

function stepRows(step: StepNode, { isLast, before, toolWidth }: Neighbours): readonly Row[] {
  const attempt = step.attempts.at(-1)
  const failures = step.attempts.filter(({ failure }) => failure !== undefined)
  const children = [...failures.map((each) => attemptRow(each, attempt)), ...step.calls.map((call) => callRow(call, toolWidth))]
  const head: Row = {
    branch: isLast ? '└─ ' : '├─ ',
    label: step.last ? `step ${step.number} · forced last answer` : `step ${step.number}`,
    note: attempt === undefined || attempt.model === before ? '' : printable(attempt.model),
    ...(step.last && { shade: 'yellow' as const }),
    ...(attempt && attempt.failure === undefined && { latencyMs: attempt.latencyMs, usage: attempt.usage, span: attempt.span }),
  }
  const stem = isLast ? '   ' : '│  '
  return [head, ...children.map((row, i) => ({ ...row, branch: `${stem}${i === children.length - 1 ? '└─ ' : '├─ '}` }))]
}

function attemptRow(attempt: AttemptNode, last: AttemptNode | undefined): Row {
  const { model, failure, latencyMs, usage, span } = attempt
  const isFinal = attempt === last
  const isCancelled = failure?.class === 'cancelled'
  return {
    branch: '',
    icon: isCancelled ? '■' : isFinal ? '✗' : '↻',
    label: String(failure?.class),
    note: `${model === last?.model ? '' : `${printable(model)} · `}${printable(failure?.message ?? '')}`,
    shade: isFinal && !isCancelled ? 'red' : 'yellow',
    latencyMs,
    ...(usage && usage.input + usage.output > 0 && { usage }),
    span,
  }
}

const callMarks: { readonly [Status in CallNode['status']]: string } = {
  completed: '✓',
  running: '…',
  failed: '✗',
  declined: '✗',
  interrupted: '■',
  skipped: '○',
  unknown: '?',
}

function callRow({ tool, title, status, error, latencyMs, span, parallel }: CallNode, toolWidth: number): Row {
  const said = title === tool ? '' : printable(title)
  const name = printable(tool)
  return {
    branch: '',
    icon: callMarks[status],
    label: `${name}${' '.repeat(Math.max(0, toolWidth - widthOf(name)))}`,
    note: [status === 'completed' || status === 'failed' ? '' : status, said].filter(Boolean).join(' · '),
    ...(status !== 'completed' && { shade: status === 'failed' || status === 'declined' ? ('red' as const) : ('yellow' as const) }),
    ...(parallel && { mark: '∥' }),
    latencyMs,
    span,
    ...(error && { details: detailsOf(error) }),
  }
}

function detailsOf({ class: kind, message, remedy }: ToolFailure): NonNullable<Row['details']> {
  const what = { text: `${kind}: ${printable(message)}`, shade: 'red' as const }
  return remedy === undefined ? [what] : [what, { text: `→ ${printable(remedy)}`, shade: 'dim' }]
}

const latencyWidth = 8
const tokensWidth = 12
const barWidth = 18
/** Below this a terminal is too narrow for bars. */
const leastForBars = 90

function layOut(row: Row, whole: Span, { paint, width }: TreeStyle): readonly string[] {
  const hasBar = width >= leastForBars
  const figures = ` ${row.mark ? paint('cyan', row.mark) : ' '} ${(row.latencyMs === undefined ? '' : duration(row.latencyMs)).padStart(latencyWidth)}  ${(row.usage ? tokens(row.usage) : '').padStart(tokensWidth)}`
  const bar = hasBar && row.span ? `  ${paint('dim', '▏')}${barOf(row, whole, paint)}${paint('dim', '▕')}` : ''
  const taken = 3 + latencyWidth + 2 + tokensWidth + (hasBar ? barWidth + 4 : 0) + 1
  const icon = row.icon === undefined ? '' : `${row.icon} `
  const room = Math.max(16, width - taken - row.branch.length - icon.length)
  const text = fitWidth(row.note ? `${row.label}  ${row.note}` : row.label, room)
  const label = text.slice(0, row.label.length)
  const shaded = (shade: Row['shade'], part: string): string => (shade ? paint(shade, part) : part)
  const head = `${paint('dim', row.branch)}${shaded(row.shade ?? (icon === '✓ ' ? 'green' : undefined), icon)}${shaded(row.shade, label)}${paint('dim', text.slice(label.length))}`
  return [`${head}${figures}${bar}`.trimEnd(), ...detailLines(row, paint, width)]
}

function detailLines({ branch, details = [] }: Row, paint: Paint, width: number): readonly string[] {
  const indent = `${branch.replace('├', '│').replace('└', ' ').replaceAll('─', ' ')}  `
  return details.map(
    ({ text, shade }) => `${paint('dim', indent)}${paint(shade, fitWidth(text, Math.max(16, width - indent.length - 1)).trimEnd())}`,
  )
}

/** When it ran, against the whole turn. */
function barOf({ span, shade, branch }: Row, whole: Span, paint: Paint): string {
  const scale = barWidth / Math.max(1, whole.to - whole.from)
  const from = Math.min(barWidth - 1, Math.max(0, Math.floor(((span?.from ?? 0) - whole.from) * scale)))
  const to = Math.min(barWidth, Math.max(from + 1, Math.round(((span?.to ?? 0) - whole.from) * scale)))
  const isCall = branch.length > 3
  const bar = (branch === '' ? '─' : isCall ? '█' : '▒').repeat(to - from)
  return ' '.repeat(from) + paint(shade === 'red' ? 'red' : isCall ? 'cyan' : 'dim', bar) + ' '.repeat(barWidth - to)
}

function price(cost: Cost): string {
  if (cost === 'unknown') return ' · cost unknown'
  return cost === 0 ? '' : ` · $${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`
}

const plural = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
