import { join } from 'node:path'
import type { Store, TreeId, Trees } from '../../contracts/index.ts'
import { whileBusy } from './backoff.ts'
import { ChangeWatch } from './change-watch.ts'
import { CommitQueue } from './commit-queue.ts'
import { Connection, type Tables } from './connection.ts'
import { deleteTree, vacuum } from './deletion.ts'
import { FileBlobs } from './file-blobs.ts'
import { type SqliteStoreOptions, settingsOf } from './options.ts'
import { Ownership } from './ownership.ts'
import { SqliteInbox } from './sqlite-inbox.ts'
import { SqliteJournal } from './sqlite-journal.ts'
import type { StoreParts } from './store-parts.ts'

/**
 * A durable store in one folder, for any number of processes on one machine.
 *
 * ```ts
 * const store = sqliteStore({ path: '/var/lib/troupe' })
 * ```
 *
 * Throws `config_invalid` for options that are wrong, `store_invalid` for a file that this version cannot read, `store_failed`
 * for a folder that cannot be used.
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const settings = settingsOf(options)
  const { path, timing } = settings
  const connection = new Connection(settings)
  const queue = new CommitQueue(connection, timing.busyTimeoutMs)
  const ownership = new Ownership(queue, timing.heartbeatMs)
  const changes = new ChangeWatch(connection, timing.pollMs)
  const parts: StoreParts = { connection, queue, ownership, changes, busyTimeoutMs: timing.busyTimeoutMs }
  const blobs = new FileBlobs(join(path, 'blobs'))
  let closing: Promise<void> | undefined
  return {
    journal: new SqliteJournal(parts),
    inbox: new SqliteInbox(parts),
    blobs,
    trees: sqliteTrees(parts, blobs),
    snapshots: {
      get: (treeId, version) => whileBusy(() => connection.tables.snapshots.get(treeId, version), timing.busyTimeoutMs),
      put: (treeId, snapshot) => queue.add({ apply: ({ snapshots }) => snapshots.put(treeId, snapshot) }),
    },
    vacuum: () => vacuum(parts, blobs),
    close() {
      closing ??= close(parts, blobs)
      return closing
    },
  }
}

function sqliteTrees(parts: StoreParts, blobs: FileBlobs): Trees {
  const { connection, busyTimeoutMs } = parts
  return {
    get: (treeId) => whileBusy(() => connection.tables.trees.get(treeId), busyTimeoutMs),
    list: (options = {}) => whileBusy(() => connection.tables.trees.list(options), busyTimeoutMs),
    driver: (treeId) => whileBusy(() => driverOf(connection.tables, treeId), busyTimeoutMs),
    find: (key) => whileBusy(() => connection.tables.trees.findByKey(key), busyTimeoutMs),
    delete: (treeId) => deleteTree(parts, blobs, treeId),
  }
}

function driverOf({ trees, owners }: Tables, treeId: TreeId): string | undefined {
  const owner = trees.find(treeId)?.owner
  return owner === undefined ? undefined : owners.alive(owner)
}

async function close({ connection, queue, ownership, changes }: StoreParts, blobs: FileBlobs): Promise<void> {
  ownership.stop()
  changes.close()
  // Whoever only read need not wait for a lock.
  const goodbye = ownership.hasClaimed
    ? queue.finish({
        apply({ trees, owners }) {
          trees.giveUpAll(ownership.instance)
          owners.remove(ownership.instance)
        },
      })
    : queue.stop()
  // A goodbye that could not be written is no reason to stay open: this process will be found gone.
  await Promise.all([goodbye.catch(() => undefined), blobs.close()])
  ownership.stop()
  connection.close()
}
