import type { ClientId, Inbox, InboxMessage, InboxRow, TreeId } from '../../contracts/index.ts'
import { whileBusy } from './backoff.ts'
import type { StoreParts } from './store-parts.ts'

export class SqliteInbox implements Inbox {
  readonly #parts: StoreParts

  constructor(parts: StoreParts) {
    this.#parts = parts
  }

  add(treeId: TreeId, clientId: ClientId, message: InboxMessage): Promise<{ readonly position: number; readonly repeated: boolean }> {
    const { queue, changes } = this.#parts
    const text = JSON.stringify(message)
    return queue.add({
      apply: ({ trees, inbox }) => inbox.add({ key: trees.findOrMake(treeId).key, clientId, text }),
      committed: ({ repeated }) => {
        if (!repeated) changes.wake('inbox', treeId)
      },
    })
  }

  read(treeId: TreeId, after: number): Promise<readonly InboxRow[]> {
    const { connection, busyTimeoutMs } = this.#parts
    return whileBusy(() => connection.tables.inbox.read(treeId, after), busyTimeoutMs)
  }

  watch(treeId: TreeId, wake: () => void): () => void {
    return this.#parts.changes.watch('inbox', treeId, wake)
  }
}
