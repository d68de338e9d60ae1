import type { SessionId, TreeEntry, TreeId } from '../../contracts/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'

/** The runtime, for those who manage stored sessions. */
export interface SessionsHost {
  /** The parts of the newest configuration. */
  readonly parts: RuntimeParts
  /** Fires when no tree is driven here any more. */
  readonly closed: Interrupt
  /** A message to this tree resumes it. */
  hold(treeId: TreeId): void
  delete(treeId: TreeId): Promise<void>
  /** Also of a session that was started just now: its first events are stored then. */
  entryOf(treeId: TreeId): Promise<TreeEntry | undefined>
  /** @throws `session_unknown` */
  storedId(sessionId: SessionId | string): Promise<TreeId>
}
