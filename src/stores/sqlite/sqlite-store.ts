import { join } from 'node:path'
import type { Inbox, Records, Store, StoredRecord } from '../../contracts/index.ts'
import { checkRecordKey } from '../shared/record-keys.ts'
import { ChangeWatch } from './change-watch.ts'
import { ClaimedTrees } from './claimed-trees.ts'
import { CommitQueue } from './commit-queue.ts'
import { Connection, type Tables } from './connection.ts'
import { FileBlobs } from './file-blobs.ts'
import { whileBusy } from './retry-busy.ts'
import { SearchIndexer } from './search-indexer.ts'
import { type StoreParts, sqliteJournal } from './sqlite-journal.ts'
import { type SqliteStoreOptions, settingsOf } from './sqlite-options.ts'
import { removeBlobs, sqliteTrees } from './sqlite-trees.ts'
import { sqliteTurns } from './sqlite-turns.ts'
import { storeCheck } from './store-check.ts'

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
  const { path, access, timing } = settings
  const connection = new Connection(settings)
  const queue = new CommitQueue(connection, timing.busyTimeoutMs)
  const claimed = new ClaimedTrees(queue, timing.heartbeatMs)
  const changes = new ChangeWatch(connection, timing.pollMs)
  const indexer = new SearchIndexer(queue, access === 'write')
  const parts: StoreParts = { connection, queue, claimed, changes, indexer, busyTimeoutMs: timing.busyTimeoutMs }
  const blobs = new FileBlobs(join(path, 'blobs'), (error) => queue.noteFailure(error))
  let closing: Promise<void> | undefined
  return {
    journal: sqliteJournal(parts),
    inbox: sqliteInbox(parts),
    blobs,
    trees: sqliteTrees(parts, blobs),
    records: sqliteRecords(parts),
    usages: { get: (owner, period) => whileBusy(() => connection.tables.records.usage(owner, period), timing.busyTimeoutMs) },
    turns: sqliteTurns(parts),
    snapshots: {
      get: (treeId, version) => whileBusy(() => connection.tables.snapshots.get(treeId, version), timing.busyTimeoutMs),
      put: (treeId, snapshot) => queue.add({ apply: ({ snapshots }) => snapshots.put(treeId, snapshot) }),
    },
    check: storeCheck(parts, blobs, settings),
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

type Changed = { readonly ok: true; readonly record: StoredRecord | undefined } | { readonly ok: false; readonly error: unknown }

function sqliteRecords({ connection, queue, busyTimeoutMs }: StoreParts): Records {
  return {
    get: (namespace, key) => whileBusy(() => connection.tables.records.get(namespace, key), busyTimeoutMs),
    list: (namespace, options = {}) => whileBusy(() => connection.tables.records.list(namespace, options), busyTimeoutMs),
    async update(namespace, key, change) {
      checkRecordKey(namespace, key)
      const changed = await queue.add<Changed>({ apply: ({ records }) => changeRecord(records, { namespace, key, change }) })
      if (changed.ok) return changed.record
      throw changed.error
    },
  }
}

interface RecordChange {
  readonly namespace: string
  readonly key: string
  readonly change: Parameters<Records['update']>[2]
}

/** An error of the caller's function is returned: it must not roll back other operations of the commit. */
function changeRecord(records: Tables['records'], { namespace, key, change }: RecordChange): Changed {
  let next: ReturnType<RecordChange['change']>
  try {
    next = change(records.get(namespace, key))
  } catch (error) {
    return { ok: false, error }
  }
  if (next === undefined) {
    records.remove(namespace, key)
    return { ok: true, record: undefined }
  }
  const record: StoredRecord = { key, ...(next.due !== undefined && { due: next.due }), value: next.value }
  records.put(namespace, record)
  return { ok: true, record }
}

async function close({ connection, queue, claimed, changes }: StoreParts, blobs: FileBlobs): Promise<void> {
  claimed.stop()
  changes.close()
  // A store that only read does not wait for a lock.
  const released = claimed.hasClaimed
    ? queue.finish({
        apply({ trees, drivers }) {
          trees.releaseAll(claimed.instance)
          drivers.remove(claimed.instance)
        },
      })
    : queue.stop()
  // If this cannot be written, other processes find out that this one has ended.
  await Promise.all([released.catch(() => undefined), blobs.close()])
  claimed.stop()
  connection.close()
}

async function vacuum({ connection, queue, indexer, busyTimeoutMs }: StoreParts, blobs: FileBlobs): Promise<void> {
  await removeBlobs(queue, blobs, await queue.add({ apply: ({ deletions }) => deletions.blobsToRemove() }))
  await indexer.vacuum()
  await whileBusy(() => connection.vacuum(), busyTimeoutMs)
}
