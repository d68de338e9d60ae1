import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type InteractionEvent, JournalDamagedError, type ReadLimits, type TreeId } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { checksumOf } from './checksum.ts'
import { isDamage } from './sqlite-errors.ts'

export interface JournalRow {
  readonly key: number
  readonly seq: number
  readonly last: number
  /** The events as one JSON array. JSON escapes lone surrogates. */
  readonly text: string
  readonly checksum: number
}

const select = 'SELECT seq, events, checksum FROM journal WHERE tree = ? AND last > ? ORDER BY last'

/**
 * One row for each batch, or several for a large one.
 *
 * 1. A row is parsed after its checksum was verified; rows of version 1 have none.
 * 2. Rows beyond the limit are not read: events before a damaged row stay readable.
 * 3. A journal that ends before the head of its tree is damaged there.
 */
export class JournalTable {
  readonly #database: DatabaseSync
  readonly #file: string
  readonly #insert: StatementSync
  readonly #tree: StatementSync
  #select: StatementSync

  constructor(database: DatabaseSync, file: string) {
    this.#database = database
    this.#file = file
    this.#insert = database.prepare('INSERT INTO journal (tree, seq, last, events, checksum) VALUES (?, ?, ?, ?, ?)')
    this.#tree = database.prepare('SELECT key, head FROM trees WHERE id = ?')
    this.#select = database.prepare(select)
  }

  insert({ key, seq, last, text, checksum }: JournalRow): void {
    this.#insert.run(key, seq, last, text, checksum)
  }

  read(treeId: TreeId, after: number, limit: number | ReadLimits = {}): readonly InteractionEvent[] {
    const { events: maxEvents = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } =
      typeof limit === 'number' ? { events: limit } : limit
    const tree = this.#tree.get(encodeText(treeId))
    if (tree === undefined || maxEvents <= 0) return []
    const events: InteractionEvent[] = []
    let next = Math.max(0, after) + 1
    let read = 0
    for (const row of this.#rows(treeId, Number(tree.key), () => next)) {
      for (const event of this.#parse(treeId, row, next)) {
        if (event.seq < next) continue
        if (event.seq !== next) throw this.#damaged({ treeId, seq: next }, 'is missing')
        events.push(event)
        next += 1
        if (events.length >= maxEvents) return events
      }
      read += String(row.events).length
      if (read >= bytes) return events
    }
    // Another process may have deleted the tree since it was found.
    if (next <= Number(tree.head) && this.#tree.get(encodeText(treeId))?.key === tree.key)
      throw this.#damaged({ treeId, seq: next }, 'is missing')
    return events
  }

  *#rows(treeId: TreeId, key: number, next: () => number): Generator<Record<string, unknown>> {
    try {
      yield* this.#select.iterate(key, next() - 1)
    } catch (error) {
      // A failed statement reports the same failure again when it is reused.
      this.#select = this.#database.prepare(select)
      throw isDamage(error) ? this.#damaged({ treeId, seq: next() }, 'cannot be read', error) : error
    }
  }

  #parse(treeId: TreeId, { seq, events, checksum }: Record<string, unknown>, next: number): readonly InteractionEvent[] {
    const text = String(events)
    if (checksum !== null && checksum !== checksumOf(treeId, Number(seq), text))
      throw this.#damaged({ treeId, seq: next }, 'is not what was stored: its checksum differs')
    try {
      return JSON.parse(text) as readonly InteractionEvent[]
    } catch (error) {
      throw this.#damaged({ treeId, seq: next }, 'is not JSON', error)
    }
  }

  #damaged(place: { readonly treeId: TreeId; readonly seq: number }, what: string, cause?: unknown): JournalDamagedError {
    return new JournalDamagedError({ ...place, file: this.#file }, what, cause)
  }
}
