import type { TreeEntry, TreeFilter, TreeId } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { storable } from '../shared/search-words.ts'
import { statusesOf } from '../shared/tree-filter.ts'
import type { Row } from './database.ts'

/** Of a list. Each is given with its table: statements join others. */
export const entryColumns = `trees.id, trees.head, trees.agent, trees.title, trees.status, trees.open_requests, trees.principal,
  trees.external_key, trees.labels, trees.workspace, trees.created_at, trees.updated_at, trees.cost, trees.unpriced`

/** A tree is listed from its first event on. */
export function entryOf(row: Row | undefined): TreeEntry | undefined {
  if (row === undefined || row.created_at === null) return undefined
  const { principal, external_key, labels, workspace, cost } = row
  const createdAt = Number(row.created_at)
  return {
    treeId: decodeText(String(row.id)) as TreeId,
    seq: Number(row.head),
    agent: decodeText(String(row.agent)),
    title: decodeText(String(row.title)),
    status: row.status as TreeEntry['status'],
    openRequests: Number(row.open_requests),
    ...(principal !== null && { owner: decodeText(String(principal)) }),
    ...(external_key !== null && { key: decodeText(String(external_key)) }),
    ...(labels !== null && { labels: (labels as readonly string[]).map(decodeText) }),
    ...(workspace !== null && { workspace: decodeText(String(workspace)) }),
    ...(cost !== null && { cost: Number(row.unpriced) > 0 ? ('unknown' as const) : Number(cost) / 1e9 }),
    createdAt,
    updatedAt: Math.max(createdAt, Number(row.updated_at)),
  }
}

export const lowerTitle = (title: string): string => storable(title.toLowerCase())

/** The values of a statement, and their places in it. */
export class Values {
  readonly list: unknown[] = []

  /** `$1` */
  add(value: unknown): string {
    return `$${this.list.push(value)}`
  }
}

/** The condition of a filter, without its search. */
export function conditionOf(filter: TreeFilter, values: Values): string {
  const { owner, agent, labels, workspace, text, hasOpenRequests, before, minCostUsd, maxCostUsd, since, until } = filter
  const statuses = statusesOf(filter)
  const terms = ['trees.created_at IS NOT NULL']
  const add = <Given>(given: Given | undefined, sql: string, stored: (given: Given) => unknown = (value) => value): void => {
    if (given !== undefined) terms.push(sql.replace('?', () => values.add(stored(given))))
  }
  add(before, 'trees.created_at < ?')
  add(owner, 'trees.principal = ?', encodeText)
  add(agent, 'trees.agent = ?', encodeText)
  add(workspace, 'trees.workspace = ?', encodeText)
  add(statuses, 'trees.status = ANY(?::text[])')
  add(labels, "coalesce(trees.labels, '{}') @> ?::text[]", (given) => given.map(encodeText))
  add(text, 'position(? in trees.title_lower) > 0', lowerTitle)
  add(minCostUsd, 'trees.unpriced = 0 AND trees.cost / 1e9::float8 >= ?')
  add(maxCostUsd, 'trees.unpriced = 0 AND trees.cost / 1e9::float8 <= ?')
  add(since, 'greatest(trees.created_at, trees.updated_at) >= ?')
  add(until, 'trees.created_at < ?')
  if (hasOpenRequests !== undefined) terms.push(hasOpenRequests ? 'trees.open_requests > 0' : 'trees.open_requests = 0')
  return terms.join(' AND ')
}

/** `undefined`: all. */
export const limitOf = ({ limit = Number.POSITIVE_INFINITY }: { readonly limit?: number | undefined }): number | undefined =>
  Number.isFinite(limit) ? limit : undefined
