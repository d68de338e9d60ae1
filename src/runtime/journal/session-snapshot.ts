import type { AgentLoopStateSnapshot, JsonObject } from '../../contracts/index.ts'
import type { SessionState, Turn } from '../../core/index.ts'

/** The state as plain JSON. It can be restored, and equal journals give equal bytes. */
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

function flatten(turn: Turn): object {
  if (turn.kind === 'none') return turn
  const flat = { ...turn, accounting: turn.accounting.toJSON(), diagnostics: turn.diagnostics.toJSON() }
  return flat.kind === 'open' && flat.step.kind === 'calling' ? { ...flat, step: { ...flat.step, calls: [...flat.step.calls] } } : flat
}
