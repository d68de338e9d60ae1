import { setImmediate as nextTask } from 'node:timers/promises'
import type { Deletion, TreeEntry, TreeFilter, TreeId, Trees } from '../../contracts/index.ts'
import type { Tables } from './connection.ts'
import type { FileBlobs } from './file-blobs.ts'
import { whileBusy } from './retry-busy.ts'
import { maxPendingTexts } from './search-indexer.ts'
import { textSearch } from './search-table.ts'
import type { StoreParts } from './sqlite-journal.ts'

export function sqliteTrees(parts: StoreParts, blobs: FileBlobs): Trees {
  const { connection, queue, claimed, changes, busyTimeoutMs } = parts
  return {
    get: (treeId) => whileBusy(() => connection.tables.trees.get(treeId), busyTimeoutMs),
    list: (filter = {}) =>
      filter.search === undefined ? whileBusy(() => connection.tables.trees.list(filter), busyTimeoutMs) : search(parts, filter),
    update: (treeId, update) =>
      queue.add({
        apply(tables) {
          const entry = tables.trees.update(treeId, update)
          if (entry) tables.changes.note(treeId)
          return entry
        },
        committed(entry) {
          if (entry) changes.wakeTrees({ treeId, entry })
        },
      }),
    watch: (changed) => changes.watchTrees(changed),
    driver: (treeId) => (claimed.isReleased(treeId) ? undefined : whileBusy(() => driverOf(connection.tables, treeId), busyTimeoutMs)),
    abandoned: (workspace) => whileBusy(() => abandoned(connection.tables, workspace), busyTimeoutMs),
    find: (key) => whileBusy(() => connection.tables.trees.findByKey(key), busyTimeoutMs),
    delete: (treeId) => deleteTree(parts, blobs, treeId),
  }
}

/** Looks through texts that are not in the index in parts: they are many where the index cannot be written. */
async function search({ connection, indexer, busyTimeoutMs }: StoreParts, filter: TreeFilter): Promise<readonly TreeEntry[]> {
  const search = textSearch(filter.search)
  const pending = await whileBusy(() => connection.tables.index.pending(), busyTimeoutMs)
  if (pending > maxPendingTexts) await indexer.catchUp(pending)
  while (await whileBusy(() => connection.tables.search.scanNext(search), busyTimeoutMs)) await nextTask()
  return whileBusy(() => connection.tables.search.list(filter, search), busyTimeoutMs)
}

function driverOf({ trees, drivers }: Tables, treeId: TreeId): string | undefined {
  const driver = trees.find(treeId)?.driver
  return driver === undefined ? undefined : drivers.alive(driver)
}

/** Mostly, all drivers live: then no tree is read. */
function abandoned({ trees, drivers }: Tables, workspace: string | undefined): readonly TreeEntry[] {
  const dead = drivers.dead()
  return dead.length === 0 ? [] : trees.drivenBy(dead, workspace)
}

async function deleteTree({ queue, changes, indexer }: StoreParts, blobs: FileBlobs, treeId: TreeId): Promise<Deletion> {
  const deletion = await queue.add({
    apply: (tables) => deleteRows(tables, treeId),
    committed({ ok }) {
      if (ok) changes.wakeTrees({ treeId, entry: undefined })
    },
  })
  if (deletion.ok) await Promise.all([removeBlobs(queue, blobs, [treeId]), indexer.removeDeleted()])
  return deletion
}

function deleteRows({ trees, drivers, deletions, changes }: Tables, treeId: TreeId): Deletion {
  const tree = trees.find(treeId)
  if (tree === undefined) return { ok: false, refusal: 'missing' }
  const driver = tree.driver === undefined ? undefined : drivers.alive(tree.driver)
  if (driver !== undefined) return { ok: false, refusal: 'driven', driver }
  deletions.removeRows(tree.key, treeId)
  changes.note(treeId)
  if (tree.driver !== undefined) drivers.removeIdle(tree.driver)
  return { ok: true }
}

export async function removeBlobs(queue: StoreParts['queue'], blobs: FileBlobs, treeIds: readonly TreeId[]): Promise<void> {
  for (const treeId of treeIds) await blobs.remove(treeId)
  if (treeIds.length > 0) await queue.add({ apply: ({ deletions }) => treeIds.forEach(deletions.forgetBlobs) })
}
