import type { ApprovalDecision, ApprovalRequest } from './approvals.ts'
import type { InputMode, StreamEvent } from './events.ts'
import type { ApprovalId, ClientId, SessionId } from './ids.ts'
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

/** A message is recorded in the inbox of its session. */
export interface Receipt {
  /** The id of the message. An input appears under it in `interaction.input.accepted`. */
  readonly clientId: ClientId
  /** Whether a process drives the session and takes the message. If not, it takes effect when the session is opened next. */
  readonly driven: boolean
}

/** How a root session is listed. */
export interface SessionEntry extends Omit<TreeEntry, 'treeId'> {
  readonly sessionId: SessionId
}

/** Everything that a surface needs of the runtime, and nothing more. Ids that come in may be plain texts, as servers get them. */
export interface SessionService {
  /** Starts a new session; answers as soon as it is durable. */
  start(
    input: string | readonly InputPart[],
    options?: { readonly agent?: string; readonly overlay?: { readonly [name: string]: string } },
  ): Promise<SessionId>
  /**
   * `send`, `approve`, `revoke` and `cancel` record a message in the inbox, from any process. The runtime that started or opened the
   * session, and has not released it, drives it again where it is at rest; no other does.
   */
  send(sessionId: SessionId | string, input: string | readonly InputPart[], options?: SendOptions): Promise<Receipt>
  /**
   * Replays from after `seq`, then tails. Ends when the session is idle, or the service is closed: while a turn is
   * suspended it waits for the answer, wherever that comes from. No event is missed or repeated.
   */
  events(sessionId: SessionId | string, after?: number): AsyncIterable<StreamEvent>
  /** What it waits for, its children included, in the order in which it was asked for. */
  requests(sessionId: SessionId | string): Promise<readonly ApprovalRequest[]>
  approve(sessionId: SessionId | string, answer: ApprovalAnswer): Promise<Receipt>
  /** Takes back what was approved for the whole session. */
  revoke(sessionId: SessionId | string, keys: readonly string[], by?: string): Promise<Receipt>
  cancel(sessionId: SessionId | string, mode: 'stop' | 'interrupt', by?: string): Promise<Receipt>
  /** Resolves when the session is idle or suspended. */
  outcome(sessionId: SessionId | string): Promise<Outcome>
  /** How a session is listed; `undefined` where there is none. Waits for nothing. */
  get(sessionId: SessionId | string): Promise<SessionEntry | undefined>
  list(options?: { readonly limit?: number; readonly before?: number }): Promise<readonly SessionEntry[]>
}
