import type { Deletion, TreeId, Trees } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import type { Transaction } from './database.ts'
import { nodeColumns } from './node-lease.ts'
import { channel } from './notifier.ts'
import type { StoreParts } from './postgres-journal.ts'
import { searchTrees } from './search.ts'
import { conditionOf, entryColumns, entryOf, limitOf, lowerTitle, Values } from './tree-rows.ts'

export function postgresTrees(parts: StoreParts): Trees {
  const { database, lease, changes, notifier } = parts
  const notify = (transaction: Transaction, id: string) =>
    transaction.query('SELECT pg_notify($1, $2)', [channel, notifier.payloadOf({ trees: [[id, 0]] })])
  return {
    async get(treeId) {
      return entryOf((await database.read(`SELECT ${entryColumns} FROM troupe.trees WHERE id = $1`, [encodeText(treeId)]))[0])
    },
    async list(filter = {}) {
      if (filter.search?.trim()) return searchTrees(database, filter)
      const values = new Values()
      const where = conditionOf(filter, values)
      const rows = await database.read(
        `SELECT ${entryColumns} FROM troupe.trees WHERE ${where} ORDER BY created_at DESC LIMIT ${values.add(limitOf(filter))}`,
        values.list,
      )
      return rows.flatMap((row) => entryOf(row) ?? [])
    },
    async update(treeId, { title, labels }) {
      const id = encodeText(treeId)
      const entry = await database.transaction(async (transaction) => {
        const [row] = await transaction.query(
          `UPDATE troupe.trees SET title = coalesce($2, title), title_lower = coalesce($3, title_lower), own_title = own_title OR $2 IS NOT NULL,
             labels = coalesce($4, labels), changed = pg_current_xact_id() WHERE id = $1 AND created_at IS NOT NULL RETURNING ${entryColumns}`,
          [
            id,
            title === undefined ? null : encodeText(title),
            title === undefined ? null : lowerTitle(title),
            labels === undefined ? null : labels.map(encodeText),
          ],
        )
        if (row) await notify(transaction, id)
        return entryOf(row)
      })
      if (entry) changes.treeChanged({ treeId, entry })
      return entry
    },
    watch: (changed) => changes.watchTrees(changed),
    async driver(treeId) {
      if (lease.isReleased(treeId)) return undefined
      const [node] = await database.read(
        `SELECT ${nodeColumns} FROM troupe.trees JOIN troupe.nodes USING (instance) WHERE trees.id = $1 AND trees.owner IS NOT NULL`,
        [encodeText(treeId)],
      )
      return node && lease.alive(node)
    },
    async abandoned(workspace) {
      const nodes = await database.read(`SELECT instance, ${nodeColumns} FROM troupe.nodes`)
      const alive = nodes.filter((node) => lease.alive(node) !== undefined).map(({ instance }) => instance)
      const rows = await database.read(
        `SELECT ${entryColumns} FROM troupe.trees WHERE instance IS NOT NULL AND NOT instance = ANY($1::text[])
           AND workspace IS NOT DISTINCT FROM $2`,
        [alive, workspace === undefined ? null : encodeText(workspace)],
      )
      return rows.flatMap((row) => entryOf(row) ?? [])
    },
    async find(key) {
      return entryOf((await database.read(`SELECT ${entryColumns} FROM troupe.trees WHERE external_key = $1`, [encodeText(key)]))[0])
    },
    async delete(treeId) {
      const deletion = await database.transaction(async (transaction) => {
        const deletion = await deleteRows(transaction, treeId, parts)
        if (deletion.ok) await notify(transaction, encodeText(treeId))
        return deletion
      })
      if (deletion.ok) changes.treeChanged({ treeId, entry: undefined })
      return deletion
    },
  }
}

const tablesOfTrees = ['journal', 'inbox', 'snapshots', 'holds', 'search_texts']

async function deleteRows(transaction: Transaction, treeId: TreeId, { lease }: StoreParts): Promise<Deletion> {
  const id = encodeText(treeId)
  const [tree] = await transaction.query('SELECT key, owner, instance FROM troupe.trees WHERE id = $1 FOR UPDATE', [id])
  if (tree === undefined) return { ok: false, refusal: 'missing' }
  if (tree.owner !== null) {
    const [node] = await transaction.query(`SELECT ${nodeColumns} FROM troupe.nodes WHERE instance = $1`, [tree.instance])
    const driver = node && lease.alive(node)
    if (driver !== undefined) return { ok: false, refusal: 'driven', driver }
  }
  for (const table of tablesOfTrees) await transaction.query(`DELETE FROM troupe.${table} WHERE tree = $1`, [tree.key])
  await transaction.query('DELETE FROM troupe.blobs WHERE tree = $1', [id])
  await transaction.query('DELETE FROM troupe.trees WHERE key = $1', [tree.key])
  await transaction.query('INSERT INTO troupe.deletions (id) VALUES ($1)', [id])
  return { ok: true }
}
