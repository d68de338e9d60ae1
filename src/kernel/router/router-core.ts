import { type Clock, type JsonObject, type Recipient, type SessionService, TroupeError } from '../../contracts/index.ts'
import type { Conversation, Conversations } from './conversation.ts'

/** What the parts of the router share, once the sessions are there. */
export interface RouterCore {
  readonly sessions: SessionService
  readonly conversations: Conversations
  readonly clock: Clock
  /** The agent of conversations. */
  readonly orchestrator: string
  readonly scope: string
  isTrusted(extension: string): boolean
  /** Stored when it resolves. The same id again is ignored. */
  reply(to: Recipient, reply: Reply): Promise<void>
  /** On the bus. Nobody waits for it. */
  publish(name: 'user_message' | 'agent_response', conversation: Conversation, data: MessageData): void
}

export interface MessageData extends JsonObject {
  readonly id: string
  readonly text: string
}

/** `id`: of the message that it answers. */
export interface Reply {
  readonly id: string
  readonly kind: 'notice' | 'error'
  readonly text: string
}

/** It was deleted. */
export const isUnknownSession = (error: unknown): boolean => error instanceof TroupeError && error.code === 'session_unknown'
