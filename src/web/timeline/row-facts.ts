import type { Spent } from '../../contracts/index.ts'
import { answerNeeded, turnEndTexts } from '../../policy/limit-texts.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import {
  type AgentNode,
  type AttemptNode,
  agentTimes,
  type CallNode,
  callTimes,
  childrenOf,
  isRunning,
  type NoteNode,
  type RequestNode,
  type Span,
  type StepNode,
  shownStatus,
  shownTurnStatus,
  spentByAttempts,
  spentByTurns,
  type TurnNode,
  taskText,
  turnTimes,
} from '../../view/index.ts'
import { callProblem, callStatus } from '../ui/call-status.ts'
import type { MarkStatus } from '../ui/status-mark.tsx'
import type { Operation, Row } from './rows.ts'

/** What the time went to. */
type SegmentKind = 'model' | 'tool' | 'child' | 'client' | 'approval' | 'queue'

export interface Segment extends Span {
  readonly kind: SegmentKind
  readonly isFailed?: boolean
  /** It grows. */
  readonly isOpen?: boolean
}

/** What a row shows. */
export interface RowFacts extends Named {
  /** Subject, in one line. May be empty. */
  readonly about: string
  readonly segments: readonly Segment[]
  /** From start to end; of an agent, a turn or a call of an agent with the part of it that was no work. */
  readonly durationMs: number
  readonly waitedMs?: number
  readonly spent?: Spent | undefined
  readonly notes: readonly NoteNode[]
}

interface Named {
  readonly name: string
  readonly status: MarkStatus
  /** Why it failed, in a word or two. */
  readonly problem?: string | undefined
}

const none: readonly never[] = []

/** The time is read only if the row changes with it. */
export function factsOf(of: Operation, now: { readonly value: number }): RowFacts {
  const named = nameOf(of)
  const { status } = named
  const isLive = status === 'running' || status === 'waiting' || status === 'suspended'
  const segments = segmentsOf(of, isLive ? now.value : 0)
  const notes = of.kind === 'step' ? of.step.notes : of.kind === 'agent' ? of.agent.notes : none
  return { ...named, about: aboutOf(of), segments, ...figuresOf(of, segments, isLive ? now.value : undefined), notes }
}

export const isGrowing = ({ segments }: RowFacts): boolean => segments.some(({ isOpen }) => isOpen)

export function nameOf(of: Operation): Named {
  switch (of.kind) {
    case 'agent':
      return { name: of.agent.name, status: turnMark(of.agent.turns.at(-1)) }
    case 'turn': {
      const { number, inQueue, reason, waits } = of.turn
      const problem = waits?.needs === 'answer' ? answerNeeded : reason && turnEndTexts[reason].status
      return { name: `turn ${number}`, status: inQueue ? 'waiting' : turnMark(of.turn), problem }
    }
    case 'step':
      return {
        name: nameOfStep(of.agent, of.turn, of.step),
        status: stepStatus(of.step, of.turn),
        problem: of.step.rejected && 'invalid output',
      }
    case 'attempt':
      return { name: `attempt ${of.attempt.number}`, status: 'failed', problem: of.attempt.failure?.class.replaceAll('_', ' ') }
    case 'call': {
      const { name, child, isSpawned } = of.call
      const reason = isSpawned ? child?.turns.at(-1)?.reason : undefined
      return { name, status: callStatus(of.call), problem: callProblem(of.call) ?? (reason && turnEndTexts[reason].status) }
    }
    case 'request': {
      const { request, scope } = of.request
      return { name: request?.tool ?? 'request', status: 'suspended', problem: scope === 'question' ? answerNeeded : 'approval required' }
    }
  }
}

const turnMark = (turn: TurnNode | undefined): MarkStatus => (turn ? shownTurnStatus(turn) : 'waiting')

export function aboutOf(of: Operation): string {
  switch (of.kind) {
    case 'agent':
      return taskText(of.agent) || (of.agent.spec?.description ?? '')
    case 'turn':
      return firstLine(inputText(of.agent, of.turn))
    case 'step':
      return firstLine(of.step.words ?? of.step.texts.at(-1)?.text ?? '')
    case 'attempt':
      return of.attempt.model
    case 'call': {
      const { about, progress, latencyMs } = of.call
      return (latencyMs === undefined && progress) || about || taskText(of.call.child ?? {})
    }
    case 'request':
      return of.request.summary
  }
}

/** `claude-sonnet · replies`. All turns of a child are below one call: a further one is named. */
function nameOfStep({ label }: AgentNode, turn: TurnNode, step: StepNode): string {
  // A script is a file.
  const model = (step.attempts.at(-1)?.model ?? '').replace(/(?:\.script)?\.ya?ml$/, '')
  const which = label === '' || turn.number === 1 ? [] : [`turn ${turn.number}`]
  return [...which, model.slice(model.lastIndexOf('/') + 1), doneBy(step)].filter(Boolean).join(' · ')
}

function doneBy({ attempts, calls, requests, texts }: StepNode): string {
  const agents = new Set(calls.flatMap(({ isAgent, name }) => (isAgent ? [name] : [])))
  const tools = new Set(calls.flatMap(({ isAgent, name }) => (isAgent ? [] : [name])))
  for (const { request } of requests.values()) if (request && !agents.has(request.tool)) tools.add(request.tool)
  const parts = [agents.size > 0 && `asks ${few(agents, 'agents')}`, tools.size > 0 && `calls ${few(tools, 'tools')}`].filter(Boolean)
  if (parts.length > 0) return parts.join(', ')
  const { latencyMs, failure } = attempts.at(-1) ?? {}
  if (failure) return 'no reply'
  if (latencyMs === undefined) return texts.some(({ type }) => type === 'agent_message') ? 'writes' : 'thinks'
  return 'replies'
}

const few = (names: ReadonlySet<string>, noun: string): string => (names.size <= 2 ? [...names].join(', ') : `${names.size} ${noun}`)

/** The messages that began a turn. */
export const inputText = ({ messages }: AgentNode, { inputs }: TurnNode): string =>
  textOfParts(messages.filter(({ id }) => inputs.includes(id)).flatMap(({ parts }) => parts))

/** Without the marks of markdown. */
const firstLine = (text: string): string =>
  text
    .slice(0, 400)
    .trim()
    .split('\n', 1)[0]
    ?.replace(/[*`#]+/g, '') ?? ''

function stepStatus({ attempts, requests, open, rejected }: StepNode, turn: TurnNode): MarkStatus {
  const attempt = attempts.at(-1)
  const isLive = turn.status === 'running' || turn.status === 'suspended'
  if (requests.size > 0 || (open.size > 0 && turn.status === 'suspended' && !isRunning(turn)))
    return requests.size > 0 ? 'suspended' : turnMark(turn)
  if (isLive && (attempt?.latencyMs === undefined || open.size > 0 || isRetried(attempt, attempts, turn))) return 'running'
  if (attempt?.latencyMs === undefined) return 'interrupted'
  return attempt.failure ? 'failed' : rejected ? 'warning' : 'completed'
}

/** A further attempt follows. */
const isRetried = (attempt: AttemptNode, attempts: readonly AttemptNode[], { status }: TurnNode): boolean =>
  attempt !== attempts.at(-1) || (attempt.failure !== undefined && status === 'running')

const isFailure = (status: MarkStatus): boolean => status === 'failed' || status === 'declined' || status === 'unknown'

function segmentsOf(of: Operation, now: number): readonly Segment[] {
  switch (of.kind) {
    case 'agent':
      return of.agent.turns.flatMap((turn) => turnSegments(turn, now))
    case 'turn':
      return turnSegments(of.turn, now)
    case 'step':
      return of.step.attempts.flatMap((attempt, i) => attemptSegments(attempt, of.step.attempts[i + 1], { turn: of.turn, now }))
    case 'attempt':
      return attemptSegments(of.attempt, undefined, { turn: of.turn, now }).slice(0, 1)
    case 'call':
      return callSegments(of.call, of.turn, now)
    case 'request':
      return [waitSegment(of.request, now)]
  }
}

function turnSegments(turn: TurnNode, now: number): readonly Segment[] {
  const { span, status, inQueue } = turn
  const isOpen = isRunning(turn)
  const worked: Segment = { kind: 'child', from: span.from, to: isOpen ? now : span.to, isOpen, isFailed: status === 'failed' }
  const waits: readonly Segment[] = inQueue ? [{ kind: 'queue', from: inQueue.since, to: now, isOpen: true }] : none
  if (status !== 'suspended' || isOpen) return [worked, ...waits]
  return [worked, { kind: turn.reason === 'client' ? 'client' : 'approval', from: span.to, to: now, isOpen: true }]
}

function attemptSegments(
  { span, latencyMs, failure, nextAt }: AttemptNode,
  next: AttemptNode | undefined,
  { turn, now }: { readonly turn: TurnNode; readonly now: number },
): readonly Segment[] {
  const isOpen = latencyMs === undefined && turn.status === 'running'
  const end = isOpen ? now : latencyMs === undefined ? turn.span.to : span.to
  const asked: Segment = { kind: 'model', from: span.from, to: end, isOpen, isFailed: failure !== undefined }
  if (nextAt === undefined || !failure) return [asked]
  const waits = !next && turn.status === 'running'
  return [asked, { kind: 'queue', from: span.to, to: next?.span.from ?? (waits ? Math.min(now, nextAt) : span.to), isOpen: waits }]
}

const waitSegment = ({ at, answer }: RequestNode, end: number, isOpen = true): Segment => ({
  kind: 'approval',
  from: at,
  to: answer?.at ?? end,
  isOpen: !answer && isOpen,
})

/** Less is no wait: calls of a step start one after the other. */
const minQueueMs = 10

/** Waits for people and in queues, and between them the work. No two overlap. */
function callSegments(call: CallNode, turn: TurnNode, now: number): readonly Segment[] {
  const { asked, readyAt, span, latencyMs, isAgent, child } = call
  const isLive = turn.status === 'running' || turn.status === 'suspended'
  const childTurn = child?.turns.at(-1)
  const isOpen = latencyMs === undefined ? isLive : call.isSpawned === true && childTurn !== undefined && isRunning(childTurn)
  const end = isOpen ? now : Math.max(span.to, latencyMs === undefined ? turn.span.to : 0, call.isSpawned ? (childTurn?.span.to ?? 0) : 0)
  // Nobody answered what the call asked before it ended.
  if (call.lane.kind === 'client') return [{ kind: 'client', from: readyAt, to: end, isOpen, isFailed: isFailure(callStatus(call)) }]
  const waits = asked.map((request) => waitSegment(request, end, isOpen))
  if (isOpen && shownStatus(call) === 'waiting' && waits.every((wait) => !wait.isOpen))
    return [...waits, { kind: 'queue', from: readyAt, to: now, isOpen }]
  const queued: readonly Segment[] = span.from - readyAt >= minQueueMs ? [{ kind: 'queue', from: readyAt, to: span.from }] : none
  const work = { kind: isAgent ? 'child' : 'tool', isFailed: isFailure(callStatus(call)) } as const
  const worked: Segment[] = []
  let from = span.from
  for (const wait of isAgent ? none : waits) {
    if (wait.from > from) worked.push({ ...work, from, to: Math.min(wait.from, end) })
    from = Math.max(from, wait.to)
  }
  if (from <= end || worked.length === 0) worked.push({ ...work, from: Math.min(from, end), to: end, isOpen })
  return [...waits, ...queued, ...worked]
}

/** Spans in which a model or a tool ran. */
export function activeSpans(rows: readonly Row[], now: number): readonly Span[] {
  const spans: Span[] = []
  for (const { of } of rows) {
    if (of.kind !== 'step' && (of.kind !== 'call' || of.call.child)) continue
    for (const segment of settledSegments(of, now)) if (segment.kind === 'model' || segment.kind === 'tool') spans.push(segment)
  }
  return spans
}

const settled = new WeakMap<StepNode | CallNode, readonly Segment[]>()

/** Most of a long run has ended, and does not change. */
function settledSegments(of: Extract<Operation, { kind: 'step' | 'call' }>, now: number): readonly Segment[] {
  const node = of.kind === 'step' ? of.step : of.call
  const known = settled.get(node)
  if (known) return known
  const segments = segmentsOf(of, now)
  const isSettled = of.kind === 'step' ? of.turn.steps.at(-1) !== of.step : of.call.latencyMs !== undefined
  if (isSettled && segments.every(({ isOpen }) => !isOpen)) settled.set(node, segments)
  return segments
}

function figuresOf(of: Operation, segments: readonly Segment[], now?: number): Pick<RowFacts, 'durationMs' | 'waitedMs' | 'spent'> {
  const length = segments.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0)
  switch (of.kind) {
    case 'agent':
      return { ...agentTimes(of.agent, now), spent: spentByTurns(of.agent.turns) }
    case 'turn':
      return { ...turnTimes(of.turn, now), spent: spentByTurns([of.turn]) }
    case 'step':
      return { durationMs: length, spent: spentByAttempts(of.step.attempts) }
    case 'attempt':
      return { durationMs: of.attempt.latencyMs ?? length, spent: spentByAttempts([of.attempt]) }
    case 'call': {
      const turns = childrenOf(of.call).flatMap((agent) => agent.turns)
      if (turns.length > 0) return { ...callTimes(of.call, now), spent: spentByTurns(turns) }
      return { durationMs: of.call.latencyMs ?? length }
    }
    case 'request':
      return { durationMs: length }
  }
}
