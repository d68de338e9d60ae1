import { type AccountingEntry, type AgentLoopStateSnapshot, type Diagnostic, type JsonObject, TroupeError } from '../../contracts/index.ts'
import { type Call, type CallList, callList, type OpenTurn, type SessionState, type Turn } from '../../core/index.ts'
import { Sequence } from '../../util/sequence.ts'

// A snapshot is the state as plain JSON. `restore(snapshotOf(state))` equals the state, and equal journals give equal bytes.

export function snapshotOf(state: SessionState): AgentLoopStateSnapshot {
  const { sessionId, seq, agent, tools, grants, policy, history, turn, ...rest } = state
  return {
    version: 1,
    sessionId,
    seq,
    selectedAgent: agent,
    skills: (agent.skills ?? []).map(({ name, scope, path, hash }) => ({ id: name, scope, path, hash })),
    tools,
    approvalKeys: grants,
    policy,
    history: history.toJSON(),
    state: { ...rest, turn: flatten(turn) } as unknown as JsonObject,
  }
}

/** @throws TroupeError `store_invalid` for a snapshot of another version. */
export function restore(snapshot: AgentLoopStateSnapshot): SessionState {
  if (snapshot.version !== 1) {
    throw new TroupeError('store_invalid', `Unknown snapshot version ${String(snapshot.version)}; this release reads version 1.`)
  }
  const { sessionId, seq, selectedAgent, tools, approvalKeys, policy, history } = snapshot
  const { turn, ...rest } = snapshot.state as unknown as Omit<SessionState, 'history' | 'turn'> & { turn: FlatTurn }
  return {
    ...rest,
    // Snapshots of earlier releases do not have it.
    maxOutputs: rest.maxOutputs ?? {},
    sessionId,
    seq,
    agent: selectedAgent,
    tools,
    grants: approvalKeys,
    policy,
    history: Sequence.from(history),
    turn: unflatten(turn),
  }
}

type FlatTurn = Turn extends infer T
  ? T extends { accounting: unknown }
    ? Omit<T, 'accounting' | 'diagnostics'> & { accounting: readonly AccountingEntry[]; diagnostics: readonly Diagnostic[] }
    : T
  : never

function flatten(turn: Turn): FlatTurn {
  if (turn.kind === 'none') return turn
  const flat = { ...turn, accounting: turn.accounting.toJSON(), diagnostics: turn.diagnostics.toJSON() }
  return flat.kind === 'open' ? { ...flat, step: withCalls(flat.step, (calls) => [...calls]) } : flat
}

function unflatten(turn: FlatTurn): Turn {
  if (turn.kind === 'none') return turn
  const full = { ...turn, accounting: Sequence.from(turn.accounting), diagnostics: Sequence.from(turn.diagnostics) }
  return full.kind === 'open' ? { ...full, step: withCalls(full.step, callList) } : full
}

function withCalls(step: OpenTurn['step'], change: (calls: CallList<Call>) => CallList<Call>): OpenTurn['step'] {
  return step.kind === 'calling' ? { ...step, calls: change(step.calls) } : step
}
