import { type Diagnostic, noUsage, type ToolFailure, type Usage } from '../../contracts/index.ts'
import { addSpent, type Spent } from '../../util/add-spent.ts'
import { duration, elapsed, plural, price, reasonText, tokens } from '../figures.ts'
import { printable, widthOf } from '../paint.ts'
import type { AgentNode, AttemptNode, CallNode, Span, StepNode, TurnNode } from '../run-tree.ts'

/** One line of the tree before it is laid out, with what belongs right below it. */
export interface Row {
  readonly kind: 'agent' | 'step' | 'call' | 'attempt' | 'note'
  readonly icon?: string
  readonly label: string
  /** Shown behind the label, quietly. */
  readonly note?: string
  readonly shade?: 'red' | 'yellow' | 'cyan' | 'bold'
  /** Of the icon alone; otherwise it has the shade of the row. */
  readonly iconShade?: 'green' | 'cyan'
  readonly mark?: string
  readonly time?: string
  readonly tokens?: string
  readonly span?: Span
  /** Lines of their own, below. */
  readonly details?: readonly Detail[]
}

/** `said` is text that is still coming: its end is shown, not its beginning. */
export type Detail =
  | { readonly text: string; readonly shade: 'red' | 'dim' }
  | { readonly said: 'text' | 'reasoning'; readonly text: string }

/** What is left to tell of branches that there is no room for. */
export interface Tally {
  readonly steps: number
  readonly calls: number
  readonly failed: number
  readonly spent: Spent
}

export interface Branch {
  readonly row: Row
  readonly children: readonly Branch[]
  /** `ended` is what has nothing below it that goes on. */
  readonly state: 'ended' | 'waiting' | 'running'
  /** When it ended. */
  readonly endedAt: number
  readonly tally: Tally
}

/** When it is looked at. `final` is a run that nobody is driving any more, or whose end is known. */
export type Moment =
  | { readonly kind: 'final' }
  | { readonly kind: 'live'; readonly now: number; readonly cancelling?: 'stop' | 'interrupt' }

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** One picture of the spinner. */
export const spinnerMs = 80
const spinnerAt = (now: number): string => spinner[Math.floor(now / spinnerMs) % spinner.length] ?? ''

const nothing: Tally = { steps: 0, calls: 0, failed: 0, spent: { usage: noUsage, cost: 0 } }

export function sumOf(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, { steps, calls, failed, spent }) => ({
      steps: sum.steps + steps,
      calls: sum.calls + calls,
      failed: sum.failed + failed,
      spent: addSpent(sum.spent, spent.usage, spent.cost),
    }),
    nothing,
  )
}

/** One turn of an agent with all that happened in it. */
export function turnBranch(agent: AgentNode, turn: TurnNode, moment: Moment): Branch {
  const isLive = moment.kind === 'live' && turn.status === 'running'
  const toolWidth = Math.min(widestTool, largest(turn.steps.flatMap((step) => step.calls.map(({ tool }) => widthOf(printable(tool))))))
  const steps = turn.steps.map((step, i) => {
    const before = turn.steps[i - 1]?.attempts.at(-1)?.model
    const isOpen = isLive && i === turn.steps.length - 1
    const place: StepPlace = { agent, before, toolWidth, moment, isOpen }
    return isLive && !isOpen ? settledBranch(step, place) : stepBranch(step, place)
  })
  const tally = sumOf(steps.map((step) => step.tally))
  const row: Row = {
    kind: 'agent',
    ...(isLive && { icon: spinnerAt(moment.now), iconShade: 'cyan' as const }),
    label: printable(agent.name),
    ...(isLive ? { ...liveHead(agent, tally, moment), time: elapsed(moment.now - turn.span.from) } : finalHead(turn)),
    span: turn.span,
  }
  return {
    row,
    children: [...agent.notes.map(noteBranch), ...steps],
    state: isLive ? 'running' : 'ended',
    endedAt: turn.span.to,
    tally,
  }
}

/** Titles line up behind names of up to this length. */
const widestTool = 24

function finalHead({ status, reason, totals, span }: TurnNode): Pick<Row, 'note' | 'shade' | 'time' | 'tokens'> {
  const why = reason === undefined || reason === status ? '' : `: ${reasonText[reason]}`
  const counts = totals ? [plural(totals.steps, 'step'), plural(totals.calls, 'call'), price(totals.cost)] : []
  return {
    note: joined([`${status}${why}`, ...counts]),
    shade: 'bold',
    time: duration(totals?.durationMs ?? span.to - span.from),
    ...(totals && { tokens: tokens(totals.usage) }),
  }
}

type LiveMoment = Extract<Moment, { kind: 'live' }>

function liveHead(agent: AgentNode, { steps, calls, spent }: Tally, { cancelling }: LiveMoment): Pick<Row, 'note' | 'shade' | 'tokens'> {
  const { usage, cost } = spent
  const shown = usage.input + usage.output > 0 ? { tokens: tokens(usage) } : {}
  if (cancelling === 'interrupt') return { note: 'interrupting… · Ctrl-C again leaves at once', shade: 'yellow', ...shown }
  const position = steps === 0 ? 'starting' : `step ${steps}${agent.maxSteps > 0 ? ` of ${agent.maxSteps}` : ''}`
  const parts = [
    cancelling === 'stop' ? 'stopping…' : '',
    position,
    calls > 0 ? plural(calls, 'call') : '',
    cost === 'unknown' ? '' : price(cost),
  ]
  return { note: joined(parts), shade: 'bold', ...shown }
}

interface StepPlace {
  readonly agent: AgentNode
  /** The model of the step before: it is named only where it changes. */
  readonly before: string | undefined
  readonly toolWidth: number
  readonly moment: Moment
  /** It is the step that the turn is at. */
  readonly isOpen: boolean
}

const settled = new WeakMap<StepNode, { readonly toolWidth: number; readonly branch: Branch }>()

/** A step that the turn has left behind changes no more: a long run is not drawn anew for each picture. */
function settledBranch(step: StepNode, place: StepPlace): Branch {
  const known = settled.get(step)
  if (known?.toolWidth === place.toolWidth) return known.branch
  const branch = stepBranch(step, place)
  if (!isBusy(branch)) settled.set(step, { toolWidth: place.toolWidth, branch })
  return branch
}

const isBusy = ({ state }: Branch): boolean => state !== 'ended'

function stepBranch(step: StepNode, place: StepPlace): Branch {
  const { moment, isOpen, toolWidth } = place
  const attempt = step.attempts.at(-1)
  const failures = step.attempts.filter(({ failure }) => failure !== undefined)
  const calls = step.calls.map((call) => callBranch(call, { step, toolWidth, moment }))
  const children = [
    ...failures.map((failed) => attemptBranch(failed, { last: attempt, isOpen })),
    ...(isOpen && moment.kind === 'live' ? pauseBranch(attempt, moment.now) : []),
    ...calls,
    ...[...step.approvals.values()].map(approvalBranch),
    ...step.notes.map(noteBranch),
    ...step.agents.flatMap((agent) => agentBranches(agent, moment)),
  ]
  const below = sumOf(children.map(({ tally }) => tally))
  const spent = step.attempts.reduce((sum, each) => addSpent(sum, usageOf(each), each.cost ?? 0), below.spent)
  return {
    row: stepRow(step, place),
    children,
    // An agent may outlive the call and the step that started it.
    state: isOpen || children.some(isBusy) ? 'running' : 'ended',
    endedAt: largest([attempt?.span.to ?? 0, ...step.calls.map(({ span }) => span.to)]),
    tally: { ...below, steps: 1, calls: step.calls.length, spent },
  }
}

function stepRow(step: StepNode, { agent, before, moment, isOpen }: StepPlace): Row {
  const attempt = step.attempts.at(-1)
  const isAsking = isOpen && attempt !== undefined && attempt.latencyMs === undefined
  const retry = isAsking && attempt.number > 1 ? `attempt ${attempt.number} of ${Math.max(attempt.number, agent.maxRetries + 1)}` : ''
  const model = attempt === undefined || attempt.model === before ? '' : printable(attempt.model)
  const base: Row = {
    kind: 'step',
    label: step.last ? `step ${step.number} · forced last answer` : `step ${step.number}`,
    note: joined([model, retry]),
    ...(step.last && { shade: 'yellow' as const }),
  }
  if (attempt === undefined || attempt.failure !== undefined) return base
  const figures = { tokens: tokens(usageOf(attempt)), span: attempt.span }
  if (attempt.latencyMs !== undefined) return { ...base, ...figures, time: duration(attempt.latencyMs) }
  if (!isAsking || moment.kind !== 'live') return { ...base, span: attempt.span }
  return {
    ...base,
    ...figures,
    icon: spinnerAt(moment.now),
    iconShade: 'cyan',
    time: elapsed(moment.now - attempt.span.from),
    ...(step.said && { details: [{ said: step.said.kind, text: step.said.text }] }),
  }
}

/** Characters that make a token, about. */
const charactersPerToken = 4

/** What an attempt has used, or is thought to have used so far. */
function usageOf({ usage, expected, characters, failure }: AttemptNode): Usage {
  if (usage) return usage
  return failure ? noUsage : { ...noUsage, input: expected, output: Math.ceil(characters / charactersPerToken), estimated: true }
}

interface AttemptPlace {
  readonly last: AttemptNode | undefined
  readonly isOpen: boolean
}

function attemptBranch(attempt: AttemptNode, { last, isOpen }: AttemptPlace): Branch {
  const { model, failure, latencyMs, usage, span, nextAt } = attempt
  const isFinal = attempt === last && !(isOpen && nextAt !== undefined)
  const isCancelled = failure?.class === 'cancelled'
  const row: Row = {
    kind: 'attempt',
    icon: isCancelled ? '■' : isFinal ? '✗' : '↻',
    label: String(failure?.class),
    note: `${model === last?.model ? '' : `${printable(model)} · `}${printable(failure?.message ?? '')}`,
    shade: isFinal && !isCancelled ? 'red' : 'yellow',
    ...(latencyMs !== undefined && { time: duration(latencyMs) }),
    ...(usage && usage.input + usage.output > 0 && { tokens: tokens(usage) }),
    span,
  }
  return leaf(row, span.to)
}

/** Counts down to the next attempt. */
function pauseBranch(attempt: AttemptNode | undefined, now: number): readonly Branch[] {
  if (attempt?.nextAt === undefined) return []
  const left = Math.max(0, attempt.nextAt - now)
  // Rounded up: it never says 0.0 s while there is something to wait for.
  const row: Row = { kind: 'attempt', icon: '◷', label: `next attempt in ${elapsed(Math.ceil(left / 100) * 100)}`, shade: 'cyan' }
  return [{ ...leaf(row, now), state: 'running' }]
}

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

interface CallPlace {
  readonly step: StepNode
  readonly toolWidth: number
  readonly moment: Moment
}

function callBranch(call: CallNode, { step, toolWidth, moment }: CallPlace): Branch {
  const { tool, title, status, error, latencyMs, span, progress, agents } = call
  const name = printable(tool)
  const said = title === tool ? '' : printable(title)
  const isRunning = status === 'running' && moment.kind === 'live'
  const isTold = status === 'completed' || status === 'failed' || isRunning
  const shade = status === 'failed' || status === 'declined' ? 'red' : 'yellow'
  const details = error
    ? failureDetails(error)
    : isRunning && progress !== undefined
      ? [{ text: printable(progress), shade: 'dim' as const }]
      : []
  const row: Row = {
    kind: 'call',
    icon: isRunning ? spinnerAt(moment.now) : callMarks[status],
    label: `${name}${' '.repeat(Math.max(0, toolWidth - widthOf(name)))}`,
    note: joined([isTold ? '' : status, said]),
    ...(status === 'completed' ? { iconShade: 'green' as const } : isRunning ? { iconShade: 'cyan' as const } : { shade }),
    ...(step.calls.some((other) => other !== call && overlap(call, other)) && { mark: '∥' }),
    ...(latencyMs !== undefined ? { time: duration(latencyMs) } : isRunning && { time: elapsed(moment.now - span.from) }),
    span,
    details,
  }
  const children = agents.flatMap((agent) => agentBranches(agent, moment))
  const below = sumOf(children.map(({ tally }) => tally))
  const isOver = status !== 'running' && status !== 'waiting'
  return {
    row,
    children,
    state: status === 'waiting' ? 'waiting' : !isOver || children.some(isBusy) ? 'running' : 'ended',
    endedAt: span.to,
    tally: { ...below, steps: 0, calls: 1, failed: shade === 'red' && isOver ? 1 : 0 },
  }
}

const agentBranches = (agent: AgentNode, moment: Moment): readonly Branch[] => agent.turns.map((turn) => turnBranch(agent, turn, moment))

function failureDetails({ class: kind, message, remedy }: ToolFailure): readonly Detail[] {
  const what = { text: `${kind}: ${printable(message)}`, shade: 'red' as const }
  return remedy === undefined ? [what] : [what, { text: `→ ${printable(remedy)}`, shade: 'dim' }]
}

function approvalBranch(summary: string): Branch {
  const row: Row = { kind: 'note', icon: '?', label: 'approval needed', note: printable(summary), shade: 'yellow' }
  return { ...leaf(row, 0), state: 'running' }
}

function noteBranch({ code, severity, message, remedy }: Diagnostic): Branch {
  const row: Row = {
    kind: 'note',
    icon: '!',
    label: code,
    note: printable(message),
    ...(severity !== 'info' && { shade: severity === 'error' ? ('red' as const) : ('yellow' as const) }),
    ...(remedy !== undefined && { details: [{ text: `→ ${printable(remedy)}`, shade: 'dim' as const }] }),
  }
  return leaf(row, 0)
}

const leaf = (row: Row, endedAt: number): Branch => ({ row, children: [], state: 'ended', endedAt, tally: nothing })

/** What is running overlaps with all that ended after it began; what waits overlaps with nothing. */
function overlap(a: CallNode, b: CallNode): boolean {
  if (a.status === 'waiting' || b.status === 'waiting') return false
  return a.span.from < endOf(b) && b.span.from < endOf(a)
}
const endOf = ({ status, span }: CallNode): number => (status === 'running' ? Number.POSITIVE_INFINITY : span.to)

const largest = (numbers: readonly number[]): number => numbers.reduce((most, each) => Math.max(most, each), 0)
const joined = (parts: readonly string[]): string => parts.filter(Boolean).join(' · ')
