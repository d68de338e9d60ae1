import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { DriverId, TreeEntry, TreeFilter, TreeId, TreeIdentity, TreeSummary, Trees } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { statusesOf, titleContains } from '../shared/tree-filter.ts'
import type { TextQuery } from './search-table.ts'

export interface TreeRow {
  readonly key: number
  readonly head: number
  /** 0: never claimed. */
  readonly epoch: number
  readonly driver: DriverId | undefined
}

export interface Advance {
  readonly key: number
  readonly treeId: TreeId
  readonly from: number
  readonly to: number
  readonly epoch: number
  readonly at: number
  readonly summary: TreeSummary | undefined
  readonly identity: TreeIdentity | undefined
}

/** The cost of a tree that is not indexed is not complete. */
const knownCost = 'CASE WHEN indexed = head AND unpriced = 0 THEN cost / 1e9 END'
const entryColumns = `id, head, agent, title, status, open_requests, principal, external_key, labels, workspace, created_at, updated_at,
  CASE WHEN indexed = head AND unpriced > 0 THEN 'unknown' ELSE ${knownCost} END AS cost_usd`

/** Titles that `trees.update` has set. Those of the driver no longer apply. */
const ownTitle = "SELECT 1 FROM records WHERE namespace = 'tree-title' AND records.key = trees.id"

const prepareStatements = (database: DatabaseSync) => ({
  find: database.prepare('SELECT key, head, epoch, owner FROM trees WHERE id = ?'),
  insert: database.prepare('INSERT INTO trees (id) VALUES (?)'),
  claim: database.prepare('UPDATE trees SET owner = ?, epoch = epoch + 1 WHERE key = ?'),
  release: database.prepare('UPDATE trees SET owner = NULL WHERE key = ?'),
  releaseAll: database.prepare('UPDATE trees SET owner = NULL WHERE owner IN (SELECT id FROM owners WHERE instance = ?)'),
  advance: database.prepare(
    `UPDATE trees SET head = ?1, updated_at = ?2, agent = coalesce(?3, agent),
       title = CASE WHEN ?4 IS NULL OR EXISTS (${ownTitle}) THEN title ELSE ?4 END, status = coalesce(?5, status),
       open_requests = coalesce(?6, open_requests), indexed = CASE WHEN ?9 IN (0, indexed) THEN ?1 ELSE indexed END
       WHERE key = ?7 AND id = ?8 AND head = ?9 AND epoch = ?10 AND owner IS NOT NULL`,
  ),
  newest: database.prepare('SELECT max(created_at) AS newest FROM trees'),
  setCreatedAt: database.prepare('UPDATE trees SET created_at = ? WHERE key = ?'),
  entry: database.prepare(`SELECT ${entryColumns} FROM trees WHERE id = ? AND created_at IS NOT NULL`),
  byKey: database.prepare(`SELECT ${entryColumns} FROM trees WHERE external_key = ? AND created_at IS NOT NULL`),
  identify: database.prepare('UPDATE trees SET principal = ?, external_key = ?, labels = ?, workspace = ? WHERE key = ?'),
  update: database.prepare(
    `UPDATE trees SET title = coalesce(?, title), labels = coalesce(?, labels) WHERE id = ? AND created_at IS NOT NULL
       RETURNING ${entryColumns}`,
  ),
  keepTitle: database.prepare("INSERT OR IGNORE INTO records (namespace, key, json) VALUES ('tree-title', ?, 'null')"),
  all: database.prepare(`SELECT ${entryColumns} FROM trees WHERE created_at IS NOT NULL`),
  drivenBy: database.prepare(
    `SELECT ${entryColumns} FROM trees WHERE owner IN (SELECT value FROM json_each(?)) AND workspace IS ? AND created_at IS NOT NULL`,
  ),
  changedSince: database.prepare(`SELECT ${entryColumns} FROM trees WHERE key IN (SELECT tree FROM journal WHERE rowid > ?)`),
})

export type TreeTable = ReturnType<typeof treeTable>

/** One row for each tree. It exists from the first claim, message or blob on, and is listed from the first event on. */
export function treeTable(database: DatabaseSync) {
  const sql = prepareStatements(database)

  function find(treeId: TreeId): TreeRow | undefined {
    const row = sql.find.get(encodeText(treeId))
    if (row === undefined) return undefined
    const driver = row.owner === null ? undefined : (decodeText(String(row.owner)) as DriverId)
    return { key: Number(row.key), head: Number(row.head), epoch: Number(row.epoch), driver }
  }

  /** The creation time grows strictly from tree to tree: lists use it as a cursor. */
  function setCreatedAt(key: number, at: number): void {
    const newest = sql.newest.get()?.newest
    sql.setCreatedAt.run(typeof newest === 'number' ? Math.max(at, newest + 1) : at, key)
  }

  function setIdentity(row: number, { owner, key, labels, workspace }: TreeIdentity): void {
    const text = (value: string | undefined): string | null => (value === undefined ? null : encodeText(value))
    sql.identify.run(text(owner), text(key), labels === undefined ? null : JSON.stringify(labels), text(workspace), row)
  }

  return {
    find,
    findOrCreate(treeId: TreeId): TreeRow {
      const found = find(treeId)
      if (found !== undefined) return found
      const { lastInsertRowid } = sql.insert.run(encodeText(treeId))
      return { key: Number(lastInsertRowid), head: 0, epoch: 0, driver: undefined }
    },
    claim: (key: number, driver: DriverId) => sql.claim.run(encodeText(driver), key),
    release: (key: number) => sql.release.run(key),
    /** For every driver that is registered for that store. */
    releaseAll: (instance: string) => sql.releaseAll.run(instance),
    /**
     * Moves the head forward, if it is where the driver expects it and the driver still has the tree. The id is compared, too:
     * the key of a deleted tree may be reused.
     */
    advance({ key, treeId, from, to, epoch, at, summary, identity }: Advance): boolean {
      const agent = summary === undefined ? null : encodeText(summary.agent)
      const title = summary === undefined ? null : encodeText(summary.title)
      const [status, open] = [summary?.status ?? null, summary?.openRequests ?? null]
      const { changes } = sql.advance.run(to, at, agent, title, status, open, key, encodeText(treeId), from, epoch)
      if (changes === 0) return false
      if (from === 0) setCreatedAt(key, at)
      if (from === 0 && identity) setIdentity(key, identity)
      return true
    },
    findByKey: (key: string): TreeEntry | undefined => entryOf(sql.byKey.get(encodeText(key))),
    get: (treeId: TreeId): TreeEntry | undefined => entryOf(sql.entry.get(encodeText(treeId))),
    ...treeLists(database),
    update(treeId: TreeId, { title, labels }: TreeUpdate): TreeEntry | undefined {
      const id = encodeText(treeId)
      const row = sql.update.get(title === undefined ? null : encodeText(title), labels === undefined ? null : JSON.stringify(labels), id)
      if (row !== undefined && title !== undefined) sql.keepTitle.run(id)
      return entryOf(row)
    },
    drivenBy: (drivers: readonly string[], workspace: string | undefined): readonly TreeEntry[] =>
      sql.drivenBy
        .all(JSON.stringify(drivers), workspace === undefined ? null : encodeText(workspace))
        .flatMap((row) => entryOf(row) ?? []),
    /** Trees with rows of the journal after this one. 0: all trees. */
    changedSince: (row: number): readonly TreeEntry[] =>
      (row === 0 ? sql.all.all() : sql.changedSince.all(row)).flatMap((each) => entryOf(each) ?? []),
  }
}

type TreeUpdate = Parameters<Trees['update']>[1]

export interface FoundTree {
  readonly entry: TreeEntry
  readonly textId: number
}

function treeLists(database: DatabaseSync) {
  database.function('title_contains', { deterministic: true }, (title, text) =>
    Number(titleContains(decodeText(String(title)), decodeText(String(text)))),
  )
  /** One statement for each combination of filters, so that each one has its own query plan. */
  const statements = new Map<string, StatementSync>()
  const select = (columns: string, { from, where }: { readonly from: string; readonly where: string }): StatementSync =>
    database.prepare(`SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY created_at DESC LIMIT ?`)
  const limitOf = ({ limit = Number.POSITIVE_INFINITY }: TreeFilter): number => (Number.isFinite(limit) ? limit : -1)
  return {
    list(filter: TreeFilter): readonly TreeEntry[] {
      const { where, values } = conditionsOf(filter)
      const statement = statements.get(where) ?? select(entryColumns, { from: 'trees', where })
      statements.set(where, statement)
      return statement.all(...values, limitOf(filter)).flatMap((row) => entryOf(row) ?? [])
    },
    /** Those of the list that the query finds. */
    search(filter: TreeFilter, texts: TextQuery): readonly FoundTree[] {
      const { where, values } = conditionsOf(filter)
      const from = `(${texts.sql}) JOIN trees ON key = found_tree`
      const rows = select(`${entryColumns}, found_text`, { from, where }).all(...texts.values, ...values, limitOf(filter))
      return rows.flatMap((row) => {
        const entry = entryOf(row)
        return entry ? [{ entry, textId: Number(row.found_text) }] : []
      })
    },
  }
}

function conditionsOf(filter: TreeFilter): { readonly where: string; readonly values: readonly (string | number)[] } {
  const terms = termsOf(filter)
  return { where: terms.map(({ sql }) => sql).join(' AND '), values: terms.flatMap(({ value }) => value ?? []) }
}

interface Term {
  readonly sql: string
  readonly value?: string | number
}

/** Fixed texts with a parameter for each value. */
function termsOf(filter: TreeFilter): readonly Term[] {
  const { owner, agent, labels, workspace, text, hasOpenRequests, before = Number.POSITIVE_INFINITY } = filter
  const { minCostUsd, maxCostUsd, since, until } = filter
  const statuses = statusesOf(filter)
  const terms: Term[] = [{ sql: 'created_at < ?', value: before }]
  if (owner !== undefined) terms.push({ sql: 'principal = ?', value: encodeText(owner) })
  if (agent !== undefined) terms.push({ sql: 'agent = ?', value: encodeText(agent) })
  if (workspace !== undefined) terms.push({ sql: 'workspace = ?', value: encodeText(workspace) })
  if (hasOpenRequests !== undefined) terms.push({ sql: hasOpenRequests ? 'open_requests > 0' : 'open_requests = 0' })
  if (statuses !== undefined) terms.push({ sql: 'status IN (SELECT value FROM json_each(?))', value: JSON.stringify(statuses) })
  if (labels !== undefined) terms.push({ sql: hasLabels, value: JSON.stringify(labels) })
  if (text !== undefined) terms.push({ sql: 'title_contains(title, ?)', value: encodeText(text) })
  if (minCostUsd !== undefined) terms.push({ sql: `${knownCost} >= ?`, value: minCostUsd })
  if (maxCostUsd !== undefined) terms.push({ sql: `${knownCost} <= ?`, value: maxCostUsd })
  if (since !== undefined) terms.push({ sql: 'max(created_at, updated_at) >= ?', value: since })
  if (until !== undefined) terms.push({ sql: 'created_at < ?', value: until })
  return terms
}

const hasLabels = 'NOT EXISTS (SELECT 1 FROM json_each(?) AS wanted WHERE wanted.value NOT IN (SELECT value FROM json_each(trees.labels)))'

function entryOf(row: Record<string, unknown> | undefined): TreeEntry | undefined {
  if (row === undefined) return undefined
  const { principal, external_key, labels, workspace, cost_usd } = row
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
    ...(labels !== null && { labels: JSON.parse(String(labels)) as readonly string[] }),
    ...(workspace !== null && { workspace: decodeText(String(workspace)) }),
    ...(cost_usd !== null && { cost: cost_usd === 'unknown' ? cost_usd : Number(cost_usd) }),
    createdAt,
    updatedAt: Math.max(createdAt, Number(row.updated_at)),
  }
}
