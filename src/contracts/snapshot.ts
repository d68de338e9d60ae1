import type { AgentSpec } from './agent.ts'
import type { ApprovalKey } from './approvals.ts'
import type { SessionId } from './ids.ts'
import type { JsonObject } from './json.ts'
import type { Message } from './messages.ts'

/** The state of a session at a position of its journal: plain JSON, the same bytes for the same journal. */
export interface AgentLoopStateSnapshot {
  readonly version: 1
  readonly sessionId: SessionId
  readonly seq: number
  readonly selectedAgent: AgentSpec
  /** Available skills, with the hash of their content. */
  readonly skills: readonly { readonly id: string; readonly scope: string; readonly path: string; readonly hash: string }[]
  /** Names of the offered tools, sorted. */
  readonly tools: readonly string[]
  /** Approvals given for the whole session. */
  readonly approvalKeys: readonly ApprovalKey[]
  /** Hash of the policy under which they were given. */
  readonly policy: string
  readonly history: readonly Message[]
  /** The rest of the state. Its shape is not part of the contract. */
  readonly state: JsonObject
}
