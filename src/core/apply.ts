import type { Diagnostic, InteractionEvent, TurnTotals } from '../contracts/index.ts'
import { noUsage, TroupeError } from '../contracts/index.ts'
import { Sequence } from '../util/sequence.ts'
import {
  applyItemCompleted,
  applyItemStarted,
  applyItemUpdated,
  applyStepCompleted,
  applyStepFailed,
  applyStepStarted,
} from './apply-step.ts'
import { absorb, illegal, openTurn, stamp, withTurn } from './changes.ts'
import type { Call, EndedTurn, OpenTurn, SessionState, StartedCall } from './state.ts'

// The reducer. Pure: the state given is never changed, and the same events always give the same state.
// An event that can not follow is a broken journal, and said so rather than folded into nonsense.

type Event<T extends InteractionEvent['type']> = InteractionEvent<T>

export function apply(state: SessionState, event: InteractionEvent): SessionState {
  switch (event.type) {
    case 'interaction.session.created':
      throw illegal(event, 'a session is created once')
    case 'interaction.session.configured':
      return { ...state, ...stamp(event), agent: event.agent, tools: event.tools, promptChars: event.promptChars }
    case 'interaction.session.resumed':
      return resumed(state, event)
    case 'interaction.input.accepted':
      return {
        ...state,
        ...stamp(event),
        inputs: [...state.inputs, { clientId: event.clientId, parts: event.parts, mode: event.mode }],
        inboxCursor: event.inbox ?? state.inboxCursor,
      }
    case 'interaction.turn.started':
      return turnStarted(state, event)
    case 'interaction.turn.suspended':
      return withTurn(state, event, { suspended: true })
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
    case 'interaction.approval.revoked':
      return {
        ...state,
        ...stamp(event),
        grants: state.grants.filter((grant) => !event.keys.includes(grant.key)),
        inboxCursor: event.inbox ?? state.inboxCursor,
      }
    case 'interaction.cancel.requested':
      return cancelRequested(state, event)
    case 'interaction.diagnostic':
      return noted({ ...state, inboxCursor: event.inbox ?? state.inboxCursor }, event, [event.diagnostic])
    case 'interaction.session.idle':
    case 'interaction.subagent.selected':
    case 'interaction.hook.completed':
      return { ...state, ...stamp(event) }
    default:
      return event satisfies never
  }
}

/** The state that a session begins with. */
export function created(event: Event<'interaction.session.created'>): SessionState {
  return {
    treeId: event.treeId,
    sessionId: event.sessionId,
    agentPath: event.agentPath,
    seq: event.seq,
    at: event.at,
    agent: event.agent,
    trace: event.trace,
    tools: event.tools,
    policy: event.policy,
    history: Sequence.empty(),
    promptChars: event.promptChars,
    historyChars: 0,
    charsPerToken: 4,
    inputs: [],
    inboxCursor: 0,
    grants: [],
    storedOutputs: 0,
    spent: { usage: noUsage, cost: 0 },
    diagnostics: [],
    turns: 0,
    turn: { kind: 'none' },
  }
}

/** Folds a whole journal of one session. */
export function fold(events: Iterable<InteractionEvent>): SessionState {
  let state: SessionState | undefined
  for (const event of events) {
    if (state) state = apply(state, event)
    else if (event.type === 'interaction.session.created') state = created(event)
    else throw illegal(event, 'a journal begins with interaction.session.created')
  }
  if (!state) throw new TroupeError('store_invalid', 'The journal is empty: a journal begins with interaction.session.created.')
  return state
}

function turnStarted(state: SessionState, event: Event<'interaction.turn.started'>): SessionState {
  if (state.turn.kind === 'open') throw illegal(event, 'the turn before it has not ended')
  if (!event.turnId) throw illegal(event, 'it names no turn')
  return {
    ...absorb(state, event.inputs),
    ...stamp(event),
    diagnostics: [],
    turns: state.turns + 1,
    turn: {
      kind: 'open',
      id: event.turnId,
      startedAt: event.at,
      idleMs: 0,
      suspended: false,
      cancel: 'no',
      steps: 0,
      calls: 0,
      spent: { usage: noUsage, cost: 0 },
      step: { kind: 'ready', failures: [] },
      dropped: [],
      lastText: '',
      accounting: Sequence.empty(),
      diagnostics: Sequence.from(state.diagnostics),
    },
  }
}

type TurnEnd = Event<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

function turnEnded(state: SessionState, event: TurnEnd): SessionState {
  const { id, accounting, diagnostics } = openTurn(state, event)
  const base = { kind: 'ended' as const, id, accounting, diagnostics, totals: event.totals satisfies TurnTotals }
  return { ...state, ...stamp(event), turn: { ...base, ...endingOf(event) } }
}

function endingOf(event: TurnEnd): Pick<EndedTurn, 'status' | 'reason' | 'message' | 'remedy' | 'failure' | 'report'> {
  const report = event.report && { report: event.report }
  const reason = event.reason && { reason: event.reason }
  switch (event.type) {
    case 'interaction.turn.completed':
      return { status: event.status, ...reason, ...report }
    case 'interaction.turn.failed':
      return {
        status: 'failed',
        message: event.message,
        ...reason,
        ...report,
        ...(event.remedy && { remedy: event.remedy }),
        ...(event.failure && { failure: event.failure }),
      }
    case 'interaction.turn.interrupted':
      return { status: 'interrupted', ...reason, ...report }
    default:
      return event satisfies never
  }
}

/** The driver before this one is gone: what it had in flight is orphaned, and the time since was not work. */
function resumed(state: SessionState, event: Event<'interaction.session.resumed'>): SessionState {
  const next = noted(state, event, event.diagnostics)
  if (next.turn.kind !== 'open') return next
  const { turn } = next
  const idleMs = turn.waitingSince === undefined ? turn.idleMs + Math.max(0, event.at - state.at) : turn.idleMs
  switch (turn.step.kind) {
    case 'asking':
      return { ...next, turn: { ...turn, idleMs, step: { ...turn.step, orphaned: true } } }
    case 'calling':
      return { ...next, turn: { ...turn, idleMs, step: { ...turn.step, calls: turn.step.calls.map(orphan) } } }
    default:
      return { ...next, turn: { ...turn, idleMs } }
  }
}

function orphan(call: Call): Call {
  return call.kind === 'started' ? { ...withoutEscalation(call), orphaned: true } : call
}

function withoutEscalation(call: StartedCall): StartedCall {
  const { escalation: _, ...rest } = call
  return rest
}

function noted(state: SessionState, event: InteractionEvent, diagnostics: readonly Diagnostic[]): SessionState {
  if (state.turn.kind !== 'open') return { ...state, ...stamp(event), diagnostics: [...state.diagnostics, ...diagnostics] }
  const all = diagnostics.reduce((list, diagnostic) => list.append(diagnostic), state.turn.diagnostics)
  return withTurn(state, event, { diagnostics: all })
}

function cancelRequested(state: SessionState, event: Event<'interaction.cancel.requested'>): SessionState {
  const next = { ...state, ...stamp(event), inboxCursor: event.inbox ?? state.inboxCursor }
  if (next.turn.kind !== 'open' || next.turn.cancel === 'interrupt') return next
  return { ...next, turn: { ...next.turn, cancel: event.mode } }
}

function approvalRequested(state: SessionState, event: Event<'interaction.approval.requested'>): SessionState {
  const turn = openTurn(state, event)
  if (turn.step.kind !== 'calling') throw illegal(event, 'no step has calls to approve')
  const { request } = event
  const calls = turn.step.calls.map((call): Call => {
    if (call.itemId !== request.itemId) return call
    if (call.kind === 'started') return { ...call, escalation: request }
    return { kind: 'awaiting', itemId: call.itemId, part: call.part, request }
  })
  return withTurn(state, event, { waitingSince: turn.waitingSince ?? event.at, step: { ...turn.step, calls } })
}

function approvalResolved(state: SessionState, event: Event<'interaction.approval.resolved'>): SessionState {
  const turn = openTurn(state, event)
  if (turn.step.kind !== 'calling') throw illegal(event, 'no step has calls to approve')
  const { decision } = event
  let granted = state.grants
  const calls = turn.step.calls.map((call): Call => {
    const request = call.kind === 'awaiting' ? call.request : call.kind === 'started' ? call.escalation : undefined
    if (request?.id !== event.approvalId) return call
    if (decision.kind === 'approve' && decision.breadth === 'session') granted = [...granted, ...request.keys]
    if (call.kind === 'started') return { ...withoutEscalation(call), unsandboxed: decision.kind === 'approve' }
    const base = { itemId: call.itemId, part: call.part, request }
    if (decision.kind === 'approve') return { kind: 'approved', ...base }
    return { kind: 'denied', ...base, ...(decision.kind === 'deny' && decision.feedback !== undefined && { feedback: decision.feedback }) }
  })
  const { waitingSince, ...rest } = turn
  const stillWaiting = calls.some((call) => call.kind === 'awaiting' || (call.kind === 'started' && call.escalation))
  const open: OpenTurn = stillWaiting
    ? turn
    : { ...rest, suspended: false, idleMs: rest.idleMs + (waitingSince === undefined ? 0 : Math.max(0, event.at - waitingSince)) }
  return {
    ...state,
    ...stamp(event),
    grants: granted,
    inboxCursor: event.inbox ?? state.inboxCursor,
    turn: { ...open, cancel: decision.kind === 'abort' ? 'abort' : open.cancel, step: { ...turn.step, calls } },
  }
}
