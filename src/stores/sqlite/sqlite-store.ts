import { join } from 'node:path'
import type { Deletion, Inbox, Store, TreeId, Trees } from '../../contracts/index.ts'
import { ChangeWatch } from './change-watch.ts'
import { CommitQueue } from './commit-queue.ts'
import { Connection, type Tables } from './connection.ts'
import { FileBlobs } from './file-blobs.ts'
import { Ownership } from './ownership.ts'
import { whileBusy } from './retry-busy.ts'
import { type StoreParts, sqliteJournal } from './sqlite-journal.ts'
import { type SqliteStoreOptions, settingsOf } from './sqlite-options.ts'

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
    journal: sqliteJournal(parts),
    inbox: sqliteInbox(parts),
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

function sqliteInbox({ connection, queue, changes, busyTimeoutMs }: StoreParts): Inbox {
  return {
    add(treeId, clientId, message) {
      const text = JSON.stringify(message)
      return queue.add({
        apply: ({ trees, inbox }) => inbox.add(trees.findOrCreate(treeId).key, clientId, text),
        committed: ({ repeated }) => {
          if (!repeated) changes.wake('inbox', treeId)
        },
      })
    },
    read: (treeId, after) => whileBusy(() => connection.tables.inbox.read(treeId, after), busyTimeoutMs),
    watch: (treeId, wake) => changes.watch('inbox', treeId, wake),
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
  // A store that only read does not wait for a lock.
  const released = ownership.hasClaimed
    ? queue.finish({
        apply({ trees, owners }) {
          trees.releaseAll(ownership.instance)
          owners.remove(ownership.instance)
        },
      })
    : queue.stop()
  // If this cannot be written, other processes find out that this one has ended.
  await Promise.all([released.catch(() => undefined), blobs.close()])
  ownership.stop()
  connection.close()
}

async function deleteTree({ queue }: StoreParts, blobs: FileBlobs, treeId: TreeId): Promise<Deletion> {
  const deletion = await queue.add({ apply: (tables) => deleteRows(tables, treeId) })
  if (deletion.ok) await removeBlobs(queue, blobs, [treeId])
  return deletion
}

async function vacuum({ connection, queue, busyTimeoutMs }: StoreParts, blobs: FileBlobs): Promise<void> {
  await removeBlobs(queue, blobs, await queue.add({ apply: ({ deletions }) => deletions.blobsToRemove() }))
  await whileBusy(() => connection.vacuum(), busyTimeoutMs)
}

function deleteRows({ trees, owners, deletions }: Tables, treeId: TreeId): Deletion {
  const tree = trees.find(treeId)
  if (tree === undefined) return { ok: false, refusal: 'missing' }
  const driver = tree.owner === undefined ? undefined : owners.alive(tree.owner)
  if (driver !== undefined) return { ok: false, refusal: 'driven', driver }
  deletions.removeRows(tree.key, treeId)
  if (tree.owner !== undefined) owners.removeIdle(tree.owner)
  return { ok: true }
}

async function removeBlobs(queue: StoreParts['queue'], blobs: FileBlobs, treeIds: readonly TreeId[]): Promise<void> {
  for (const treeId of treeIds) await blobs.remove(treeId)
  if (treeIds.length > 0) await queue.add({ apply: ({ deletions }) => treeIds.forEach(deletions.forgetBlobs) })
}
