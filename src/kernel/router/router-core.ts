import {
  type Clock,
  type ClosedRequest,
  type Ids,
  type InteractionEvent,
  type Recipient,
  type Records,
  type SessionService,
  TroupeError,
} from '../../contracts/index.ts'
import type { Redactor } from '../../util/redact.ts'
import type { Bus, ReportDiagnostic } from '../shared/kernel-types.ts'
import type { Changes, Conversations } from './conversation.ts'

/** Who speaks when no agent does. */
export const system = 'troupe'

export interface RouterOptions {
  readonly records: Records
  readonly clock: Clock
  readonly ids: Ids
  readonly bus: Pick<Bus, 'publish'>
  readonly report: ReportDiagnostic
  /** Whether a person has read the code of this extension. If not, its messages approve nothing, and its tasks say so. Default: yes. */
  isTrusted?(extension: string): boolean
  /** Whether it is part of Troupe. Default: no. */
  isBundled?(extension: string): boolean
  /** Of what channels get. Asked each time: more secrets may be known. Default: tokens of Troupe only. */
  redactor?(): Redactor
  /** Keeps sessions apart from those of other projects in the same store. */
  readonly scope?: string
}

/** What the parts of the router share, once the sessions are there. */
export interface RouterCore {
  readonly sessions: SessionService
  readonly conversations: Conversations
  readonly clock: Clock
  readonly scope: string
  isTrusted(extension: string): boolean
  /** Stored when it resolves. The same id again is ignored. */
  reply(to: Recipient, reply: Reply): Promise<void>
  /** Tells the channel that a request has ended. Stored when it resolves. The same request again is ignored. */
  closeRequest(to: Recipient, closed: Pick<ClosedRequest, 'id' | 'outcome' | 'by'>): Promise<void>
  /** On the bus. The same id again is ignored. A failure is reported. */
  publish(name: 'user_message' | 'agent_response', to: Recipient & Pick<Changes, 'sessionId'>, data: MessageData): Promise<void>
}

export interface MessageData {
  readonly id: string
  readonly text: string
  readonly speaker?: string
  /** The message that it follows from. Default: a new id. */
  readonly correlationId?: string | undefined
}

/** `id`: of the message that it answers. */
export interface Reply {
  readonly id: string
  readonly kind: 'notice' | 'error'
  readonly text: string
}

/** It was deleted. */
export const isUnknownSession = (error: unknown): boolean => error instanceof TroupeError && error.code === 'session_unknown'

export const endsTurn = ({ type }: InteractionEvent): boolean =>
  type === 'interaction.turn.completed' || type === 'interaction.turn.failed' || type === 'interaction.turn.interrupted'
