import type { ApprovalDecision, InputMode, StreamEvent } from './events.ts'
import type { ApprovalId, ClientId, TreeId } from './ids.ts'
import type { InputPart } from './messages.ts'
import type { Outcome } from './outcome.ts'
import type { TreeEntry } from './store.ts'

export interface SendOptions {
  readonly mode?: InputMode
  /** Sending twice under one id counts once. */
  readonly clientId?: ClientId
}

/** Everything that a surface needs of the runtime, and nothing more. */
export interface SessionService {
  /** Starts a new tree; answers as soon as it is durable. */
  open(input: string | readonly InputPart[]): Promise<TreeId>
  send(treeId: TreeId, input: string | readonly InputPart[], options?: SendOptions): Promise<void>
  /** Replays from after `seq`, then tails. Ends when the session is idle; no event is missed or repeated. */
  events(treeId: TreeId, after?: number): AsyncIterable<StreamEvent>
  approve(treeId: TreeId, approvalId: ApprovalId, decision: ApprovalDecision): Promise<void>
  /** Takes back what was approved for the whole session. */
  revoke(treeId: TreeId, keys: readonly string[]): Promise<void>
  cancel(treeId: TreeId, mode: 'stop' | 'interrupt'): Promise<void>
  /** Resolves when the session is idle or suspended. */
  outcome(treeId: TreeId): Promise<Outcome>
  list(options?: { readonly limit?: number; readonly before?: number }): Promise<readonly TreeEntry[]>
}
