import type { AgentDescription, SessionEntry, SessionService, SkillCard } from '../../../contracts/index.ts'
import type { Redactor } from '../../../util/redact.ts'

/** What a chat needs of the session service, in this process or on a server. */
export type ChatSessions = Pick<
  SessionService,
  'start' | 'send' | 'events' | 'approve' | 'cancel' | 'get' | 'list' | 'fork' | 'export' | 'agents' | 'agentSetup'
>

/** The sessions that a chat talks to, and where they are. */
export interface ChatService {
  readonly sessions: ChatSessions
  /** Of the sessions. `@` completes paths in it. `undefined`: it is on another machine. */
  readonly workspace: string | undefined
  /** For the history of lines. */
  readonly dataFolder: string
  readonly redact: Redactor['text']
  /** Models that can be chosen, besides those of the agents. */
  readonly models: readonly string[]
  /** About the project and its models. */
  readonly notices: readonly string[]
  readonly warnings: readonly string[]
  /** @throws TroupeError if the agent cannot use this model. */
  checkModel(name: string, agent: AgentDescription): Promise<void>
  /** The skills that the agent may load. Absent where they are not known. */
  skills?(agent: AgentDescription): readonly Pick<SkillCard, 'name' | 'description'>[]
  /** The request that a person sees now: a new grant does not decide it. */
  shows?(id: string | undefined): void
  /** From now on messages continue this session. `id` may be its beginning. */
  open(id: string): Promise<SessionEntry>
  /** Sessions of this folder, newest first. */
  recent(limit: number): Promise<readonly SessionEntry[]>
  /** Tells when the server stops answering, and when it answers again. Absent without a server. */
  watchConnection?(listener: (isLost: boolean) => void): void
  /** The text of a prompt of an MCP server, `server/name key=value`. Absent where no prompt can be read. */
  prompt?(words: readonly string[]): Promise<string>
  /** The command that continues a session. */
  continueCommand(id: string): string
  /** Releases running turns: they continue when the session is opened again. */
  close(): Promise<void>
}
