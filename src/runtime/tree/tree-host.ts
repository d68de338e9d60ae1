import type { ClientId, InboxMessage, Receipt, SessionService, TreeId } from '../../contracts/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { RunInput, RunOptions } from '../api/agent-runtime.ts'
import type { DriveResult } from '../api/outcome.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import type { Feed } from './event-feed.ts'
import type { TreeDriver } from './tree-driver.ts'

/** What handles and the session service need from the runtime. */
export interface TreeHost {
  readonly parts: RuntimeParts
  readonly sessions: SessionService
  /** Fires when no tree is driven here any more. */
  readonly closed: Interrupt
  /** `caller` decides which options are valid. */
  startTree(input: RunInput, options: RunOptions, caller?: 'run' | 'start'): StartedTree
  /** Adds a message to the inbox, and resumes the tree if it belongs to this runtime. */
  deliver(treeId: TreeId, message: InboxMessage, clientId?: ClientId): Promise<Receipt>
  /** Releases an idle tree. Messages do not resume it until it is opened again. */
  release(treeId: TreeId): Promise<void>
  /** The driver of a tree in this process; waits for one that is starting. */
  driverOf(treeId: TreeId): Promise<TreeDriver | undefined>
  /** After a driver has settled: whether a message came too late for it, and another driver has resumed the tree. */
  continuesAfter(driver: TreeDriver): Promise<boolean>
  /** Whether another process that is alive drives the tree. */
  isDrivenElsewhere(treeId: TreeId): Promise<boolean>
}

export interface StartedTree {
  readonly treeId: TreeId
  readonly feed: Feed
  /** Rejects if the tree could not be started. Nothing is stored then. */
  readonly started: Promise<TreeDriver>
  /** Never rejects. */
  readonly result: Promise<DriveResult>
}
