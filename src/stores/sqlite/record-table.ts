import type { DatabaseSync } from 'node:sqlite'
import {
  addOwnerUsage,
  type Json,
  type OwnerUsage,
  type Records,
  roundUsd,
  type StoredRecord,
  type UsageCharge,
} from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'

type ListOptions = NonNullable<Parameters<Records['list']>[1]>

const columns = 'key, due, json'
const usageNamespace = 'usage'

/**
 * Small documents. The store itself uses the namespaces `usage` (by period and owner), `tree-title` (trees with a title of their own),
 * `tree-change` (see `change-table.ts`), `search-index` (see `search-index.ts`) and `deleted-blobs`.
 */
export function recordTable(database: DatabaseSync) {
  const select = database.prepare(`SELECT ${columns} FROM records WHERE namespace = ? AND key = ?`)
  const page = database.prepare(`SELECT ${columns} FROM records WHERE namespace = ? AND key >= ? AND key > ? ORDER BY key`)
  const due = database.prepare(
    `SELECT ${columns} FROM records INDEXED BY records_by_due WHERE namespace = ? AND due < ? AND key >= ? AND key > ? ORDER BY key`,
  )
  const put = database.prepare('INSERT OR REPLACE INTO records (namespace, key, due, json) VALUES (?, ?, ?, ?)')
  const remove = database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?')

  function usage(owner: string, period: string): OwnerUsage {
    const row = select.get(usageNamespace, usageKey(owner, period))
    if (row === undefined) return { tokens: 0, costUsd: 0 }
    const { tokens, costUsd } = JSON.parse(String(row.json)) as OwnerUsage
    // Earlier versions stored inexact sums.
    return { tokens, costUsd: roundUsd(costUsd) }
  }

  return {
    get(namespace: string, key: string): StoredRecord | undefined {
      const row = select.get(namespace, key)
      // SQLite replaces lone surrogates: another key may be found.
      return row?.key === key ? recordOf(row) : undefined
    },
    list(
      namespace: string,
      { prefix = '', after = '', dueBefore, limit = Number.POSITIVE_INFINITY }: ListOptions,
    ): readonly StoredRecord[] {
      const rows = dueBefore === undefined ? page.iterate(namespace, prefix, after) : due.iterate(namespace, dueBefore, prefix, after)
      const found: StoredRecord[] = []
      for (const row of rows) {
        if (found.length >= limit || !String(row.key).startsWith(prefix)) break
        found.push(recordOf(row))
      }
      return found
    },
    put: (namespace: string, { key, due: at, value }: StoredRecord) => put.run(namespace, key, at ?? null, JSON.stringify(value)),
    remove: (namespace: string, key: string) => remove.run(namespace, key),
    usage,
    charge({ owner, period, ...used }: UsageCharge): void {
      const after = addOwnerUsage(usage(owner, period), used)
      put.run(usageNamespace, usageKey(owner, period), null, JSON.stringify(after))
    },
  }
}

const usageKey = (owner: string, period: string): string => encodeText(`${period}/${owner}`)

function recordOf({ key, due, json }: Record<string, unknown>): StoredRecord {
  return { key: String(key), ...(due !== null && { due: Number(due) }), value: JSON.parse(String(json)) as Json }
}
