/*
 * What is known of a run, folded from its events one by one: agent → turn → step → attempt or call → agent.
 *
 * 1. Nodes are changed in place: a token costs next to nothing, however much came before it.
 * 2. Live events add what is only worth seeing while it happens (text, progress); all else follows from durable ones,
 *    so a journal gives the same tree as watching did.
 * 3. An agent hangs below the call that started it; where that is not known, below the step of its parent.
 */
import type {
  Cost,
  Diagnostic,
  InteractionEvent,
  ItemStatus,
  Lane,
  LiveEvent,
  ModelFailure,
  StreamEvent,
  ToolFailure,
  TurnReason,
  TurnTotals,
  Usage,
} from '../contracts/index.ts'
import { laneConflict } from '../util/lane-conflict.ts'

/** A stretch of wall time. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface AttemptNode {
  readonly number: number
  readonly model: string
  span: Span
  /** Tokens that the request is thought to have. */
  readonly expected: number
  /** Characters that have come in. */
  characters: number
  latencyMs?: number
  usage?: Usage
  cost?: Cost
  failure?: ModelFailure
  /** When the next attempt may come, if there is to be one. */
  nextAt?: number
}

export interface CallNode {
  readonly tool: string
  readonly title: string
  readonly lane: Lane
  readonly isAgent: boolean
  span: Span
  latencyMs?: number
  status: ItemStatus | 'running' | 'waiting'
  error?: ToolFailure
  /** What it last said of how far it is. */
  progress?: string
  readonly agents: AgentNode[]
}

/** What the model is saying. */
export interface Said {
  readonly kind: 'text' | 'reasoning'
  text: string
}

export interface StepNode {
  readonly number: number
  readonly attempts: AttemptNode[]
  readonly calls: CallNode[]
  /** Summaries of what needs an approval, by approval. */
  readonly approvals: Map<string, string>
  readonly notes: Diagnostic[]
  readonly agents: AgentNode[]
  said?: Said
  /** Why it was forced to be the last one. */
  last?: TurnReason
}

export interface TurnNode {
  status: 'running' | 'completed' | 'partial' | 'failed' | 'interrupted' | 'suspended'
  reason?: TurnReason
  span: Span
  readonly steps: StepNode[]
  totals?: TurnTotals
}

export interface AgentNode {
  readonly path: string
  name: string
  maxSteps: number
  maxRetries: number
  parallelCalls: number
  /** What was told before the first step. */
  readonly notes: Diagnostic[]
  readonly turns: TurnNode[]
}

export interface RunTree {
  /** Agents that no other has started. */
  readonly roots: AgentNode[]
  /** Somebody has asked for an early end. */
  cancelling?: 'stop' | 'interrupt'
  /** By agent path, so that no event has to search. */
  readonly agents: Map<string, Tracked>
}

interface Tracked {
  readonly node: AgentNode
  readonly steps: Map<string, StepNode>
  readonly calls: Map<string, CallNode>
}

export const emptyTree = (): RunTree => ({ roots: [], agents: new Map() })

/** The tree that a journal tells of. */
export function runTree(events: readonly InteractionEvent[]): RunTree {
  const tree = emptyTree()
  for (const event of events) applyToTree(tree, event)
  return tree
}

export function applyToTree(tree: RunTree, event: StreamEvent): void {
  const agent = tree.agents.get(event.agentPath) ?? join(tree, event.agentPath)
  if (event.type === 'interaction.item.delta') say(agent, event)
  else take(tree, agent, event)
}

function take(tree: RunTree, agent: Tracked, event: InteractionEvent): void {
  const turn = agent.node.turns.at(-1)
  if (turn?.status === 'running') turn.span = { from: turn.span.from, to: Math.max(turn.span.to, event.at) }
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured': {
      const { name, limits } = event.agent
      Object.assign(agent.node, {
        name,
        maxSteps: limits.maxToolTurns,
        maxRetries: limits.maxRetries,
        parallelCalls: limits.parallelToolCalls,
      })
      break
    }
    case 'interaction.turn.started':
      agent.node.turns.push({ status: 'running', span: { from: event.at, to: event.at }, steps: [] })
      agent.steps.clear()
      agent.calls.clear()
      if (tree.roots.includes(agent.node)) delete tree.cancelling
      break
    case 'interaction.step.started':
    case 'interaction.step.completed':
    case 'interaction.step.failed':
      takeStep(agent, event)
      break
    case 'interaction.item.started':
    case 'interaction.item.completed':
      takeItem(agent, event)
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
    case 'interaction.approval.requested':
      lastStep(agent)?.approvals.set(event.request.id, event.request.summary)
      break
    case 'interaction.approval.resolved':
      lastStep(agent)?.approvals.delete(event.approvalId)
      break
    case 'interaction.diagnostic':
      ;(lastStep(agent) ?? agent.node).notes.push(event.diagnostic)
      break
    case 'interaction.cancel.requested':
      tree.cancelling = event.mode
      break
    // What follows changes neither shape nor figures of the tree.
    case 'interaction.session.resumed':
    case 'interaction.session.idle':
    case 'interaction.input.accepted':
    case 'interaction.item.updated':
    case 'interaction.approval.revoked':
    case 'interaction.subagent.selected':
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
    case 'interaction.hook.completed':
      break
    default:
      event satisfies never
  }
}

/** Takes in an agent that is heard of for the first time. */
function join(tree: RunTree, path: string): Tracked {
  const node: AgentNode = { path, name: path, maxSteps: 0, maxRetries: 0, parallelCalls: Number.POSITIVE_INFINITY, notes: [], turns: [] }
  const agent: Tracked = { node, steps: new Map(), calls: new Map() }
  const parent = tree.agents.get(path.split('/').slice(0, -1).join('/'))
  tree.agents.set(path, agent)
  const step = parent && lastStep(parent)
  // Calls begin in their order, and so do the agents that they start.
  const call = step?.calls.find(({ isAgent, status, agents }) => isAgent && status === 'running' && agents.length === 0)
  const siblings = call?.agents ?? step?.agents ?? tree.roots
  siblings.push(node)
  return agent
}

/** Of a text that is still coming this much is kept, at least; it is cut rarely, so that what is shown does not jump. */
const keptCharacters = 2_000

function say(agent: Tracked, { stepId, itemId, attempt: number, kind, text }: LiveEvent): void {
  if (kind === 'progress') {
    const call = agent.calls.get(itemId)
    if (call) call.progress = text
    return
  }
  const step = agent.steps.get(stepId)
  const attempt = step?.attempts.at(-1)
  // What an attempt said that has been given up is nothing to show.
  if (!step || !attempt || attempt.number !== number || attempt.latencyMs !== undefined) return
  attempt.characters += text.length
  if (step.said?.kind !== kind) step.said = { kind, text }
  else step.said.text += text
  if (step.said.text.length > 2 * keptCharacters) step.said.text = step.said.text.slice(-keptCharacters)
}

type StepEvent = InteractionEvent<'interaction.step.started' | 'interaction.step.completed' | 'interaction.step.failed'>

function takeStep(agent: Tracked, event: StepEvent): void {
  const step = stepOf(agent, event.stepId)
  if (!step) return
  delete step.said
  if (event.type === 'interaction.step.started') {
    const { attempt: number, model, reservation } = event
    step.attempts.push({ number, model, span: { from: event.at, to: event.at }, expected: reservation.input, characters: 0 })
    if (event.last) step.last = event.last.reason
    return
  }
  const attempt = step.attempts.at(-1)
  if (!attempt) return
  const { latencyMs, usage, cost, at } = event
  Object.assign(attempt, { latencyMs, usage, cost, span: { from: Math.max(attempt.span.from, at - latencyMs), to: at } })
  if (event.type === 'interaction.step.completed') return
  attempt.failure = event.failure
  if (event.delayMs > 0 && attempt.number <= agent.node.maxRetries) attempt.nextAt = at + event.delayMs
}

function takeItem(agent: Tracked, event: InteractionEvent<'interaction.item.started' | 'interaction.item.completed'>): void {
  const { item, at } = event
  const step = item.kind === 'call' ? stepOf(agent, event.stepId) : undefined
  if (item.kind !== 'call' || !step) return
  if (event.type === 'interaction.item.started' && 'tool' in item) {
    const { tool, title, lane, type } = item
    const call: CallNode = {
      tool,
      title,
      lane,
      isAgent: type === 'subagent_call',
      span: { from: at, to: at },
      status: 'waiting',
      agents: [],
    }
    agent.calls.set(item.id, call)
    step.calls.push(call)
  } else if ('latencyMs' in item) {
    const call = agent.calls.get(item.id)
    if (!call) return
    const { latencyMs, status, error } = item
    // Intents of a step are committed together; when a call really began follows from how long it took.
    Object.assign(call, { latencyMs, status, span: { from: at - latencyMs, to: at } }, error && { error })
  }
  admit(step.calls, agent.node.parallelCalls, at)
}

/** No event tells when a call leaves its queue, but who may overlap with whom is known. */
function admit(calls: readonly CallNode[], most: number, at: number): void {
  const before: CallNode[] = []
  let running = 0
  for (const call of calls) {
    if (call.status !== 'running' && call.status !== 'waiting') continue
    if (call.status === 'waiting' && running < most && !before.some(({ lane }) => laneConflict(lane, call.lane))) {
      call.status = 'running'
      call.span = { from: at, to: at }
    }
    if (call.status === 'running') running++
    before.push(call)
  }
}

function stepOf(agent: Tracked, stepId = ''): StepNode | undefined {
  const known = agent.steps.get(stepId)
  const turn = agent.node.turns.at(-1)
  if (known || !turn) return known
  const step: StepNode = { number: turn.steps.length + 1, attempts: [], calls: [], approvals: new Map(), notes: [], agents: [] }
  agent.steps.set(stepId, step)
  turn.steps.push(step)
  return step
}

const lastStep = ({ node }: Tracked): StepNode | undefined => node.turns.at(-1)?.steps.at(-1)
