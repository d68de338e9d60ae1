import type { AgentLoopStateSnapshot } from '../src/contracts/index.ts'
import type { SessionState } from '../src/core/index.ts'
import { type Stored, sessionOf } from '../src/runtime/journal/tree-snapshot.ts'

/** The state of a snapshot: `restore(snapshotOf(state))` equals the state. */
export function restore({ version: _, skills: __, selectedAgent, approvalKeys, state, ...same }: AgentLoopStateSnapshot): SessionState {
  const { turn, ...rest } = state
  return sessionOf({ ...rest, ...same, turn, agent: selectedAgent, grants: approvalKeys } as unknown as Stored<SessionState>)
}
