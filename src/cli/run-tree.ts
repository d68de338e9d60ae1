import type {
  CallIntent,
  CallRecord,
  InteractionEvent,
  ItemIntent,
  ItemRecord,
  ItemStatus,
  ModelFailure,
  ToolFailure,
  TurnReason,
  TurnTotals,
  Usage,
} from '../contracts/index.ts'

/** A stretch of wall time. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface AttemptNode {
  readonly model: string
  readonly span: Span
  readonly latencyMs?: number
  readonly usage?: Usage
  readonly failure?: ModelFailure
}

export interface CallNode {
  readonly tool: string
  readonly title: string
  readonly span: Span
  readonly latencyMs?: number
  readonly status: ItemStatus | 'running'
  readonly error?: ToolFailure
  /** It overlapped with another call of its step. */
  readonly parallel: boolean
}

export interface StepNode {
  readonly number: number
  readonly attempts: readonly AttemptNode[]
  readonly calls: readonly CallNode[]
  /** Why it was forced to be the last one. */
  readonly last?: TurnReason
}

export interface TurnNode {
  readonly agent: string
  readonly status: 'running' | 'completed' | 'partial' | 'failed' | 'interrupted' | 'suspended'
  readonly reason?: TurnReason
  readonly span: Span
  readonly steps: readonly StepNode[]
  readonly totals?: TurnTotals
}

interface Draft {
  agent: string
  turn: { status: TurnNode['status']; reason?: TurnReason; from: number; to: number; totals?: TurnTotals } | undefined
  readonly steps: Map<string, { attempts: AttemptNode[]; calls: Map<string, CallNode>; last?: TurnReason }>
}

/** The turns of a session as its durable events tell them: turn → step → attempt or call. */
export function runTree(events: readonly InteractionEvent[]): readonly TurnNode[] {
  const turns: TurnNode[] = []
  const draft: Draft = { agent: '', turn: undefined, steps: new Map() }
  for (const event of events) {
    if (event.type === 'interaction.turn.started') {
      if (draft.turn) turns.push(turnNode(draft))
      draft.turn = { status: 'running', from: event.at, to: event.at }
      draft.steps.clear()
    }
    absorb(draft, event)
  }
  if (draft.turn) turns.push(turnNode(draft))
  return turns
}

function absorb(draft: Draft, event: InteractionEvent): void {
  const { turn } = draft
  if (turn) turn.to = Math.max(turn.to, event.at)
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured':
      draft.agent = event.agent.name
      break
    case 'interaction.step.started':
    case 'interaction.step.completed':
    case 'interaction.step.failed':
      absorbStep(draft, event)
      break
    case 'interaction.item.started':
    case 'interaction.item.completed':
      absorbItem(draft, event)
      break
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted': {
      const { ending, totals } = event
      if (turn) Object.assign(turn, { status: ending.status, totals }, 'reason' in ending && { reason: ending.reason })
      break
    }
    case 'interaction.turn.suspended':
      if (turn) Object.assign(turn, { status: 'suspended', reason: event.reason })
      break
    // What follows changes neither shape nor figures of the tree.
    case 'interaction.turn.started':
    case 'interaction.session.resumed':
    case 'interaction.session.idle':
    case 'interaction.input.accepted':
    case 'interaction.item.updated':
    case 'interaction.approval.requested':
    case 'interaction.approval.resolved':
    case 'interaction.approval.revoked':
    case 'interaction.subagent.selected':
    case 'interaction.hook.completed':
    case 'interaction.cancel.requested':
    case 'interaction.diagnostic':
      break
    default:
      event satisfies never
  }
}

type StepEvent = InteractionEvent<'interaction.step.started' | 'interaction.step.completed' | 'interaction.step.failed'>

function absorbStep(draft: Draft, event: StepEvent): void {
  const step = stepOf(draft, event.stepId)
  if (event.type === 'interaction.step.started') {
    step.attempts.push({ model: event.model, span: { from: event.at, to: event.at } })
    if (event.last) step.last = event.last.reason
    return
  }
  const attempt = step.attempts.pop()
  if (!attempt) return
  const { latencyMs, usage } = event
  const span = { from: Math.max(attempt.span.from, event.at - latencyMs), to: event.at }
  step.attempts.push({ ...attempt, span, latencyMs, usage, ...(event.type === 'interaction.step.failed' && { failure: event.failure }) })
}

function absorbItem(draft: Draft, event: InteractionEvent<'interaction.item.started' | 'interaction.item.completed'>): void {
  if (event.type === 'interaction.item.started') {
    const { item } = event
    if (!isCall(item)) return
    const call: CallNode = {
      tool: item.tool,
      title: item.title,
      span: { from: event.at, to: event.at },
      status: 'running',
      parallel: false,
    }
    stepOf(draft, event.stepId).calls.set(item.id, call)
    return
  }
  const { item } = event
  if (!isCallRecord(item)) return
  const { calls } = stepOf(draft, event.stepId)
  const call = calls.get(item.id)
  if (!call) return
  // Intents of a step are committed together; when a call really began follows from how long it took.
  const span = { from: event.at - item.latencyMs, to: event.at }
  calls.set(item.id, { ...call, span, latencyMs: item.latencyMs, status: item.status, ...(item.error && { error: item.error }) })
}

function turnNode({ agent, turn, steps }: Draft): TurnNode {
  const { from = 0, to = 0, status = 'running', ...rest } = turn ?? {}
  return {
    agent,
    status,
    ...rest,
    span: { from, to },
    steps: [...steps.values()].map(({ attempts, calls, last }, i) => ({
      number: i + 1,
      attempts,
      calls: marked([...calls.values()]),
      ...(last && { last }),
    })),
  }
}

function marked(calls: readonly CallNode[]): readonly CallNode[] {
  return calls.map((call) => ({ ...call, parallel: calls.some((other) => other !== call && overlap(call.span, other.span)) }))
}

const overlap = (a: Span, b: Span): boolean => a.from < b.to && b.from < a.to

function stepOf({ steps }: Draft, stepId: string | undefined) {
  const id = stepId ?? ''
  const step = steps.get(id) ?? { attempts: [], calls: new Map<string, CallNode>() }
  steps.set(id, step)
  return step
}

const isCall = (item: ItemIntent): item is CallIntent => item.kind === 'call'
const isCallRecord = (item: ItemRecord): item is CallRecord => item.kind === 'call'
