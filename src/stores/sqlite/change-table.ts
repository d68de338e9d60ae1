import type { DatabaseSync } from 'node:sqlite'
import type { TreeChange, TreeId } from '../../contracts/index.ts'
import type { TreeTable } from './tree-table.ts'

/** Up to where a watcher knows the changes of trees. */
export interface ChangePosition {
  /** A row of the journal. */
  readonly row: number
  /** The key of a note. */
  readonly note: string
}

/** All trees may have changed. */
export const unknownPosition: ChangePosition = { row: 0, note: '' }

const namespace = 'tree-change'
const keepMs = 3_600_000

/**
 * Which trees have changed since a position, for watchers of other processes.
 *
 * 1. Appends need no note: the rows of the journal are numbered in the order of the commits.
 * 2. Updates and deletions leave a note for an hour. A process that does not poll for so long may miss them.
 * 3. A deletion frees the highest row numbers, and SQLite uses them again. So its note has the highest row that is left, and readers go
 *    back to it.
 */
export function changeTable(database: DatabaseSync, trees: TreeTable, now: () => number) {
  const lastRow = database.prepare('SELECT max(rowid) AS row FROM journal')
  const lastNote = database.prepare('SELECT max(key) AS note FROM records WHERE namespace = ?')
  const notes = database.prepare('SELECT key, json FROM records WHERE namespace = ? AND key > ? ORDER BY key')
  const insert = database.prepare('INSERT INTO records (namespace, key, due, json) VALUES (?, ?, ?, ?)')
  const expire = database.prepare('DELETE FROM records WHERE namespace = ? AND due < ?')

  const position = (): ChangePosition => ({ row: Number(lastRow.get()?.row ?? 0), note: String(lastNote.get(namespace)?.note ?? '') })

  return {
    position,
    note(treeId: TreeId): void {
      const { row, note } = position()
      const key = String(Number(note) + 1).padStart(16, '0')
      insert.run(namespace, key, now() + keepMs, JSON.stringify({ treeId, row } satisfies Note))
      expire.run(namespace, now())
    },
    since(known: ChangePosition): { readonly changes: readonly TreeChange[]; readonly position: ChangePosition } {
      const noted = notes.all(namespace, known.note).map(({ key, json }) => ({ key: String(key), ...(JSON.parse(String(json)) as Note) }))
      const current = position()
      // A file of version 1 is rewritten once, which numbers its rows anew.
      const row = current.row < known.row ? 0 : Math.min(known.row, ...noted.map((note) => note.row))
      const changes = new Map<TreeId, TreeChange>()
      for (const { treeId } of noted) changes.set(treeId, { treeId, entry: trees.get(treeId) })
      for (const entry of trees.changedSince(row)) changes.set(entry.treeId, { treeId: entry.treeId, entry })
      return { changes: [...changes.values()], position: { row: current.row, note: noted.at(-1)?.key ?? known.note } }
    },
  }
}

interface Note {
  readonly treeId: TreeId
  readonly row: number
}
