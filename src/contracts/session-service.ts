import type { ApprovalDecision, ApprovalRequest } from './approvals.ts'
import type { InputMode, StreamEvent } from './events.ts'
import type { ApprovalId, ClientId, SessionId } from './ids.ts'
import type { InputPart } from './messages.ts'
import type { Outcome } from './outcome.ts'
import type { TreeEntry } from './store.ts'

export interface SendOptions {
  readonly mode?: InputMode
  /**
   * A child of the session, by its session id or agent path (`root/researcher#1`): a spawned one, or one that works. If it is not
   * live when the message is read, the session records a diagnostic.
   */
  readonly to?: SessionId | string
  /** A message that is sent twice under one id is accepted once. */
  readonly clientId?: ClientId | string
}

export interface ApprovalAnswer {
  readonly approvalId: ApprovalId | string
  readonly decision: ApprovalDecision
  /** Who decided. Recorded in the journal. */
  readonly by?: string
}

/** The message is stored in the inbox of its session. */
export interface Receipt {
  /** The id of the message. An input appears under it in `interaction.input.accepted`. */
  readonly clientId: ClientId
  /** Whether a process drives the session. If not, the message takes effect when the session is opened next. */
  readonly driven: boolean
}

/** A root session in a list. */
export interface SessionEntry extends Omit<TreeEntry, 'treeId'> {
  readonly sessionId: SessionId
}

/** The interface for user interfaces and servers. Ids may be plain strings. */
export interface SessionService {
  /** Starts a new session. Resolves when it is durable. */
  start(
    input: string | readonly InputPart[],
    options?: { readonly agent?: string; readonly overlay?: { readonly [name: string]: string } },
  ): Promise<SessionId>
  /**
   * `send`, `approve`, `revoke` and `cancel` store a message in the inbox, from any process. Only the runtime that started or
   * opened the session, and has not released it, continues an idle session.
   */
  send(sessionId: SessionId | string, input: string | readonly InputPart[], options?: SendOptions): Promise<Receipt>
  /**
   * Replays the events after `seq`, then follows. Ends when the session is idle or the service is closed; while a turn is
   * suspended, it waits. No event is missed or repeated.
   */
  events(sessionId: SessionId | string, after?: number): AsyncIterable<StreamEvent>
  /** Open requests of the session and its descendants, oldest first. */
  requests(sessionId: SessionId | string): Promise<readonly ApprovalRequest[]>
  approve(sessionId: SessionId | string, answer: ApprovalAnswer): Promise<Receipt>
  /** Revokes approvals for the whole session. */
  revoke(sessionId: SessionId | string, keys: readonly string[], by?: string): Promise<Receipt>
  cancel(sessionId: SessionId | string, mode: 'stop' | 'interrupt', by?: string): Promise<Receipt>
  /** Resolves when the session is idle or suspended. */
  outcome(sessionId: SessionId | string): Promise<Outcome>
  /** `undefined` if there is no such session. */
  get(sessionId: SessionId | string): Promise<SessionEntry | undefined>
  list(options?: { readonly limit?: number; readonly before?: number }): Promise<readonly SessionEntry[]>
}
