import type { AgentSpec, ClientId, InboxMessage, Outcome, SessionService, TreeId } from '../contracts/index.ts'
import type { Feed } from './feed.ts'
import type { LiveTree } from './live-tree.ts'
import type { RunInput } from './types.ts'
import type { Workshop } from './workshop.ts'

/** What handles and the session service need of the runtime. */
export interface TreeHouse {
  readonly workshop: Workshop
  readonly sessions: SessionService
  agent(name?: string): AgentSpec
  begin(input: RunInput, agent: AgentSpec): Beginning
  /** Puts a message into the inbox and sees to it that somebody drives the tree. */
  deliver(treeId: TreeId, message: InboxMessage, clientId?: ClientId): Promise<void>
  live(treeId: TreeId): LiveTree | undefined
}

export interface Beginning {
  readonly treeId: TreeId
  readonly feed: Feed
  /** Rejects where the tree could not be started; nothing of it is stored then. */
  readonly started: Promise<LiveTree>
  /** Never rejects. */
  readonly outcome: Promise<Outcome>
}
