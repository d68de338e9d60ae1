import { type AskedFirst, addSpent, addUsd, type Diagnostic, type InteractionEvent, type Message, noUsage } from '../contracts/index.ts'
import { addChanges, withAllLimits } from '../policy/agent-changes.ts'
import { withDecision, withOpenQuestion } from '../policy/call-questions.ts'
import { grantedBy } from '../policy/grants.ts'
import { lastMessageId } from '../policy/message-ids.ts'
import { Sequence } from '../util/sequence.ts'
import { selectionEntry } from './accounting-entries.ts'
import {
  type ChildEnded,
  childClosed,
  childStarted,
  handoffChanged,
  idleWithOnlyChild,
  recalled,
  spawnedEnded,
} from './apply-child-events.ts'
import {
  applyItemCompleted,
  applyItemStarted,
  applyItemUpdated,
  applyStepCompleted,
  applyStepFailed,
  applyStepStarted,
} from './apply-step-events.ts'
import { markOrphaned } from './calls/call-order.ts'
import { stepIdOf } from './session-ids.ts'
import { messageSize } from './state/message-size.ts'
import {
  type Call,
  type CallingStep,
  type Cancel,
  type EndedTurn,
  type FailedAttempt,
  isInterrupted,
  type OpenTurn,
  type PendingInput,
  requestOf,
  type SessionState,
  type SpawnedChild,
} from './state/state.ts'
import {
  appendMessage,
  callingStep,
  endWaiting,
  holdInputs,
  illegalEvent,
  inputMessages,
  openTurn,
  sendHeld,
  takeInputs,
  withCalls,
  withTurn,
} from './state/state-changes.ts'
import { hasStoredParts, isStoredPart, nothingStored } from './state/stored-parts.ts'

// The reducer. Pure: it never changes the given state, and the same events always give the same state.
// An event that cannot follow throws: the journal is broken.

type Event<T extends InteractionEvent['type']> = InteractionEvent<T>

export function apply(state: SessionState, event: InteractionEvent): SessionState {
  if (event.sessionId !== state.sessionId) throw illegalEvent(event, `it belongs to session ${event.sessionId}`)
  return event.inbox === undefined ? applyByType(state, event) : { ...applyByType(state, event), inboxCursor: event.inbox }
}

function applyByType(state: SessionState, event: InteractionEvent): SessionState {
  switch (event.type) {
    case 'interaction.session.created':
      throw illegalEvent(event, 'a session is created once')
    case 'interaction.session.configured':
      return configured(state, event)
    case 'interaction.session.resumed':
      return resumed(state, event)
    case 'interaction.input.accepted':
      return inputAccepted(state, event)
    case 'interaction.held.sent':
      return { ...withPosition(state, event), inputs: sendHeld(state.inputs) }
    case 'interaction.history.added':
      return historyAdded(state, event)
    case 'interaction.turn.started':
      return turnStarted(state, event)
    case 'interaction.turn.suspended':
      return suspended(state, event)
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted':
      return turnEnded(state, event)
    case 'interaction.step.started':
      return applyStepStarted(state, event)
    case 'interaction.step.completed':
      return applyStepCompleted(state, event)
    case 'interaction.step.failed':
      return applyStepFailed(state, event)
    case 'interaction.item.started':
      return applyItemStarted(state, event)
    case 'interaction.item.updated':
      return applyItemUpdated(state, event)
    case 'interaction.item.completed':
      return applyItemCompleted(state, event)
    case 'interaction.approval.requested':
      return approvalRequested(state, event)
    case 'interaction.approval.resolved':
      return approvalResolved(state, event)
    case 'interaction.approval.granted':
      return { ...withPosition(state, event), grants: [...state.grants, ...event.keys] }
    case 'interaction.approval.revoked':
      return { ...withPosition(state, event), grants: state.grants.filter((grant) => !event.keys.includes(grant.key)) }
    case 'interaction.cancel.requested':
      return cancelRequested(state, event)
    case 'interaction.diagnostic':
      return addDiagnostics(state, event, [event.diagnostic])
    case 'interaction.subagent.started':
      return childStarted(state, event)
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
      return childEnded(state, event)
    case 'interaction.subagent.closed':
      return childClosed(state, event)
    case 'interaction.handoff.started':
    case 'interaction.handoff.completed':
      return handoffChanged(state, event)
    case 'interaction.subagent.selected':
      return event.asked ? addSelectionCost(withPosition(state, event), event.asked) : withPosition(state, event)
    case 'interaction.hook.completed':
      return event.verdict === 'resumed' ? resumedByHook(state, event) : withPosition(state, event)
    case 'interaction.context.added':
      return contextAdded(state, event)
    case 'interaction.offer.recorded':
      // Its time is that of a step below: it is no sign of work or waiting of the root.
      return { ...state, seq: event.seq, stored: { ...state.stored, offers: [...state.stored.offers, event.hash] } }
    case 'interaction.context.compacted':
      return compacted(state, event)
    case 'interaction.session.idle':
      return withPosition(state, event)
    default:
      event satisfies never
      throw illegalEvent(event, 'its type is unknown to this version')
  }
}

export function createSessionState(event: Event<'interaction.session.created'>): SessionState {
  return {
    treeId: event.treeId,
    sessionId: event.sessionId,
    agentPath: event.agentPath,
    seq: event.seq,
    at: event.at,
    agent: withAllLimits(event.agent),
    changes: event.changes,
    trace: event.trace,
    tools: event.tools,
    policy: event.policy,
    prices: event.prices ?? {},
    windows: event.windows ?? {},
    maxOutputs: event.maxOutputs ?? {},
    parent: event.parent,
    history: Sequence.empty(),
    promptChars: event.promptChars,
    historyChars: 0,
    charsPerToken: 4,
    compacted: { length: 0, carried: { bundles: [], lines: [], summary: '', length: 0 }, helped: false },
    initialMessages: [],
    inputs: [],
    inboxCursor: 0,
    grants: [],
    stored: nothingStored,
    spent: { usage: noUsage, cost: 0 },
    diagnostics: [],
    turns: 0,
    toolChoice: event.changes?.toolChoice,
    turn: { kind: 'none' },
    message: undefined,
  }
}

function configured(state: SessionState, event: Event<'interaction.session.configured'>): SessionState {
  const { seq, at, tools, promptChars, prices = {}, windows = {}, maxOutputs = {} } = event
  const changes = event.changes ? addChanges(state.changes, event.changes) : state.changes
  const toolChoice = event.changes?.toolChoice ?? state.toolChoice
  return { ...state, seq, at, agent: withAllLimits(event.agent), changes, tools, promptChars, prices, windows, maxOutputs, toolChoice }
}

const withPosition = (state: SessionState, event: InteractionEvent): SessionState => ({ ...state, seq: event.seq, at: event.at })

function addSelectionCost(state: SessionState, asked: AskedFirst): SessionState {
  return { ...state, spent: addSpent(state.spent, asked.usage, asked.cost), turn: { kind: 'none', asked } }
}

function inputAccepted(state: SessionState, event: Event<'interaction.input.accepted'>): SessionState {
  if (event.endsHandoff) return recalled(state, event)
  const { seq, at, clientId, parts, mode } = event
  return {
    ...state,
    seq,
    at,
    stored: parts.some(isStoredPart) ? { ...state.stored, parts: true } : state.stored,
    inputs: withInput(state, { clientId, parts, mode }, event.inbox !== undefined),
  }
}

/** A message from outside also sends the held ones. One that a child has not read shares their fate. */
function withInput(state: SessionState, input: PendingInput, isMessage: boolean): SessionState['inputs'] {
  const { inputs } = state
  if (isMessage) return sendHeld([...inputs, input])
  const isHeld = isInterrupted(state) && inputs.every(({ held, child }) => held || child !== undefined)
  return [...inputs, isHeld ? { ...input, held: true } : input]
}

function historyAdded(state: SessionState, event: Event<'interaction.history.added'>): SessionState {
  if (state.turns > 0) throw illegalEvent(event, 'a turn has started')
  const { messages } = event
  const stored = messages.some(hasStoredParts) ? { ...state.stored, parts: true } : state.stored
  return { ...messages.reduce(appendMessage, state), seq: event.seq, at: event.at, stored }
}

const cancelStrength: readonly Cancel[] = ['no', 'stop', 'abort', 'interrupt']
const strongerCancel = (a: Cancel, b: Cancel): Cancel => (cancelStrength.indexOf(b) > cancelStrength.indexOf(a) ? b : a)

/** What nobody has read by then stays unread, unless the turn is only asked to finish. */
function cancelRequested(given: SessionState, event: Event<'interaction.cancel.requested'>): SessionState {
  const state = event.mode === 'stop' ? given : holdInputs(given)
  if (state.turn.kind !== 'open') return withPosition(state, event)
  return withTurn(state, event, { ...state.turn, cancel: strongerCancel(state.turn.cancel, event.mode) })
}

function turnStarted(state: SessionState, event: Event<'interaction.turn.started'>): SessionState {
  if (state.turn.kind === 'open') throw illegalEvent(event, 'the turn before it has not ended')
  if (!event.turnId) throw illegalEvent(event, 'it has no turn id')
  const asked = state.turn.kind === 'none' ? state.turn.asked : undefined
  const next = takeInputs(state.parent && state.turn.kind === 'ended' ? withEarlierTurn(state, state.turn) : state, event.inputs)
  return {
    ...next,
    seq: event.seq,
    at: event.at,
    // Older versions held nothing.
    inputs: sendHeld(next.inputs),
    message: lastMessageId(event.treeId, event.inputs) ?? state.message,
    diagnostics: [],
    turns: state.turns + 1,
    turn: {
      kind: 'open',
      id: event.turnId,
      startedAt: asked ? event.at - asked.latencyMs : event.at,
      idleMs: 0,
      idleBefore: 0,
      waiting: { kind: 'no' },
      cancel: 'no',
      steps: 0,
      clientSteps: undefined,
      calls: 0,
      spent: asked ? { usage: asked.usage, cost: asked.cost } : { usage: noUsage, cost: 0 },
      paidUsd: asked?.paidUsd ?? 0,
      children: 0,
      spawned: noneSpawned,
      step: { kind: 'ready', failures: [] },
      dropped: [],
      probed: false,
      goal: inputMessages(state, event.inputs),
      rejections: 0,
      resumed: 0,
      repeats: 0,
      quickCompactions: 0,
      plan: undefined,
      lastText: '',
      accounting: asked ? Sequence.from([selectionEntry(asked, event.agentPath, stepIdOf(event.turnId, 0))]) : Sequence.empty(),
      diagnostics: Sequence.from(state.diagnostics),
    },
  }
}

const noneSpawned: readonly SpawnedChild[] = []

function withEarlierTurn(state: SessionState, { kind: _, paidUsd: __, children: ___, report: ____, ...turn }: EndedTurn): SessionState {
  const { accounting, diagnostics } = turn
  const earlier = { ...turn, kind: 'earlier', accounting: accounting.toJSON(), diagnostics: diagnostics.toJSON() } as const
  return { ...state, earlierTurns: [...(state.earlierTurns ?? []), earlier] }
}

function suspended(state: SessionState, event: Event<'interaction.turn.suspended'>): SessionState {
  const turn = openTurn(state, event)
  const since = turn.waiting.kind === 'no' ? event.at : turn.waiting.since
  return withTurn(state, event, {
    ...turn,
    waiting: { kind: 'suspended', since, ...(event.reason !== 'approval' && { for: event.reason }) },
  })
}

type TurnEnd = Event<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

function turnEnded(state: SessionState, event: TurnEnd): SessionState {
  const { id, accounting, diagnostics, paidUsd, children, idleMs, goal } = openTurn(state, event)
  const { ending, totals } = event
  const ended = { kind: 'ended', id, ending, totals, paidUsd, children, idleMs, inputs: goal.length, accounting, diagnostics } as const
  const inputs = state.inputs.length > 0 ? state.inputs.filter(({ child }) => child === undefined) : state.inputs
  return { ...state, seq: event.seq, at: event.at, inputs, turn: event.report ? { ...ended, report: event.report } : ended }
}

/** Charges the parent with the child. */
function childEnded(state: SessionState, event: ChildEnded): SessionState {
  if (event.turn !== undefined) return spawnedEnded(state, event, event.turn)
  const turn = openTurn(state, event)
  const { seq, at, totals, paidUsd, children } = event
  const next: OpenTurn = {
    ...turn,
    spent: addSpent(turn.spent, totals.usage, totals.cost),
    paidUsd: addUsd(turn.paidUsd, paidUsd),
    children: turn.children + children,
    idleMs: turn.idleMs + idleWithOnlyChild(state, turn, event),
  }
  return { ...state, seq, at, spent: addSpent(state.spent, totals.usage, totals.cost), turn: next }
}

/** The earlier driver is gone: calls that it may have begun are orphaned, and the time since then is idle. */
function resumed(state: SessionState, event: Event<'interaction.session.resumed'>): SessionState {
  const next = { ...addDiagnostics(state, event, event.diagnostics), policy: event.policy }
  if (next.turn.kind !== 'open') return next
  const { turn } = next
  const idleMs = turn.waiting.kind === 'no' ? turn.idleMs + Math.max(0, event.at - (event.stoppedAt ?? state.at)) : turn.idleMs
  if (turn.step.kind !== 'calling') return { ...next, turn: endWaiting({ ...turn, idleMs }, event.at) }
  return { ...next, turn: withCalls({ ...turn, idleMs }, turn.step, { calls: markOrphaned(turn.step.calls), at: event.at }) }
}

function addDiagnostics(state: SessionState, event: InteractionEvent, diagnostics: readonly Diagnostic[]): SessionState {
  if (state.turn.kind !== 'open') return { ...withPosition(state, event), diagnostics: [...state.diagnostics, ...diagnostics] }
  const all = diagnostics.reduce((list, diagnostic) => list.append(diagnostic), state.turn.diagnostics)
  return withTurn(state, event, { ...state.turn, diagnostics: all })
}

function contextAdded(state: SessionState, event: Event<'interaction.context.added'>): SessionState {
  const message: Message = { role: 'user', parts: [{ type: 'text', text: event.text }] }
  const initialMessages = state.turns === 0 && state.turn.kind === 'none' ? [...state.initialMessages, message] : state.initialMessages
  return { ...appendMessage(state, message), seq: event.seq, at: event.at, initialMessages }
}

/** A hook rejected the answer: the turn continues. */
function resumedByHook(state: SessionState, event: InteractionEvent): SessionState {
  const turn = openTurn(state, event)
  return withTurn(state, event, { ...turn, resumed: turn.resumed + 1, step: { kind: 'ready', failures: [] } })
}

function compacted(state: SessionState, event: Event<'interaction.context.compacted'>): SessionState {
  const { seq, at, messages, kept, carried } = event
  const all = state.history.toArray()
  if (kept > all.length) throw illegalEvent(event, `it keeps ${kept} messages of ${all.length}`)
  const left = [...messages, ...all.slice(all.length - kept)]
  const historyChars = left.reduce((sum, message) => sum + messageSize(message), 0)
  const next = { length: left.length, carried, helped: event.tokensAfter < event.tokensBefore }
  const turn = state.turn.kind === 'open' ? afterCompaction(state.turn, next.helped, all.length - state.compacted.length) : state.turn
  const stored = {
    ...state.stored,
    output: state.stored.output || event.output !== undefined,
    parts: left.some(hasStoredParts) || state.inputs.some(({ parts }) => parts.some(isStoredPart)),
  }
  return {
    ...state,
    seq,
    at,
    history: Sequence.from(left),
    historyChars,
    stored,
    compacted: next,
    turn,
  }
}

/** With fewer new messages, a compaction came too soon after the last one. */
const minNewMessages = 4

/** Earlier failures no longer apply to the shorter history; a `context` failure does if the history did not become shorter. */
function afterCompaction(turn: OpenTurn, helped: boolean, news: number): OpenTurn {
  const quickCompactions = news === 0 ? turn.quickCompactions : news < minNewMessages ? turn.quickCompactions + 1 : 0
  if (turn.step.kind !== 'ready') return { ...turn, quickCompactions }
  const isOver = ({ failure }: FailedAttempt): boolean => helped || failure.class !== 'context'
  const failures = turn.step.failures.map((each) => (isOver(each) ? ({ ...each, isVoid: true } as const) : each))
  return { ...turn, quickCompactions, step: { kind: 'ready', failures } }
}

function approvalRequested(state: SessionState, event: Event<'interaction.approval.requested'>): SessionState {
  const turn = openTurn(state, event)
  const step = callingStep(turn, event)
  const { request } = event
  const calls = step.calls.map((call): Call => {
    if (call.itemId !== request.itemId) return call
    if (call.kind === 'started' && request.scope !== 'unsandboxed') return { ...call, questions: withOpenQuestion(call.questions, request) }
    if (call.kind === 'started') return { ...call, sandbox: { kind: 'asking', request } }
    return { kind: 'awaiting', itemId: call.itemId, part: call.part, request }
  })
  const next = withCalls(turn, step, { calls, at: event.at })
  return { ...withPosition(state, event), turn: request.scope === 'client' ? withClientStep(next, step) : next }
}

function withClientStep(turn: OpenTurn, { id }: CallingStep): OpenTurn {
  const { last, count = 0 } = turn.clientSteps ?? {}
  return last === id ? turn : { ...turn, clientSteps: { last: id, count: count + 1 } }
}

function approvalResolved(state: SessionState, event: Event<'interaction.approval.resolved'>): SessionState {
  const turn = openTurn(state, event)
  const step = callingStep(turn, event)
  const { decision } = event
  const request = step.calls.map(requestOf).find((open) => open?.id === event.approvalId)
  if (!request) throw illegalEvent(event, 'no open request has that id')
  const calls = step.calls.map((call): Call => (requestOf(call) === request ? resolvedCall(call, event) : call))
  const next: OpenTurn = withCalls(turn, step, { calls, at: event.at })
  return {
    ...withPosition(decision.kind === 'abort' ? holdInputs(state) : state, event),
    grants: [...state.grants, ...grantedBy(request, decision)],
    turn: decision.kind === 'abort' ? { ...next, cancel: strongerCancel(next.cancel, 'abort') } : next,
  }
}

function resolvedCall(call: Call, { decision, by, approvalId }: Event<'interaction.approval.resolved'>): Call {
  const said = decision.kind === 'deny' && decision.feedback !== undefined && { feedback: decision.feedback }
  if (call.kind === 'started' && call.questions?.open) return { ...call, questions: withDecision(call.questions, approvalId, decision) }
  if (call.kind === 'started' && call.sandbox.kind === 'asking')
    return { ...call, sandbox: { ...call.sandbox, kind: decision.kind === 'approve' ? 'allowed' : 'refused', ...said } }
  if (call.kind !== 'awaiting') return call
  const base = { itemId: call.itemId, part: call.part, request: call.request }
  if (decision.kind === 'approve') return { kind: 'approved', ...base, by }
  if (decision.kind === 'answer') return { kind: 'approved', ...base, by, answer: decision.text }
  return { kind: 'denied', ...base, ...said }
}
