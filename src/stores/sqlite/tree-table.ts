import type { DatabaseSync } from 'node:sqlite'
import type { OwnerId, TreeEntry, TreeId, TreeIdentity, TreeSummary } from '../../contracts/index.ts'
import { decodeText, encodeText } from './encoding.ts'

interface TreeRow {
  readonly key: number
  readonly head: number
  /** 0: never claimed. */
  readonly epoch: number
  readonly owner: OwnerId | undefined
}

interface Advance {
  readonly key: number
  readonly treeId: TreeId
  readonly from: number
  readonly to: number
  readonly epoch: number
  readonly at: number
  readonly summary: TreeSummary | undefined
  readonly identity: TreeIdentity | undefined
}

const entryColumns = 'id, head, agent, title, status, open_requests, principal, external_key, labels, workspace, created_at, updated_at'

const prepareStatements = (database: DatabaseSync) => ({
  find: database.prepare('SELECT key, head, epoch, owner FROM trees WHERE id = ?'),
  insert: database.prepare('INSERT INTO trees (id) VALUES (?)'),
  claim: database.prepare('UPDATE trees SET owner = ?, epoch = epoch + 1 WHERE key = ?'),
  release: database.prepare('UPDATE trees SET owner = NULL WHERE key = ?'),
  releaseAll: database.prepare('UPDATE trees SET owner = NULL WHERE owner IN (SELECT id FROM owners WHERE instance = ?)'),
  advance: database.prepare(
    `UPDATE trees SET head = ?, updated_at = ?, agent = coalesce(?, agent), title = coalesce(?, title), status = coalesce(?, status),
       open_requests = coalesce(?, open_requests) WHERE key = ? AND id = ? AND head = ? AND epoch = ? AND owner IS NOT NULL`,
  ),
  newest: database.prepare('SELECT max(created_at) AS newest FROM trees'),
  setCreatedAt: database.prepare('UPDATE trees SET created_at = ? WHERE key = ?'),
  entry: database.prepare(`SELECT ${entryColumns} FROM trees WHERE id = ? AND created_at IS NOT NULL`),
  page: database.prepare(`SELECT ${entryColumns} FROM trees WHERE created_at < ? ORDER BY created_at DESC LIMIT ?`),
  byKey: database.prepare(`SELECT ${entryColumns} FROM trees WHERE external_key = ? AND created_at IS NOT NULL`),
  identify: database.prepare('UPDATE trees SET principal = ?, external_key = ?, labels = ?, workspace = ? WHERE key = ?'),
  remove: database.prepare('DELETE FROM trees WHERE key = ?'),
})

/** One row for each tree. It exists from the first claim, message or blob on, and is listed from the first event on. */
export class TreeTable {
  readonly #sql: ReturnType<typeof prepareStatements>

  constructor(database: DatabaseSync) {
    this.#sql = prepareStatements(database)
  }

  find(treeId: TreeId): TreeRow | undefined {
    const row = this.#sql.find.get(encodeText(treeId))
    if (row === undefined) return undefined
    const owner = row.owner === null ? undefined : (decodeText(String(row.owner)) as OwnerId)
    return { key: Number(row.key), head: Number(row.head), epoch: Number(row.epoch), owner }
  }

  findOrCreate(treeId: TreeId): TreeRow {
    const found = this.find(treeId)
    if (found !== undefined) return found
    const { lastInsertRowid } = this.#sql.insert.run(encodeText(treeId))
    return { key: Number(lastInsertRowid), head: 0, epoch: 0, owner: undefined }
  }

  claim(key: number, owner: OwnerId): void {
    this.#sql.claim.run(encodeText(owner), key)
  }

  release(key: number): void {
    this.#sql.release.run(key)
  }

  /** For every owner that is registered for that store. */
  releaseAll(instance: string): void {
    this.#sql.releaseAll.run(instance)
  }

  /**
   * Moves the head forward, if it is where the driver expects it and the driver still owns the tree. The id is compared, too:
   * the key of a deleted tree may be reused.
   */
  advance({ key, treeId, from, to, epoch, at, summary, identity }: Advance): boolean {
    const agent = summary === undefined ? null : encodeText(summary.agent)
    const title = summary === undefined ? null : encodeText(summary.title)
    const [status, open] = [summary?.status ?? null, summary?.openRequests ?? null]
    const { changes } = this.#sql.advance.run(to, at, agent, title, status, open, key, encodeText(treeId), from, epoch)
    if (changes === 0) return false
    if (from === 0) this.#setCreatedAt(key, at)
    if (from === 0 && identity) this.#setIdentity(key, identity)
    return true
  }

  remove(key: number): void {
    this.#sql.remove.run(key)
  }

  findByKey(key: string): TreeEntry | undefined {
    const row = this.#sql.byKey.get(encodeText(key))
    return row === undefined ? undefined : entryOf(row)
  }

  get(treeId: TreeId): TreeEntry | undefined {
    const row = this.#sql.entry.get(encodeText(treeId))
    return row === undefined ? undefined : entryOf(row)
  }

  list({
    limit = Number.POSITIVE_INFINITY,
    before = Number.POSITIVE_INFINITY,
  }: {
    readonly limit?: number
    readonly before?: number
  }): readonly TreeEntry[] {
    return this.#sql.page.all(before, Number.isFinite(limit) ? limit : -1).map(entryOf)
  }

  #setIdentity(row: number, { owner, key, labels, workspace }: TreeIdentity): void {
    const text = (value: string | undefined): string | null => (value === undefined ? null : encodeText(value))
    this.#sql.identify.run(text(owner), text(key), labels === undefined ? null : JSON.stringify(labels), text(workspace), row)
  }

  /** The creation time grows strictly from tree to tree: lists use it as a cursor. */
  #setCreatedAt(key: number, at: number): void {
    const newest = this.#sql.newest.get()?.newest
    this.#sql.setCreatedAt.run(typeof newest === 'number' ? Math.max(at, newest + 1) : at, key)
  }
}

function entryOf(row: Record<string, unknown>): TreeEntry {
  const createdAt = Number(row.created_at)
  return {
    treeId: decodeText(String(row.id)) as TreeId,
    seq: Number(row.head),
    agent: decodeText(String(row.agent)),
    title: decodeText(String(row.title)),
    status: row.status as TreeEntry['status'],
    openRequests: Number(row.open_requests),
    ...identityOf(row),
    createdAt,
    updatedAt: Math.max(createdAt, Number(row.updated_at)),
  }
}

function identityOf({ principal, external_key, labels, workspace }: Record<string, unknown>): TreeIdentity {
  return {
    ...(principal !== null && { owner: decodeText(String(principal)) }),
    ...(external_key !== null && { key: decodeText(String(external_key)) }),
    ...(labels !== null && { labels: JSON.parse(String(labels)) as readonly string[] }),
    ...(workspace !== null && { workspace: decodeText(String(workspace)) }),
  }
}
