import type { AgentDescription } from '../../../contracts/index.ts'
import type { ChatService } from './chat-service.ts'

/** What every kind of chat begins with. */
export interface ChatOptions {
  readonly service: ChatService
  readonly agent: AgentDescription
  /** Of `--model`. */
  readonly model: string | undefined
  /** The session to continue. */
  readonly opens: string | undefined
}
