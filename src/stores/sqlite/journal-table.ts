import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { InteractionEvent, TreeId } from '../../contracts/index.ts'
import { damaged } from './failures.ts'
import { encodeText } from './text.ts'

export interface JournalRow {
  readonly key: number
  readonly seq: number
  readonly last: number
  /** The events as one JSON array. JSON escapes what UTF-8 could not keep. */
  readonly text: string
}

/** One row a batch. */
export class JournalTable {
  readonly #insert: StatementSync
  readonly #select: StatementSync

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO journal (tree, seq, last, events) VALUES (?, ?, ?, ?)')
    this.#select = database.prepare(
      'SELECT events FROM journal WHERE tree = (SELECT key FROM trees WHERE id = ?) AND last > ? ORDER BY last LIMIT ?',
    )
  }

  insert({ key, seq, last, text }: JournalRow): void {
    this.#insert.run(key, seq, last, text)
  }

  read(treeId: TreeId, after: number, limit = Number.POSITIVE_INFINITY): readonly InteractionEvent[] {
    const events: InteractionEvent[] = []
    let next = Math.max(0, after) + 1
    // Every row has at least one event past the cursor, so that as many rows as events are always enough.
    for (const row of this.#select.all(encodeText(treeId), after, Number.isFinite(limit) ? limit : -1)) {
      for (const event of parseBatch(treeId, String(row.events))) {
        if (event.seq < next) continue
        if (events.length >= limit) return events
        if (event.seq !== next) throw damaged(`the journal of tree ${treeId} lacks event ${next}`)
        events.push(event)
        next += 1
      }
    }
    return events
  }
}

function parseBatch(treeId: TreeId, text: string): readonly InteractionEvent[] {
  try {
    return JSON.parse(text) as readonly InteractionEvent[]
  } catch (error) {
    throw damaged(`the journal of tree ${treeId} holds something that is not JSON`, error)
  }
}
