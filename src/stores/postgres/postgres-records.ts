import { type Json, type OwnerUsages, type Records, roundUsd, type Store, type StoredRecord } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { checkRecordKey, isRecordKey } from '../shared/record-keys.ts'
import { storable } from '../shared/search-words.ts'
import type { Database, Row, Transaction } from './database.ts'
import { conflict } from './postgres-journal.ts'
import { limitOf, Values } from './tree-rows.ts'

type Changed = { readonly ok: true; readonly record: StoredRecord | undefined } | { readonly ok: false; readonly error: unknown }

export function postgresRecords(database: Database): Records {
  return {
    async get(namespace, key) {
      return isRecordKey(namespace) && isRecordKey(key) ? recordOf((await database.read(select, [namespace, key]))[0]) : undefined
    },
    async list(namespace, { prefix = '', after = '', dueBefore, limit } = {}) {
      const values = new Values()
      const terms = [`namespace = ${values.add(storable(namespace))}`, `key > ${values.add(storable(after))}`]
      if (prefix !== '') terms.push(`key >= ${values.add(storable(prefix))}`, `starts_with(key, ${values.add(storable(prefix))})`)
      if (dueBefore !== undefined) terms.push(`due < ${values.add(dueBefore)}`)
      const rows = await database.read(
        `SELECT key, due, json FROM troupe.records WHERE ${terms.join(' AND ')} ORDER BY key LIMIT ${values.add(limitOf({ limit }))}`,
        values.list,
      )
      return rows.flatMap((row) => recordOf(row) ?? [])
    },
    async update(namespace, key, change) {
      checkRecordKey(namespace, key)
      const changed = await database.transaction((transaction) => changeRecord(transaction, { namespace, key, change }))
      if (changed.ok) return changed.record
      throw changed.error
    },
  }
}

const select = 'SELECT key, due, json FROM troupe.records WHERE namespace = $1 AND key = $2'

const addRecord = `INSERT INTO troupe.records (namespace, key, due, json) VALUES ($1, $2, $3, $4)
  ON CONFLICT (namespace, key) DO NOTHING RETURNING key`
const replaceRecord = 'UPDATE troupe.records SET due = $3, json = $4 WHERE namespace = $1 AND key = $2 RETURNING key'

interface RecordChange {
  readonly namespace: string
  readonly key: string
  readonly change: Parameters<Records['update']>[2]
}

/**
 * A record that does not exist has no row to lock, and appends write records without the lock: one that appears meanwhile repeats the
 * transaction. An error of the caller's function is returned: it is none of the database.
 */
async function changeRecord(transaction: Transaction, { namespace, key, change }: RecordChange): Promise<Changed> {
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [JSON.stringify(['record', namespace, key])])
  const before = recordOf((await transaction.query(`${select} FOR UPDATE`, [namespace, key]))[0])
  let next: ReturnType<RecordChange['change']>
  try {
    next = change(before)
  } catch (error) {
    return { ok: false, error }
  }
  if (next === undefined) {
    if (before) await transaction.query('DELETE FROM troupe.records WHERE namespace = $1 AND key = $2', [namespace, key])
    return { ok: true, record: undefined }
  }
  const written = await transaction.query(before ? replaceRecord : addRecord, [
    namespace,
    key,
    next.due ?? null,
    JSON.stringify(next.value),
  ])
  if (written.length === 0) throw conflict()
  return { ok: true, record: { key, ...(next.due !== undefined && { due: next.due }), value: next.value } }
}

function recordOf(row: Row | undefined): StoredRecord | undefined {
  return row && { key: String(row.key), ...(row.due !== null && { due: Number(row.due) }), value: JSON.parse(String(row.json)) as Json }
}

export function postgresUsages(database: Database): OwnerUsages {
  return {
    async get(owner, period) {
      const [row] = await database.read('SELECT tokens, cost FROM troupe.usage WHERE owner = $1 AND period = $2', [
        encodeText(owner),
        encodeText(period),
      ])
      return { tokens: Number(row?.tokens ?? 0), costUsd: roundUsd(Number(row?.cost ?? 0) / 1e9) }
    },
  }
}

export function postgresSnapshots(database: Database): NonNullable<Store['snapshots']> {
  return {
    async get(treeId, version) {
      const [row] = await database.read(
        `SELECT seq, state FROM troupe.snapshots JOIN troupe.trees ON key = tree WHERE id = $1 AND version = $2 AND seq <= head`,
        [encodeText(treeId), encodeText(version)],
      )
      return row && { seq: Number(row.seq), version, state: decodeText(String(row.state)) }
    },
    async put(treeId, { seq, version, state }) {
      await database.write(
        `INSERT INTO troupe.snapshots (tree, seq, version, state)
           SELECT key, $2::bigint, $3, $4 FROM troupe.trees WHERE id = $1 AND head >= $2::bigint
           ON CONFLICT (tree) DO UPDATE SET seq = excluded.seq, version = excluded.version, state = excluded.state`,
        [encodeText(treeId), seq, encodeText(version), encodeText(state)],
      )
    },
  }
}
