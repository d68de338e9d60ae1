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
  /** Answers with the id under which the input will appear in `interaction.input.accepted`. */
  send(sessionId: SessionId | string, input: string | readonly InputPart[], options?: SendOptions): Promise<ClientId>
  /**
   * Replays from after `seq`, then tails. Ends when the session is idle, or the service is closed: while a turn is
   * suspended it waits for the answer, wherever that comes from. No event is missed or repeated.
   */
  events(sessionId: SessionId | string, after?: number): AsyncIterable<StreamEvent>
  /** What it waits for, its children included, in the order in which it was asked for. */
  requests(sessionId: SessionId | string): Promise<readonly ApprovalRequest[]>
  approve(sessionId: SessionId | string, answer: ApprovalAnswer): Promise<void>
  /** Takes back what was approved for the whole session. */
  revoke(sessionId: SessionId | string, keys: readonly string[], by?: string): Promise<void>
  cancel(sessionId: SessionId | string, mode: 'stop' | 'interrupt', by?: string): Promise<void>
  /** Resolves when the session is idle or suspended. */
  outcome(sessionId: SessionId | string): Promise<Outcome>
  /** How a session is listed; `undefined` where there is none. Waits for nothing. */
  get(sessionId: SessionId | string): Promise<SessionEntry | undefined>
  list(options?: { readonly limit?: number; readonly before?: number }): Promise<readonly SessionEntry[]>
}
