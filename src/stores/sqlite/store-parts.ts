import type { ChangeWatch } from './change-watch.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Connection } from './connection.ts'
import type { Ownership } from './ownership.ts'

/** What the ports of one store share. */
export interface StoreParts {
  readonly connection: Connection
  readonly queue: CommitQueue
  readonly ownership: Ownership
  readonly changes: ChangeWatch
  readonly busyTimeoutMs: number
}
