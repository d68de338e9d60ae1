/*
 * What is known of a run, folded from its events one by one: agent → turn → step → attempt or call → child.
 *
 * 1. Nodes are changed in place: a token costs next to nothing, however much came before it.
 * 2. Live events add what is only worth seeing while it happens (text, progress); all else follows from durable ones,
 *    so a journal gives the same tree as watching did.
 * 3. A child hangs below the very call that it says has started it; one whose call was never heard of is a root.
 */
import type {
  Cost,
  Diagnostic,
  InteractionEvent,
  ItemStatus,
  Lane,
  LiveEvent,
  ModelFailure,
  ParentCall,
  Plan,
  SessionId,
  StreamEvent,
  ToolFailure,
  TurnReason,
  TurnTotals,
  Usage,
} from '../../contracts/index.ts'
import { laneConflict } from '../../util/lane-conflict.ts'
import { printable, widthOf } from '../paint.ts'
import { aimOf, type CallPermit, changesOf, exitCodeOf, type FileChange, permitOf } from './call-view.ts'

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
  /** What people know it by: an agent by its tool name, without the prefix that makes it a tool. */
  name: string
  readonly title: string
  readonly lane: Lane
  /** It asks another agent. */
  readonly isAgent: boolean
  /** When it ran; of a call that asks an agent, when that agent did. */
  span: Span
  /** How long whoever made the call had to wait for it. */
  latencyMs?: number
  status: ItemStatus | 'running' | 'waiting'
  error?: ToolFailure
  /** What it last said of how far it is. */
  progress?: string
  /** The end of what it has printed so far. */
  output?: string
  /** What it is about: a command line, the files that it is to change. */
  readonly aim?: string
  /** Who let it run, where that had to be asked; or what somebody answered to its question. */
  readonly permit?: CallPermit
  /** What it has done to files. */
  changes?: readonly FileChange[]
  exitCode?: number
  /** The agent that it started; while there is none, a call that asks an agent stands in line. */
  child?: AgentNode
}

/** What the model is saying. */
export interface Said {
  readonly kind: 'text' | 'reasoning'
  text: string
}

/** The history became shorter: so many tokens before, so many after. */
export interface Compaction {
  readonly tokensBefore: number
  readonly tokensAfter: number
}

export type NoteNode = Diagnostic | Compaction

export interface StepNode {
  readonly number: number
  readonly attempts: AttemptNode[]
  readonly calls: CallNode[]
  /** Those of them that are not over. */
  readonly open: Set<CallNode>
  /** Summaries of what needs an approval, by approval. */
  readonly approvals: Map<string, string>
  readonly notes: NoteNode[]
  said?: Said
  /** Why it was forced to be the last one. */
  last?: TurnReason
}

export interface TurnNode {
  status: 'running' | 'completed' | 'partial' | 'failed' | 'interrupted' | 'suspended'
  reason?: TurnReason
  span: Span
  readonly steps: StepNode[]
  /** Columns of the longest name of a tool that was called. */
  widestTool: number
  totals?: TurnTotals
  /** What the agent means to do. */
  plan?: Plan
  /** Somebody has asked for an early end. */
  cancelling?: 'stop' | 'interrupt'
}

export interface AgentNode {
  readonly path: string
  /** Its tool name: the one that people see everywhere. */
  name: string
  /** What its lines begin with: `child:scout`, `child:lead/scout#2`. A root needs none. */
  readonly label: string
  maxSteps: number
  maxRetries: number
  parallelCalls: number
  /** What was told before the first step. */
  readonly notes: NoteNode[]
  readonly turns: TurnNode[]
}

export interface RunTree {
  /** Agents that no other has started. */
  readonly roots: AgentNode[]
  /** So that no event has to search. */
  readonly sessions: Map<SessionId, SessionNodes>
}

/** What a session has brought into the tree; steps and calls are those of its last turn, by id. */
export interface SessionNodes {
  readonly agent: AgentNode
  readonly steps: Map<string, StepNode>
  readonly calls: Map<string, CallNode>
}

export const emptyTree = (): RunTree => ({ roots: [], sessions: new Map() })

/** The tree that a journal tells of; the first `past` events had happened before. */
export function runTree(events: readonly InteractionEvent[], past = 0): RunTree {
  const tree = emptyTree()
  recallInto(tree, events.slice(0, past))
  for (const event of events.slice(past)) applyToTree(tree, event)
  return tree
}

/** Takes in what had happened before a run was taken up. Turns that were over then are no part of what is shown. */
export function recallInto(tree: RunTree, past: readonly InteractionEvent[]): void {
  for (const event of past) applyToTree(tree, event)
  for (const { turns } of tree.roots)
    turns.splice(0, turns.length, ...turns.filter(({ status }) => status === 'running' || status === 'suspended'))
}

/** Takes in what has happened, and answers with what is now known of where it happened. */
export function applyToTree(tree: RunTree, event: StreamEvent): SessionNodes {
  const session = tree.sessions.get(event.sessionId) ?? join(tree, event)
  if (event.type === 'interaction.item.delta') say(session, event)
  else take(session, event)
  return session
}

/** What people know the agent or the call by that an event is about, once it was taken in; nothing where it is about neither. */
export function subjectOf({ sessions }: RunTree, event: StreamEvent): string | undefined {
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured':
      return sessions.get(event.sessionId)?.agent.name
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
      return sessions.get(event.childId)?.agent.name
    case 'interaction.subagent.selected':
      return sessions.get(event.sessionId)?.agent.name
    case 'interaction.item.started':
      return sessions.get(event.sessionId)?.calls.get(event.item.id)?.name
    default:
      return undefined
  }
}

/** Somebody wants the run to end; it will tell when it has heard of it. */
export function askToEnd({ roots }: RunTree): void {
  for (const { turns } of roots) {
    const turn = turns.at(-1)
    if (turn?.status === 'running') turn.cancelling = 'interrupt'
  }
}

function take(session: SessionNodes, event: InteractionEvent): void {
  const { agent } = session
  const turn = agent.turns.at(-1)
  if (turn?.status === 'running') turn.span = { from: turn.span.from, to: Math.max(turn.span.to, event.at) }
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured': {
      const { toolName, limits } = event.agent
      Object.assign(agent, {
        name: toolName,
        maxSteps: limits.maxToolTurns,
        maxRetries: limits.maxRetries,
        parallelCalls: limits.parallelToolCalls,
      })
      break
    }
    case 'interaction.turn.started':
      agent.turns.push({ status: 'running', span: { from: event.at, to: event.at }, steps: [], widestTool: 0 })
      session.steps.clear()
      session.calls.clear()
      break
    case 'interaction.step.started':
    case 'interaction.step.completed':
    case 'interaction.step.failed':
      takeStep(session, event)
      break
    case 'interaction.item.started':
    case 'interaction.item.completed':
      takeItem(session, event)
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
      lastStep(session)?.approvals.set(event.request.id, event.request.summary)
      break
    case 'interaction.approval.resolved':
      lastStep(session)?.approvals.delete(event.approvalId)
      if (turn?.status === 'suspended') {
        turn.status = 'running'
        delete turn.reason
      }
      break
    case 'interaction.item.updated':
      if (turn && event.update.kind === 'plan') turn.plan = event.update.plan
      break
    case 'interaction.context.compacted':
      ;(lastStep(session) ?? agent).notes.push({ tokensBefore: event.tokensBefore, tokensAfter: event.tokensAfter })
      break
    case 'interaction.diagnostic':
      ;(lastStep(session) ?? agent).notes.push(event.diagnostic)
      break
    case 'interaction.cancel.requested':
      if (turn) turn.cancelling = event.mode
      break
    case 'interaction.session.resumed':
      // What has changed since is a matter of the whole turn, and of the step that it stands at.
      ;(lastStep(session) ?? agent).notes.push(...event.diagnostics)
      break
    // What follows changes neither shape nor figures of the tree.
    case 'interaction.session.idle':
    case 'interaction.input.accepted':
    case 'interaction.approval.granted':
    case 'interaction.approval.revoked':
    case 'interaction.subagent.selected':
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
    case 'interaction.hook.completed':
    case 'interaction.context.added':
      break
    default:
      event satisfies never
  }
}

/** Takes in an agent that is heard of for the first time. */
function join(tree: RunTree, event: StreamEvent): SessionNodes {
  const { agentPath: path, sessionId } = event
  const started = event.type === 'interaction.session.created' ? event : undefined
  const agent: AgentNode = {
    path,
    name: path,
    label: started?.parent ? labelOf(tree, started, started.parent) : '',
    maxSteps: 0,
    maxRetries: 0,
    parallelCalls: Number.POSITIVE_INFINITY,
    notes: [],
    turns: [],
  }
  const session: SessionNodes = { agent, steps: new Map(), calls: new Map() }
  tree.sessions.set(sessionId, session)
  const call = started?.parent && callOf(tree, started.parent)
  if (!call) tree.roots.push(agent)
  else {
    call.child = agent
    // It may have stood in line until now.
    if (started) call.span = { from: started.at, to: started.at }
    // How its dots were written is known for sure only now.
    if (started && isOffered(call.tool)) call.name = printable(started.agent.toolName)
  }
  return session
}

function labelOf(tree: RunTree, { agent, agentPath }: InteractionEvent<'interaction.session.created'>, parent: ParentCall): string {
  const above = tree.sessions.get(parent.sessionId)?.agent.label
  const [, number = '1'] = /#(\d+)$/.exec(agentPath) ?? []
  return `${above ? `${above}/` : 'child:'}${agent.toolName}${number === '1' ? '' : `#${number}`}`
}

/** An agent is offered to models as `agent__desk__report`, since their tools have no dots; others hand tasks on. */
const agentPrefix = 'agent__'
const isOffered = (tool: string): boolean => tool.startsWith(agentPrefix)

const callOf = (tree: RunTree, { sessionId, itemId }: ParentCall): CallNode | undefined => tree.sessions.get(sessionId)?.calls.get(itemId)

/** Of a text that is still coming this much is kept, at least; it is cut rarely, so that what is shown does not jump. */
const keptCharacters = 2_000

function say(session: SessionNodes, { stepId, itemId, attempt: number, kind, text }: LiveEvent): void {
  if (kind === 'progress' || kind === 'output') {
    const call = session.calls.get(itemId)
    if (call && kind === 'progress' && text !== '') call.progress = text
    if (call && kind === 'output') call.output = tail(`${call.output ?? ''}${text}`)
    return
  }
  const step = session.steps.get(stepId)
  const attempt = step?.attempts.at(-1)
  // What an attempt said that has been given up is nothing to show.
  if (!step || !attempt || attempt.number !== number || attempt.latencyMs !== undefined) return
  attempt.characters += text.length
  if (step.said?.kind !== kind) step.said = { kind, text }
  else step.said.text = tail(step.said.text + text)
}

const tail = (text: string): string => (text.length > 2 * keptCharacters ? text.slice(-keptCharacters) : text)

type StepEvent = InteractionEvent<'interaction.step.started' | 'interaction.step.completed' | 'interaction.step.failed'>

function takeStep(session: SessionNodes, event: StepEvent): void {
  const step = stepOf(session, event.stepId)
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
  if (event.delayMs > 0 && attempt.number <= session.agent.maxRetries) attempt.nextAt = at + event.delayMs
}

function takeItem(session: SessionNodes, event: InteractionEvent<'interaction.item.started' | 'interaction.item.completed'>): void {
  const { item, at } = event
  const turn = session.agent.turns.at(-1)
  if (item.kind === 'plan' && turn) turn.plan = item.plan
  const step = item.kind === 'call' ? stepOf(session, event.stepId) : undefined
  if (item.kind !== 'call' || !step) return
  if (event.type === 'interaction.item.started' && 'tool' in item) {
    const { tool, title, lane, type } = item
    const permit = permitOf(item)
    const aim = aimOf(item)
    const isAgent = type === 'subagent_call'
    const call: CallNode = {
      tool,
      name: printable(isAgent && isOffered(tool) ? tool.slice(agentPrefix.length).replaceAll('__', '.') : tool),
      title,
      lane,
      isAgent,
      span: { from: at, to: at },
      status: 'waiting',
      ...(aim !== undefined && { aim }),
      ...(permit && { permit }),
    }
    session.calls.set(item.id, call)
    step.calls.push(call)
    step.open.add(call)
    if (turn) turn.widestTool = Math.max(turn.widestTool, widthOf(call.name))
  } else if ('latencyMs' in item) {
    const call = session.calls.get(item.id)
    if (!call) return
    const { latencyMs, status, error } = item
    step.open.delete(call)
    // Intents of a step are committed together; when a call really began follows from how long it took.
    const from = call.child ? call.span.from : at - latencyMs
    const exitCode = exitCodeOf(item)
    Object.assign(call, { latencyMs, status, span: { from, to: at }, changes: changesOf(item) }, error && { error })
    if (exitCode !== undefined) call.exitCode = exitCode
    delete call.output
  }
  admit(step.open, session.agent.parallelCalls, at)
}

/** No event tells when a call leaves its queue, but who may overlap with whom is known. */
function admit(open: ReadonlySet<CallNode>, most: number, at: number): void {
  const before: CallNode[] = []
  let running = 0
  for (const call of open) {
    if (running >= most) return
    if (call.status === 'waiting' && !before.some(({ lane }) => laneConflict(lane, call.lane))) {
      call.status = 'running'
      call.span = { from: at, to: at }
    }
    if (call.status === 'running') running++
    before.push(call)
  }
}

function stepOf({ agent, steps }: SessionNodes, stepId = ''): StepNode | undefined {
  const known = steps.get(stepId)
  const turn = agent.turns.at(-1)
  if (known || !turn) return known
  const step: StepNode = { number: turn.steps.length + 1, attempts: [], calls: [], open: new Set(), approvals: new Map(), notes: [] }
  steps.set(stepId, step)
  turn.steps.push(step)
  return step
}

const lastStep = ({ agent }: SessionNodes): StepNode | undefined => agent.turns.at(-1)?.steps.at(-1)
