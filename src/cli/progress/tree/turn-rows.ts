import { addSpent } from '../../../contracts/index.ts'
import { answerNeeded, turnEndTexts } from '../../../policy/limit-texts.ts'
import { plural } from '../../../util/plural.ts'
import {
  type AgentNode,
  agentTimes,
  type CallNode,
  duration,
  elapsed,
  failedInside,
  isRunning,
  price,
  type StepNode,
  shownStatus,
  stepName,
  type TurnNode,
  taskText,
  tokens,
  turnTimes,
  waitingText,
  workOf,
} from '../../../view/index.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'
import { type CallPlace, callRow, quoted, unfinishedLabel } from './call-row.ts'
import { rejectedRow } from './hook-rows.ts'
import { attemptRow, noteRow, pauseRow, planRow, queueRow, requestRow, usageOf } from './leaf-rows.ts'
import { modelText } from './model-text.ts'
import { joinParts, type Moment, type Row, type RowNode, type RowTotals, spinnerAt, sumOf } from './tree-row.ts'

export function turnRow(agent: AgentNode, turn: TurnNode, moment: Moment): RowNode {
  const { children, tally, isLive } = turnContents(agent, turn, moment)
  const row: Row = {
    kind: 'agent',
    label: printable(agent.name),
    about: shortTask(taskText(agent)),
    shade: turn.cancelling === 'interrupt' && isLive ? 'yellow' : 'bold',
    ...(isLive && moment.kind === 'live'
      ? {
          icon: spinnerAt(moment.now),
          iconShade: 'cyan' as const,
          ...(turn.cancelling === 'interrupt'
            ? { note: 'interrupting… · Ctrl-C again to exit now' }
            : progressNotes(agent, turn, { tally, now: moment.now })),
          ...(hasTokens(tally) && { tokens: tokens(tally.spent.usage) }),
          time: elapsed(workOf(turnTimes(turn, moment.now))),
        }
      : {
          ...endedNotes(turn, tally),
          ...(turn.totals && { tokens: tokens(turn.totals.usage) }),
          time: duration(workOf(turnTimes(turn))),
        }),
    span: turn.span,
  }
  return { row, children, state: isLive ? 'running' : 'ended', endedAt: turn.span.to, tally }
}

interface TurnContents {
  readonly children: readonly RowNode[]
  readonly tally: RowTotals
  readonly isLive: boolean
}

function turnContents(agent: AgentNode, turn: TurnNode, moment: Moment): TurnContents {
  const isLive = moment.kind === 'live' && isRunning(turn)
  const toolWidth = Math.min(maxToolWidth, maxOf([...turn.toolNames].map((name) => widthOf(printable(name)))))
  const steps = turn.steps.map((step, i) => {
    const before = turn.steps[i - 1]?.attempts.at(-1)?.model
    const isOpen = isLive && i === turn.steps.length - 1
    const isLast = !isLive && i === turn.steps.length - 1
    const place: StepPlace = { agent, turn, before, toolWidth, moment, isOpen, isLast }
    const draw = (): RowNode => stepRowNode(step, place)
    const mayChange = isOpen || step.calls.some(({ isSpawned }) => isSpawned)
    return isLive && !mayChange ? cachedRow(step, toolWidth, draw) : draw()
  })
  // A spawned child shows all its turns below one call.
  const notes = agent.label !== '' && turn !== agent.turns[0] ? [] : agent.notes
  const plan = turn.plan ? [planRow(turn.plan, isLive ? 'running' : 'ended')] : []
  const inQueue = isLive && turn.inQueue ? [queueRow(turn.inQueue, moment.now)] : []
  return {
    children: [...notes.map(noteRow), ...plan, ...steps, ...inQueue],
    tally: sumOf(steps.map((step) => step.tally)),
    isLive,
  }
}

type Notes = Pick<Row, 'note' | 'shorterNotes'>

/** The shorter notes keep what failed inside, and the waiting time. Without those there are none. */
function notesOf(note: readonly string[], ...shorter: readonly [...(readonly string[])[], readonly string[]]): Notes {
  const texts = shorter.map(joinParts) as [...string[], string]
  return { note: joinParts(note), ...(texts.at(-1) !== '' && { shorterNotes: texts }) }
}

function endedNotes(turn: TurnNode, tally: RowTotals): Notes {
  const [ending, outside, counts, waiting] = [turnEnding(turn), unsandboxedCount(tally), turnCounts(turn), waitingText(turnTimes(turn))]
  if (waiting === '') return { note: joinParts([ending, outside, counts]) }
  return notesOf([ending, outside, counts, waiting], [ending, outside, waiting], [ending, waiting])
}

/** Subjects are aligned behind names of up to this width. */
const maxToolWidth = 24

function turnEnding({ status, reason, waits }: TurnNode): string {
  if (status === 'running') return unfinishedLabel
  if (waits?.needs === 'answer') return `${status}: ${answerNeeded}`
  return reason === undefined || reason === status ? status : `${status}: ${turnEndTexts[reason].status}`
}

function turnCounts({ totals }: TurnNode): string {
  if (!totals) return ''
  const { steps, calls, cost } = totals
  return joinParts([plural(steps, 'step'), calls > 0 ? plural(calls, 'call') : '', price(cost)])
}

const unsandboxedCount = ({ outside }: RowTotals): string => (outside > 0 ? `${outside} outside the sandbox` : '')

const hasTokens = ({ spent: { usage } }: RowTotals): boolean => usage.input + usage.output > 0

interface Progress {
  readonly tally: RowTotals
  readonly now: number
  /** For a child: shown before and behind its own progress. */
  readonly speaks?: string
  readonly inside?: string
  readonly reason?: string
}

function progressNotes(agent: AgentNode, turn: TurnNode, { tally, now, speaks = '', inside = '', reason = '' }: Progress): Notes {
  const { calls, spent } = tally
  const { maxSteps } = agent
  const { cancelling, steps } = turn
  const position = steps.length === 0 ? 'starting' : `${stepName(agent, turn, steps.length)}${maxSteps > 0 ? ` of ${maxSteps}` : ''}`
  const ending = cancelling === 'stop' ? 'stopping…' : cancelling === 'interrupt' ? 'interrupting…' : ''
  const called = calls > 0 ? plural(calls, 'call') : ''
  const waiting = waitingText(turnTimes(turn, now))
  const state = [inside, ending, unsandboxedCount(tally), waiting]
  const cost = spent.cost === 'unknown' ? '' : price(spent.cost)
  return notesOf([speaks, ...state, position, called, cost, reason], [...state, position], state, [inside, waiting])
}

interface StepPlace {
  readonly agent: AgentNode
  readonly turn: TurnNode
  /** Model of the step before: it is named only when it changes. */
  readonly before: string | undefined
  readonly toolWidth: number
  readonly moment: Moment
  /** The current step of a running turn. */
  readonly isOpen: boolean
  /** The last step of an ended turn. */
  readonly isLast: boolean
}

const settled = new WeakMap<StepNode | CallNode, { readonly toolWidth: number; readonly branch: RowNode }>()

/** Rows of what has ended are drawn once: a step may have thousands of calls, and a turn many steps. */
function cachedRow(node: StepNode | CallNode, toolWidth: number, draw: () => RowNode): RowNode {
  const known = settled.get(node)
  if (known?.toolWidth === toolWidth) return known.branch
  const branch = draw()
  if (!isBusy(branch)) settled.set(node, { toolWidth, branch })
  return branch
}

const isBusy = ({ state }: RowNode): boolean => state !== 'ended'

function stepRowNode(step: StepNode, place: StepPlace): RowNode {
  const { moment, isOpen, toolWidth } = place
  const attempt = step.attempts.at(-1)
  const failures = step.attempts.filter(({ failure }) => failure !== undefined)
  const calls = step.calls.map((call) => {
    const draw = (): RowNode => callRowNode(call, { step, toolWidth, moment })
    return moment.kind === 'final' ? draw() : cachedRow(call, toolWidth, draw)
  })
  const children = [
    ...failures.map((failed) => attemptRow(failed, { last: attempt, isOpen })),
    ...(isOpen && moment.kind === 'live' ? pauseRow(attempt, moment.now) : []),
    ...calls,
    ...[...step.requests.values()].map(requestRow),
    ...(step.rejected ? [rejectedRow(step.rejected, place.isLast)] : []),
    ...step.notes.map(noteRow),
  ]
  const below = sumOf(children.map(({ tally }) => tally))
  const spent = step.attempts.reduce((sum, each) => addSpent(sum, usageOf(each), each.cost ?? 0), below.spent)
  return {
    row: stepRow(step, place),
    children,
    state: isOpen || children.some(isBusy) ? 'running' : 'ended',
    endedAt: maxOf([attempt?.span.to ?? 0, ...step.calls.map(({ span }) => span.to)]),
    tally: { ...below, steps: 1, calls: step.calls.length, spent },
  }
}

function stepRow(step: StepNode, { agent, turn, before, moment, isOpen }: StepPlace): Row {
  const attempt = step.attempts.at(-1)
  const isAsking = isOpen && attempt !== undefined && attempt.latencyMs === undefined
  const retry = isAsking && attempt.number > 1 ? `attempt ${attempt.number} of ${Math.max(attempt.number, agent.maxRetries + 1)}` : ''
  const model = attempt === undefined || attempt.model === before ? '' : modelText(attempt.model)
  const base: Row = {
    kind: 'step',
    label: `${stepName(agent, turn, step.number)}${step.last ? ' · forced last answer' : ''}`,
    note: joinParts([model, retry]),
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
    ...(step.streamed && { details: [{ streamed: step.streamed.kind, text: step.streamed.text }] }),
  }
}

export function callRowNode(call: CallNode, place: CallPlace): RowNode {
  const { latencyMs, span, child } = call
  const status = shownStatus(call)
  const turn = child?.turns.at(-1)
  const contents = child && turn ? callContents(call, childContents(child, turn, place.moment), place.moment) : undefined
  const isOver = status !== 'running' && status !== 'waiting'
  const { children = [], tally = sumOf([]) } = contents ?? {}
  const row: Row = {
    ...callRow(call, place),
    ...(child && turn && contents && childRow(call, { child, turn, contents, moment: place.moment })),
    ...(latencyMs !== undefined && !turn && { time: duration(latencyMs) }),
    span,
  }
  return {
    row,
    children,
    state: status === 'waiting' ? 'waiting' : !isOver || children.some(isBusy) ? 'running' : 'ended',
    endedAt: span.to,
    tally: {
      steps: 0,
      calls: 1,
      failed: status === 'failed' || status === 'declined' ? 1 : 0,
      outside: tally.outside + (call.sandbox.kind === 'outside' ? 1 : 0),
      spent: tally.spent,
    },
  }
}

/** Several children of a call have a row each. */
function callContents({ child, earlier }: CallNode, only: TurnContents, moment: Moment): TurnContents {
  if (!child || !earlier) return only
  const rows = [...earlier, child].flatMap((agent) => agent.turns.map((turn) => turnRow(agent, turn, moment)))
  return { children: rows, tally: sumOf(rows.map(({ tally }) => tally)), isLive: rows.some(isBusy) }
}

/** The turns of a child, one below the other. */
function childContents(child: AgentNode, last: TurnNode, moment: Moment): TurnContents {
  if (child.turns.length === 1) return turnContents(child, last, moment)
  const turns = child.turns.map((turn) => turnContents(child, turn, moment))
  return {
    children: turns.flatMap(({ children }) => children),
    tally: sumOf(turns.map(({ tally }) => tally)),
    isLive: turns.some(({ isLive }) => isLive),
  }
}

interface Child {
  readonly child: AgentNode
  readonly turn: TurnNode
  readonly contents: TurnContents
  readonly moment: Moment
}

/** The progress or the ending of the child. */
function childRow(
  call: CallNode,
  { child, turn, contents, moment }: Child,
): Pick<Row, 'kind' | 'about' | 'note' | 'shorterNotes' | 'tokens' | 'time' | 'shade'> {
  const about = shortTask(call.about || taskText(child))
  const { tally, isLive } = contents
  const failed = failedInside(call)
  const inside = failed > 0 ? `${failed} failed inside` : ''
  const speaks = call.speaks ? speaksLabel : ''
  if (isLive && moment.kind === 'live') {
    const { now } = moment
    const notes = progressNotes(child, turn, { tally, now, speaks, inside, reason: quoted(call.reason) })
    const time = elapsed(workOf(agentTimes(child, now)))
    return { kind: 'child', about, ...notes, time, ...(hasTokens(tally) && { tokens: tokens(tally.spent.usage) }) }
  }
  const { status, totals } = turn
  const turns = child.turns.length
  const times = agentTimes(child)
  const counts = turns > 1 ? plural(turns, 'turn') : turnCounts(turn)
  const waiting = waitingText(times)
  const state = [status === 'completed' ? '' : turnEnding(turn), inside, unsandboxedCount(tally), waiting]
  const used = turns > 1 ? tally.spent.usage : totals?.usage
  return {
    kind: 'child',
    about,
    ...notesOf([speaks, ...state, counts, quoted(call.reason)], [...state, counts], state, [inside, waiting]),
    ...(status === 'partial' && { shade: 'yellow' as const }),
    ...(used && { tokens: tokens(used) }),
    time: duration(workOf(times)),
  }
}

function shortTask(text: string): string {
  const task = printable(text)
  return fitWidth(task, Math.min(maxTaskWidth, widthOf(task)))
}

/** For a child that talks to the person. */
const speaksLabel = 'talks to you'

/** Leaves room for the progress of the child. */
const maxTaskWidth = 40

const maxOf = (numbers: readonly number[]): number => numbers.reduce((max, each) => Math.max(max, each), 0)
