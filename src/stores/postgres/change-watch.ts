import type { TreeChange, TreeId } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { closedError } from '../shared/store-errors.ts'
import { Watchers } from '../shared/watchers.ts'
import type { Database, Row } from './database.ts'
import type { Listener } from './listener.ts'
import type { Changes, Notifier } from './notifier.ts'
import type { PostgresTiming } from './postgres-options.ts'
import { entryColumns, entryOf } from './tree-rows.ts'

/** Up to where the watchers of a tree know it. */
interface Heads {
  head: number
  inbox: number
}

interface Parts {
  readonly database: Database
  readonly listener: Listener
  readonly notifier: Notifier
  readonly timing: PostgresTiming
  /** Where a look at the list begins: the transactions before have ended. */
  readonly position: string
}

/** While notifications arrive, a look at the whole list is seldom worth its time. */
const pollsForList = 10

/**
 * Wakes the watchers of a tree, and those of the list of trees.
 *
 * 1. Commits of this store wake them immediately, those of other stores by a notification.
 * 2. Notifications are sent outside of the append, and can be lost. So trees that are watched are polled, and the list of trees when
 *    a connection for notifications was made, while there is none, and every ten polls.
 * 3. The poll runs only while there is a watcher, and never keeps the process alive.
 * 4. A look at the list finds the rows of all transactions that had not ended at the last one: it may find a row twice, and misses none.
 */
export class ChangeWatch {
  readonly #parts: Parts
  readonly #watchers = { journal: new Watchers<TreeId>(), inbox: new Watchers<TreeId>() } as const
  readonly #trees = new Watchers<'trees', TreeChange>()
  readonly #known = new Map<TreeId, Heads>()
  #position: string
  #polls = 0
  #polling: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #state: 'open' | 'closed' = 'open'

  constructor(parts: Parts) {
    this.#parts = parts
    this.#position = parts.position
    parts.listener.onChanges = (changes) => void this.#notified(changes).catch(() => undefined)
    parts.listener.onConnected = () => void this.#poll({ withList: true })
  }

  watch(kind: 'journal' | 'inbox', treeId: TreeId, wake: () => void): () => void {
    return this.#start(() => this.#watchers[kind].add(treeId, wake))
  }

  watchTrees(changed: (change: TreeChange) => void): () => void {
    return this.#start(() => this.#trees.add('trees', changed))
  }

  /** After a commit of this store. */
  appended(treeId: TreeId, seq: number, row: Row): void {
    this.#parts.notifier.add({ trees: [[encodeText(treeId), seq]] })
    this.#note(treeId, { head: seq })
    if (!this.#trees.idle) this.#report(treeId, row)
    this.#watchers.journal.wake(treeId)
  }

  /** After a commit that has sent a notification. */
  messageAdded(treeId: TreeId, position: number): void {
    this.#note(treeId, { inbox: position })
    this.#watchers.inbox.wake(treeId)
  }

  treeChanged(change: TreeChange): void {
    this.#trees.wake('trees', change)
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    this.#stop()
    await this.#polling
  }

  #start(add: () => () => void): () => void {
    if (this.#state === 'closed') throw closedError()
    const remove = add()
    this.#parts.listener.start()
    this.#timer ??= setInterval(() => void this.#poll({}), this.#parts.timing.pollMs).unref()
    return () => {
      remove()
      if (this.#watchers.journal.idle && this.#watchers.inbox.idle && this.#trees.idle) this.#stop()
    }
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #report(treeId: TreeId, row: Row | undefined): void {
    const entry = entryOf(row)
    this.#trees.wake('trees', { treeId, entry })
  }

  #note(treeId: TreeId, heads: Partial<Heads>): void {
    const known = this.#known.get(treeId)
    if (known) Object.assign(known, heads)
  }

  async #notified({ trees = [], inbox = [] }: Changes): Promise<void> {
    for (const [id, position] of inbox) this.messageAdded(decodeText(id) as TreeId, position)
    for (const [id, seq] of trees) {
      const treeId = decodeText(id) as TreeId
      if (seq > 0) this.#note(treeId, { head: seq })
      this.#watchers.journal.wake(treeId)
    }
    if (this.#trees.idle || trees.length === 0) return
    const ids = [...new Set(trees.map(([id]) => id))]
    const rows = await this.#parts.database.read(`SELECT ${entryColumns} FROM troupe.trees WHERE id = ANY($1)`, [ids])
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const id of ids) this.#report(decodeText(id) as TreeId, byId.get(id))
  }

  #poll({ withList = false }: { readonly withList?: boolean }): Promise<void> {
    this.#polls += 1
    const looksAtList = withList || !this.#parts.listener.isConnected || this.#polls % pollsForList === 0
    // A failed poll is repeated by the next one, which finds the same differences.
    this.#polling = (this.#polling ?? Promise.resolve()).then(() => this.#look(looksAtList)).catch(() => undefined)
    return this.#polling
  }

  async #look(looksAtList: boolean): Promise<void> {
    if (this.#state === 'closed') return
    await this.#lookAtTrees()
    if (looksAtList && !this.#trees.idle) await this.#lookAtList()
  }

  async #lookAtTrees(): Promise<void> {
    const watched = new Set([...this.#watchers.journal.keys(), ...this.#watchers.inbox.keys()])
    for (const treeId of this.#known.keys()) if (!watched.has(treeId)) this.#known.delete(treeId)
    if (watched.size === 0) return
    const rows = await this.#parts.database.once('SELECT id, head, inbox_head FROM troupe.trees WHERE id = ANY($1)', [
      [...watched].map(encodeText),
    ])
    for (const row of rows) {
      const treeId = decodeText(String(row.id)) as TreeId
      const [known, head, inbox] = [this.#known.get(treeId), Number(row.head), Number(row.inbox_head)]
      this.#known.set(treeId, { head, inbox })
      if (known?.head !== head) this.#watchers.journal.wake(treeId)
      if (known?.inbox !== inbox) this.#watchers.inbox.wake(treeId)
    }
  }

  async #lookAtList(): Promise<void> {
    const { database } = this.#parts
    const from = this.#position
    // Read first: what commits meanwhile is found by this look, and by the next one again.
    const [row] = await database.once('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS position')
    const deleted = await database.once(`SELECT id FROM troupe.deletions WHERE ${isRecent}`, [from])
    const changed = await database.once(`SELECT ${entryColumns} FROM troupe.trees WHERE ${isRecent} AND created_at IS NOT NULL`, [from])
    this.#position = String(row?.position)
    for (const { id } of deleted) this.#report(decodeText(String(id)) as TreeId, undefined)
    for (const row of changed) this.#report(decodeText(String(row.id)) as TreeId, row)
  }
}

/** A restored database may have rows of transactions that this server has not reached. */
const isRecent = 'changed >= $1::xid8 AND changed < pg_snapshot_xmax(pg_current_snapshot())'
