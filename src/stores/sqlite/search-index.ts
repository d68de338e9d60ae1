import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { wordsOf } from '../shared/search-words.ts'
import type { recordTable } from './record-table.ts'

/** A full-text table, and up to which text it is complete. */
export interface IndexPosition {
  readonly table: string
  readonly last: number
  /** Texts were removed from it whose words SQLite has only marked as deleted. `vacuum` removes them. */
  readonly hasMarks: boolean
}

const namespace = 'search-index'
/** The work of one transaction. It blocks the event loop for 50 to 200 ms when SQLite merges parts of the index, otherwise for some 10. */
const slice = { texts: 64, chars: 64 * 1024, removals: 200, mergedPages: 64 } as const

/**
 * The full-text index of `search_texts`.
 *
 * 1. It is written in transactions of its own, never in one that stores a turn: damage may show with the commit.
 * 2. It contains the texts up to a position, which is stored with it. A search looks through later texts itself.
 * 3. It contains words as `wordsOf` finds them. The tokenizer only splits them: everything beyond ASCII is a letter to it.
 * 4. Removed texts are noted by a trigger, and removed from the index afterwards. A search never finds them.
 * 5. A rebuild fills a new table and then replaces the other one: SQLite may be unable to drop a damaged table.
 */
export function searchIndex(database: DatabaseSync, records: ReturnType<typeof recordTable>) {
  const newest = database.prepare('SELECT max(id) AS id FROM search_texts')
  const later = database.prepare('SELECT id, text FROM search_texts WHERE id > ? ORDER BY id')
  const removed = database.prepare('SELECT id FROM search_removed ORDER BY id LIMIT ?')
  const forgetRemoved = database.prepare('DELETE FROM search_removed WHERE id <= ?')
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE search_index%'")

  const position = (): IndexPosition | undefined => records.get(namespace, 'current')?.value as IndexPosition | undefined
  const setPosition = ({ table, last, hasMarks }: IndexPosition): unknown =>
    records.put(namespace, { key: 'current', value: { table, last, hasMarks } })

  function createTable(table: string): IndexPosition {
    database.exec(
      `CREATE VIRTUAL TABLE ${table} USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2')`,
    )
    return { table, last: 0, hasMarks: false }
  }

  /** Adds the next texts. The same position if there are none. */
  function addTexts(index: IndexPosition): IndexPosition {
    const insert = database.prepare(`INSERT INTO ${index.table} (rowid, words) VALUES (?, ?)`)
    let [{ last }, texts, chars] = [index, 0, 0]
    for (const { id, text } of later.iterate(index.last)) {
      insert.run(
        Number(id),
        wordsOf(String(text))
          .map(({ word }) => word)
          .join(' '),
      )
      last = Number(id)
      texts += 1
      chars += String(text).length
      if (texts >= slice.texts || chars >= slice.chars) break
    }
    return last === index.last ? index : { ...index, last }
  }

  return {
    position,
    /** Number of texts that are not in the index, roughly. */
    pending: (): number => Number(newest.get()?.id ?? 0) - (position()?.last ?? 0),
    /** The texts behind the position. */
    laterTexts: (after: number) => later.iterate(after),
    /** Adds a part of the texts that are missing. Whether there may be more. */
    addNext(): boolean {
      const index = position() ?? createTable('search_index')
      const next = addTexts(index)
      if (next !== index) setPosition(next)
      return next !== index
    },
    /** Removes a part of the texts that were deleted. Whether there may be more. */
    removeNext(): boolean {
      const ids = removed.all(slice.removals).map(({ id }) => Number(id))
      const last = ids.at(-1)
      if (last === undefined) return false
      const index = position()
      if (index !== undefined) {
        const remove = database.prepare(`DELETE FROM ${index.table} WHERE rowid = ?`)
        const count = ids.reduce((sum, id) => sum + Number(remove.run(id).changes), 0)
        if (count > 0 && !index.hasMarks) setPosition({ ...index, hasMarks: true })
      }
      forgetRemoved.run(last)
      return ids.length === slice.removals
    },
    /** Removes a part of the words of deleted texts. Whether there may be more. */
    mergeNext(): boolean {
      const index = position()
      if (!index?.hasMarks) return false
      const changes = database.prepare('SELECT total_changes() AS changes')
      const before = Number(changes.get()?.changes)
      database.prepare(`INSERT INTO ${index.table} (${index.table}, rank) VALUES ('merge', ?)`).run(-slice.mergedPages)
      // So SQLite says that nothing is left.
      const isDone = Number(changes.get()?.changes) - before < 2
      if (isDone) setPosition({ ...index, hasMarks: false })
      return !isDone
    },
    /** A new table for a rebuild. No other one ever has its name: another rebuild may drop it. */
    createNext: (): IndexPosition => createTable(`search_index_${randomUUID().replaceAll('-', '')}`),
    /**
     * Adds a part of the texts to that table. When it has all of them, it becomes the current one. Nothing is left to do, either, when
     * another rebuild has finished meanwhile and dropped it.
     */
    rebuildNext(index: IndexPosition): IndexPosition | undefined {
      if (!tables.all().some(({ name }) => name === index.table)) return undefined
      const next = addTexts(index)
      if (next !== index) return next
      const stale = database.prepare(`DELETE FROM ${index.table} WHERE rowid NOT IN (SELECT id FROM search_texts)`).run()
      forgetRemoved.run(Number.MAX_SAFE_INTEGER)
      setPosition({ ...index, hasMarks: stale.changes > 0 })
      return undefined
    },
    /** Tables that are not the current one: replaced, or left by a rebuild that a crash has interrupted. */
    unusedTables: (): readonly string[] => tables.all().flatMap(({ name }) => (name === position()?.table ? [] : [String(name)])),
    /** Another rebuild may have finished since, with this table. */
    dropTable(table: string): void {
      if (table !== position()?.table) database.exec(`DROP TABLE ${table}`)
    },
  }
}
