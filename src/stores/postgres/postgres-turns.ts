import type { TurnRecord, TurnRecords } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { turnStatement } from './append-statement.ts'
import type { Transaction } from './database.ts'
import type { StoreParts } from './postgres-journal.ts'
import { entryColumns, entryOf } from './tree-rows.ts'
import { costOf, indexWords } from './turn-rows.ts'
import { usageOf } from './usage-sums.ts'

const pageTexts = 100

export function postgresTurns({ database, changes, notifier }: StoreParts): TurnRecords {
  return {
    usage: (query) => usageOf(database, query),
    // Every version that wrote to this schema has stored them.
    unindexed: () => 0,
    async replace(treeId, seq, records) {
      const id = encodeText(treeId)
      const row = await database.transaction((transaction) => replaceTurns(transaction, { id, seq, records }))
      if (row === undefined) return false
      notifier.add({ trees: [[id, 0]] })
      changes.treeChanged({ treeId, entry: entryOf(row) })
      return true
    },
    async rebuildIndex() {
      for (let last = 0; ; ) {
        const texts = await database.read(`SELECT id, text FROM troupe.search_texts WHERE id > $1 ORDER BY id LIMIT ${pageTexts}`, [last])
        if (texts.length === 0) return
        const words = texts.map(({ id, text }) => ({ id, words: indexWords(String(text)) }))
        await database.write(
          `UPDATE troupe.search_texts AS known SET words = array_to_tsvector(given.words)
             FROM json_to_recordset($1) AS given (id bigint, words text[]) WHERE known.id = given.id`,
          [JSON.stringify(words)],
        )
        last = Number(texts.at(-1)?.id)
      }
    },
  }
}

interface Replacement {
  readonly id: string
  readonly seq: number
  readonly records: readonly TurnRecord[]
}

async function replaceTurns(transaction: Transaction, { id, seq, records }: Replacement) {
  const [tree] = await transaction.query('SELECT key, head FROM troupe.trees WHERE id = $1 FOR UPDATE', [id])
  if (tree === undefined || tree.head === 0 || tree.head !== seq) return undefined
  await transaction.query('DELETE FROM troupe.turn_usage WHERE tree = $1', [id])
  await transaction.query('DELETE FROM troupe.search_texts WHERE tree = $1', [tree.key])
  const { cost = null, unpriced } = costOf(records)
  const [row] = await transaction.query(
    `UPDATE troupe.trees SET cost = $2, unpriced = $3, changed = pg_current_xact_id() WHERE key = $1 RETURNING ${entryColumns}`,
    [tree.key, cost, unpriced],
  )
  const { text, values } = turnStatement(tree.key, records)
  await transaction.query(text, values)
  return row
}
