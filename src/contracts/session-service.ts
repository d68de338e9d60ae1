import type { ApprovalDecision, ApprovalRequest } from './approvals.ts'
import type { InputMode, StreamEvent } from './events.ts'
import type { ApprovalId, ClientId, TreeId } from './ids.ts'
import type { InputPart } from './messages.ts'
import type { Outcome } from './outcome.ts'
import type { TreeEntry } from './store.ts'

export interface SendOptions {
  readonly mode?: InputMode
  /** Sending twice under one id counts once. */
  readonly clientId?: ClientId | string
}

export interface ApprovalAnswer {
  readonly approvalId: ApprovalId | string
  readonly decision: ApprovalDecision
  /** Who decided; stands in the journal. */
  readonly by?: string
}

/** Everything that a surface needs of the runtime, and nothing more. Ids that come in may be plain texts, as servers get them. */
export interface SessionService {
  /** Starts a new tree; answers as soon as it is durable. */
  start(
    input: string | readonly InputPart[],
    options?: { readonly agent?: string; readonly overlay?: { readonly [name: string]: string } },
  ): Promise<TreeId>
  /** Answers with the id under which the input will appear in `interaction.input.accepted`. */
  send(treeId: TreeId | string, input: string | readonly InputPart[], options?: SendOptions): Promise<ClientId>
  /**
   * Replays from after `seq`, then tails. Ends when the session is idle, or the service is closed: while a turn is
   * suspended it waits for the answer, wherever that comes from. No event is missed or repeated.
   */
  events(treeId: TreeId | string, after?: number): AsyncIterable<StreamEvent>
  /** What it waits for, its children included, in the order in which it was asked for. */
  requests(treeId: TreeId | string): Promise<readonly ApprovalRequest[]>
  approve(treeId: TreeId | string, answer: ApprovalAnswer): Promise<void>
  /** Takes back what was approved for the whole session. */
  revoke(treeId: TreeId | string, keys: readonly string[], by?: string): Promise<void>
  cancel(treeId: TreeId | string, mode: 'stop' | 'interrupt', by?: string): Promise<void>
  /** Resolves when the session is idle or suspended. */
  outcome(treeId: TreeId | string): Promise<Outcome>
  /** How a tree is listed; nothing where there is none. Waits for nothing. */
  get(treeId: TreeId | string): Promise<TreeEntry | undefined>
  list(options?: { readonly limit?: number; readonly before?: number }): Promise<readonly TreeEntry[]>
}
