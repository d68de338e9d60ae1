import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { OwnerId, TreeEntry, TreeId, TreeIdentity, TreeSummary } from '../../contracts/index.ts'
import { decodeText, encodeText } from './text.ts'

export interface TreeRow {
  readonly key: number
  readonly head: number
  /** 0: never claimed. */
  readonly epoch: number
  readonly owner: OwnerId | undefined
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

const entryColumns = 'id, head, agent, title, status, open_requests, principal, external_key, labels, workspace, created_at, updated_at'

/** One row a tree. It exists from the first claim, message or blob on, and is listed from the first event on. */
export class TreeTable {
  readonly #find: StatementSync
  readonly #insert: StatementSync
  readonly #take: StatementSync
  readonly #giveUp: StatementSync
  readonly #giveUpAll: StatementSync
  readonly #advance: StatementSync
  readonly #newest: StatementSync
  readonly #enlist: StatementSync
  readonly #entry: StatementSync
  readonly #page: StatementSync
  readonly #byKey: StatementSync
  readonly #identify: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT key, head, epoch, owner FROM trees WHERE id = ?')
    this.#insert = database.prepare('INSERT INTO trees (id) VALUES (?)')
    this.#take = database.prepare('UPDATE trees SET owner = ?, epoch = epoch + 1 WHERE key = ?')
    this.#giveUp = database.prepare('UPDATE trees SET owner = NULL WHERE key = ?')
    this.#giveUpAll = database.prepare('UPDATE trees SET owner = NULL WHERE owner IN (SELECT id FROM owners WHERE instance = ?)')
    this.#advance = database.prepare(
      `UPDATE trees SET head = ?, updated_at = ?, agent = coalesce(?, agent), title = coalesce(?, title), status = coalesce(?, status),
       open_requests = coalesce(?, open_requests) WHERE key = ? AND id = ? AND head = ? AND epoch = ? AND owner IS NOT NULL`,
    )
    this.#newest = database.prepare('SELECT max(created_at) AS newest FROM trees')
    this.#enlist = database.prepare('UPDATE trees SET created_at = ? WHERE key = ?')
    this.#entry = database.prepare(`SELECT ${entryColumns} FROM trees WHERE id = ? AND created_at IS NOT NULL`)
    this.#page = database.prepare(`SELECT ${entryColumns} FROM trees WHERE created_at < ? ORDER BY created_at DESC LIMIT ?`)
    this.#byKey = database.prepare(`SELECT ${entryColumns} FROM trees WHERE external_key = ? AND created_at IS NOT NULL`)
    this.#identify = database.prepare('UPDATE trees SET principal = ?, external_key = ?, labels = ?, workspace = ? WHERE key = ?')
    this.#remove = database.prepare('DELETE FROM trees WHERE key = ?')
  }

  find(treeId: TreeId): TreeRow | undefined {
    const row = this.#find.get(encodeText(treeId))
    if (row === undefined) return undefined
    const owner = row.owner === null ? undefined : (decodeText(String(row.owner)) as OwnerId)
    return { key: Number(row.key), head: Number(row.head), epoch: Number(row.epoch), owner }
  }

  findOrMake(treeId: TreeId): TreeRow {
    const found = this.find(treeId)
    if (found !== undefined) return found
    const { lastInsertRowid } = this.#insert.run(encodeText(treeId))
    return { key: Number(lastInsertRowid), head: 0, epoch: 0, owner: undefined }
  }

  take(key: number, owner: OwnerId): void {
    this.#take.run(encodeText(owner), key)
  }

  giveUp(key: number): void {
    this.#giveUp.run(key)
  }

  /** Of every owner that is registered for that store. */
  giveUpAll(instance: string): void {
    this.#giveUpAll.run(instance)
  }

  /**
   * Moves the head on, if it is where the driver expects it and the driver still owns the tree. The id is compared as well: the
   * key of a deleted tree may be given to another one.
   */
  advance({ key, treeId, from, to, epoch, at, summary, identity }: Advance): boolean {
    const agent = summary === undefined ? null : encodeText(summary.agent)
    const title = summary === undefined ? null : encodeText(summary.title)
    const [status, open] = [summary?.status ?? null, summary?.openRequests ?? null]
    const { changes } = this.#advance.run(to, at, agent, title, status, open, key, encodeText(treeId), from, epoch)
    if (changes === 0) return false
    if (from === 0) this.#list(key, at)
    if (from === 0 && identity) this.#setIdentity(key, identity)
    return true
  }

  remove(key: number): void {
    this.#remove.run(key)
  }

  findByKey(key: string): TreeEntry | undefined {
    const row = this.#byKey.get(encodeText(key))
    return row === undefined ? undefined : entryOf(row)
  }

  get(treeId: TreeId): TreeEntry | undefined {
    const row = this.#entry.get(encodeText(treeId))
    return row === undefined ? undefined : entryOf(row)
  }

  list({
    limit = Number.POSITIVE_INFINITY,
    before = Number.POSITIVE_INFINITY,
  }: {
    readonly limit?: number
    readonly before?: number
  }): readonly TreeEntry[] {
    return this.#page.all(before, Number.isFinite(limit) ? limit : -1).map(entryOf)
  }

  #setIdentity(row: number, { owner, key, labels, workspace }: TreeIdentity): void {
    const text = (value: string | undefined): string | null => (value === undefined ? null : encodeText(value))
    this.#identify.run(text(owner), text(key), labels === undefined ? null : JSON.stringify(labels), text(workspace), row)
  }

  /** The creation time grows strictly from tree to tree: as the cursor of lists it may neither skip nor repeat one. */
  #list(key: number, at: number): void {
    const newest = this.#newest.get()?.newest
    this.#enlist.run(typeof newest === 'number' ? Math.max(at, newest + 1) : at, key)
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
