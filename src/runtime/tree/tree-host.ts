import type { ClientId, InboxMessage, Receipt, SessionService, TreeId } from '../../contracts/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { RunInput, RunOptions } from '../api/agent-runtime.ts'
import type { DriveResult } from '../api/outcome.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import type { Feed } from './event-feed.ts'
import type { TreeDriver } from './tree-driver.ts'

/** What handles and the session service need of the runtime. */
export interface TreeHost {
  readonly parts: RuntimeParts
  readonly sessions: SessionService
  /** Fires when everything that was driven here has ended. */
  readonly closed: Interrupt
  /** `door`: what may be said depends on who asks. */
  startTree(input: RunInput, options: RunOptions, caller?: 'run' | 'start'): StartedTree
  /** Puts a message into the inbox; drives the tree where that is for this runtime to do. */
  deliver(treeId: TreeId, message: InboxMessage, clientId?: ClientId): Promise<Receipt>
  /** Lets go of a tree that is at rest, and drives it for nobody until it is opened again. */
  release(treeId: TreeId): Promise<void>
  /** The driver of a tree, if this process drives it; waits for one that is starting. */
  driverOf(treeId: TreeId): Promise<TreeDriver | undefined>
  /** After a driver is settled: whether something reached its tree too late for it, which somebody here drives now. */
  continuesAfter(driver: TreeDriver): Promise<boolean>
  /** Whether another process that is alive drives the tree. */
  isDrivenElsewhere(treeId: TreeId): Promise<boolean>
}

export interface StartedTree {
  readonly treeId: TreeId
  readonly feed: Feed
  /** Rejects where the tree could not be started; nothing of it is stored then. */
  readonly started: Promise<TreeDriver>
  /** Never rejects. */
  readonly result: Promise<DriveResult>
}
