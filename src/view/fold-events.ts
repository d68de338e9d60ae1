// Folds the events of a run into its tree, one by one.
//
// 1. Live events add only what matters while it happens (streamed text, progress); everything else follows from durable
//    events, so a journal gives the same tree as watching the run.
// 2. A suspended turn stays suspended until it acts itself. Meanwhile it says whether one of its children runs.
import type { InteractionEvent, StreamEvent } from '../contracts/index.ts'
import { textOfParts } from '../util/text-of-parts.ts'
import { applyHook, applyItem } from './apply-item.ts'
import { applyRequest, dropRequests, needOf } from './apply-request.ts'
import { applyDelta, applyQueue, applyStep } from './apply-step.ts'
import { joinSession } from './join-session.ts'
import { countFailure, lastStep, lastTurn, markChanged, type NodeId, type NoteNode, type RunTree, type SessionNodes } from './nodes.ts'
import { applyWaiting } from './waiting.ts'

/** `keepsContent`: keep arguments, results, texts and messages in full, for a page that shows them. */
export const emptyTree = ({ keepsContent = false } = {}): RunTree => ({
  keepsContent,
  roots: [],
  sessions: new Map(),
  changed: new Set(),
})

/** The tree of a journal; the first `past` events happened before the run to show. */
export function runTree(events: readonly InteractionEvent[], past = 0): RunTree {
  const tree = emptyTree()
  applyPast(tree, events.slice(0, past))
  for (const event of events.slice(past)) applyEvent(tree, event)
  return tree
}

/** Applies the events from before a run was resumed. Turns that had ended by then are not shown. */
export function applyPast(tree: RunTree, past: readonly InteractionEvent[]): void {
  for (const event of past) applyEvent(tree, event)
  for (const { turns } of tree.roots)
    turns.splice(0, turns.length, ...turns.filter(({ status }) => status === 'running' || status === 'suspended'))
}

interface Applied {
  readonly session: SessionNodes
  /** Ids of the nodes that the event changed. Valid until the next event is applied. */
  readonly changed: ReadonlySet<NodeId>
}

export function applyEvent(tree: RunTree, event: StreamEvent): Applied {
  tree.changed.clear()
  const session = tree.sessions.get(event.sessionId) ?? joinSession(tree, event)
  if ('seq' in event) {
    applyDurable(tree, session, event)
    applyWaiting(session, event)
  } else if (event.type === 'interaction.item.delta') applyDelta(session, event)
  else applyQueue(session, event)
  return { session, changed: tree.changed }
}

/** The name of the agent or call that an applied event is about. */
export function subjectOf({ sessions }: RunTree, event: StreamEvent): string | undefined {
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured':
      return sessions.get(event.sessionId)?.agent.name
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
    case 'interaction.subagent.closed':
    case 'interaction.handoff.started':
    case 'interaction.handoff.completed':
      return sessions.get(event.childId)?.agent.name
    case 'interaction.subagent.selected':
      return sessions.get(event.sessionId)?.agent.name
    case 'interaction.item.started':
      return sessions.get(event.sessionId)?.calls.get(event.item.id)?.name
    default:
      return undefined
  }
}

/** Shows that an interruption was requested, before its event arrives. */
export function showInterrupting({ roots }: RunTree): void {
  for (const { turns } of roots) {
    const turn = turns.at(-1)
    if (turn?.status === 'running') turn.cancelling = 'interrupt'
  }
}

function applyDurable(tree: RunTree, session: SessionNodes, event: InteractionEvent): void {
  const turn = lastTurn(session)
  if (turn?.status === 'running') turn.span = { from: turn.span.from, to: Math.max(turn.span.to, event.at) }
  if (turn) markChanged(session, turn)
  holdMessages(session, event)
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured': {
      const { toolName: name, limits } = event.agent
      const { maxToolTurns: maxSteps, maxRetries, parallelToolCalls: parallelCalls } = limits
      Object.assign(session.agent, { name, maxSteps, maxRetries, parallelCalls }, tree.keepsContent && { spec: event.agent })
      markChanged(session, session.agent)
      break
    }
    case 'interaction.turn.started':
      startTurn(session, event)
      break
    case 'interaction.step.started':
    case 'interaction.step.completed':
    case 'interaction.step.failed':
      resumeTurn(session)
      delete turn?.inQueue
      applyStep(session, event)
      break
    case 'interaction.item.started':
    case 'interaction.item.updated':
    case 'interaction.item.completed':
      resumeTurn(session)
      applyItem(session, event)
      break
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted':
      endTurn(session, event)
      break
    case 'interaction.turn.suspended':
      suspendTurn(session, event)
      break
    case 'interaction.approval.requested':
      applyRequest(session, event)
      break
    case 'interaction.approval.resolved':
      applyRequest(session, event)
      resumeTurn(session)
      break
    case 'interaction.context.compacted':
      addNotes(session, { tokensBefore: event.tokensBefore, tokensAfter: event.tokensAfter })
      break
    case 'interaction.diagnostic':
      addNotes(session, event.diagnostic)
      break
    case 'interaction.hook.completed':
      applyHook(session, event)
      break
    case 'interaction.cancel.requested':
      if (turn) turn.cancelling = event.mode === 'stop' ? 'stop' : 'interrupt'
      break
    case 'interaction.session.resumed':
      addNotes(session, ...event.diagnostics)
      break
    case 'interaction.input.accepted':
    case 'interaction.history.added':
      addMessages(session, event)
      break
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
    case 'interaction.handoff.started':
    case 'interaction.handoff.completed':
      applySpawned(session, event)
      break
    // The rest changes neither the shape nor the figures of the tree.
    case 'interaction.session.idle':
    case 'interaction.held.sent':
    case 'interaction.approval.granted':
    case 'interaction.approval.revoked':
    case 'interaction.subagent.selected':
    case 'interaction.subagent.closed':
    case 'interaction.context.added':
    case 'interaction.offer.recorded':
      break
    default:
      event satisfies never
  }
}

function startTurn(session: SessionNodes, { turnId, at, inputs }: InteractionEvent<'interaction.turn.started'>): void {
  const { agent } = session
  const number = (agent.turns.at(-1)?.number ?? 0) + 1
  const id = `${agent.id}/${turnId ?? `t${number}`}`
  const waiting = { ms: 0, at, children: new Map() }
  agent.turns.push({ id, number, status: 'running', span: { from: at, to: at }, waiting, steps: [], toolNames: new Set(), inputs })
  for (const known of [session.steps, session.calls, session.requests, session.hooks]) known.clear()
  markChanged(session, agent)
  markChanged(session, agent.turns.at(-1))
}

function addMessages(session: SessionNodes, event: InteractionEvent<'interaction.input.accepted' | 'interaction.history.added'>): void {
  const { agent, parent, tree } = session
  // A command: the end of the handoff shows its effect.
  if (event.type === 'interaction.input.accepted' && event.endsHandoff) return
  // The first message to a child is its task.
  if (parent && event.type === 'interaction.input.accepted') agent.task ??= textOfParts(event.parts)
  if (!tree.keepsContent) return
  if (event.type === 'interaction.history.added') agent.history.push(...event.messages)
  else agent.messages.push({ id: event.clientId, seq: event.seq, at: event.at, mode: event.mode, parts: event.parts })
  markChanged(session, agent)
}

/** An interrupt holds the messages to the root that no step has read, until they or another message are sent. */
function holdMessages(session: SessionNodes, event: InteractionEvent): void {
  const { agent, parent } = session
  if (parent) return
  const isInterrupt = event.type === 'interaction.cancel.requested' && event.mode !== 'stop'
  const isAbort = event.type === 'interaction.approval.resolved' && event.decision.kind === 'abort'
  if (isInterrupt || isAbort) agent.holdsMessages = true
  else if (agent.holdsMessages && sendsHeld(event)) delete agent.holdsMessages
  else return
  markChanged(session, agent)
}

/** An input that is no message from outside was sent before: a child has not read it. */
const sendsHeld = ({ type, inbox }: InteractionEvent): boolean =>
  type === 'interaction.held.sent' || type === 'interaction.turn.started' || (type === 'interaction.input.accepted' && inbox !== undefined)

type SpawnedEvent = InteractionEvent<
  | 'interaction.subagent.started'
  | 'interaction.subagent.completed'
  | 'interaction.subagent.failed'
  | 'interaction.handoff.started'
  | 'interaction.handoff.completed'
>

/** The call of a spawned child ends early, but is drawn as long as the child works. */
function applySpawned(session: SessionNodes, event: SpawnedEvent): void {
  const { type, itemId, at } = event
  const call = itemId && session.calls.get(itemId)
  const isHandoff = type === 'interaction.handoff.started' || type === 'interaction.handoff.completed'
  // Otherwise the call of the child fails, too.
  if (type === 'interaction.subagent.failed' && (event.turn !== undefined || call?.isAgent === false)) countFailure(session)
  if (!call || (!isHandoff && event.turn === undefined)) return
  if (isHandoff) call.speaks = type === 'interaction.handoff.started'
  if (type === 'interaction.handoff.completed') call.handoffEnd = event.reason
  Object.assign(call, { isSpawned: true, span: { from: call.span.from, to: Math.max(call.span.to, at) } })
  markChanged(session, call)
}

function suspendTurn(session: SessionNodes, { reason, approvals }: InteractionEvent<'interaction.turn.suspended'>): void {
  const turn = lastTurn(session)
  const waits = { needs: needOf(session.tree, approvals), isChildRunning: false }
  if (turn) Object.assign(turn, { status: 'suspended', reason, waits })
  setChildRunning(session, false)
}

function addNotes(session: SessionNodes, ...notes: readonly NoteNode[]): void {
  const place = lastStep(session) ?? session.agent
  place.notes.push(...notes)
  markChanged(session, place)
}

type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

function endTurn(session: SessionNodes, { type, ending, totals, report }: TurnEnd): void {
  const { turns, forkedFrom } = session.agent
  const turn = turns.at(-1)
  if (!turn) return
  // A copy that begins before the first message has a turn in which nothing happened.
  if (type === 'interaction.turn.interrupted' && forkedFrom && turn.steps.length + turn.inputs.length === 0) {
    turns.pop()
    markChanged(session, session.agent)
    return
  }
  delete turn.reason
  delete turn.waits
  delete turn.inQueue
  Object.assign(turn, { status: ending.status, ending, totals }, 'reason' in ending && { reason: ending.reason })
  if ((session.tree.keepsContent || session.parent) && report) turn.report = report
  dropRequests(session)
}

/** The turn acts again, so its ancestors no longer wait for people alone. */
function resumeTurn(session: SessionNodes): void {
  const turn = lastTurn(session)
  if (turn?.status === 'suspended') {
    turn.status = 'running'
    delete turn.reason
    delete turn.waits
  }
  setChildRunning(session, true)
}

function setChildRunning({ parent }: SessionNodes, isChildRunning: boolean): void {
  for (let session = parent; session; session = session.parent) {
    const turn = lastTurn(session)
    if (!turn?.waits || turn.waits.isChildRunning === isChildRunning) continue
    turn.waits = { ...turn.waits, isChildRunning }
    markChanged(session, turn)
  }
}
