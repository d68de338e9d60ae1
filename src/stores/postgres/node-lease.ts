import { randomUUID } from 'node:crypto'
import type { TreeId } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import type { Database, Row, Transaction } from './database.ts'
import type { PostgresSettings } from './postgres-options.ts'

/** What `isAlive` needs of a row of `nodes`. */
export const nodeColumns = `nodes.host, nodes.processes, nodes.pid, nodes.lease_until > clock_timestamp() AS is_leased`

/** A node without a row is dead, too. */
const forgetDead = "DELETE FROM troupe.nodes WHERE lease_until < clock_timestamp() - interval '1 hour'"

/**
 * The trees that were claimed through this store, and its lease: a row of `nodes`.
 *
 * 1. The lease is written by the clock of the database, in the transaction of the first claim, and renewed while there is a holding.
 * 2. A lease covers the trees that its instance has claimed last. So a late heartbeat never takes a tree back.
 * 3. Correctness does not depend on a lease: the epoch refuses writes of a driver that was wrongly found dead.
 * 4. A release that could not be stored is repeated with the heartbeat. For this process the tree has no driver from then on.
 */
export class NodeLease {
  /** Tells this store from an earlier or later one of the same process. */
  readonly instance = randomUUID()
  readonly #settings: PostgresSettings
  readonly #database: Database
  readonly #holdings = new Map<TreeId, number>()
  readonly #unreleased = new Map<TreeId, number>()
  #isRegistered = false
  #timer: NodeJS.Timeout | undefined
  #beat: Promise<unknown> | undefined

  constructor(database: Database, settings: PostgresSettings) {
    this.#database = database
    this.#settings = settings
  }

  /** The driver in words, for people; `undefined` when it is dead. */
  alive({ host, processes, pid, is_leased: isLeased }: Row): string | undefined {
    const { surroundings } = this.#settings
    const isGone = processes === surroundings.processes && !surroundings.isAlive(Number(pid))
    return isLeased === true && !isGone ? `process ${pid} on ${host}` : undefined
  }

  async register(transaction: Transaction): Promise<void> {
    if (!this.#isRegistered) await transaction.query(forgetDead)
    const { host, processes, pid } = this.#settings.surroundings
    await transaction.query(
      `INSERT INTO troupe.nodes (instance, node, host, processes, pid, lease_until)
         VALUES ($1, $2, $2, $3, $4, clock_timestamp() + $5 * interval '1 ms')
         ON CONFLICT (instance) DO UPDATE SET lease_until = excluded.lease_until`,
      [this.instance, host, processes, pid, this.#settings.timing.leaseMs],
    )
  }

  enter(treeId: TreeId, epoch: number): void {
    this.#isRegistered = true
    this.#holdings.set(treeId, epoch)
    this.#unreleased.delete(treeId)
    this.#timer ??= setInterval(() => this.#renew(), this.#settings.timing.heartbeatMs).unref()
  }

  async release(treeId: TreeId, epoch: number): Promise<void> {
    try {
      await this.#clearDriver(treeId, epoch)
    } catch (error) {
      if (this.#holdings.get(treeId) === epoch) this.#unreleased.set(treeId, epoch)
      throw error
    }
    this.remove(treeId, epoch)
  }

  isReleased(treeId: TreeId): boolean {
    return this.#unreleased.has(treeId)
  }

  remove(treeId: TreeId, epoch: number): void {
    if (this.#holdings.get(treeId) !== epoch) return
    this.#holdings.delete(treeId)
    this.#unreleased.delete(treeId)
    if (this.#holdings.size === 0) this.#stop()
  }

  /** Gives every tree back. If that cannot be written, other processes find out that this one has ended. */
  async close(): Promise<void> {
    this.#stop()
    await this.#beat
    if (!this.#isRegistered) return
    await this.#database
      .transaction(async (transaction) => {
        await transaction.query('UPDATE troupe.trees SET owner = NULL, instance = NULL WHERE instance = $1', [this.instance])
        await transaction.query('DELETE FROM troupe.nodes WHERE instance = $1', [this.instance])
      })
      .catch(() => undefined)
  }

  #clearDriver(treeId: TreeId, epoch: number): Promise<unknown> {
    return this.#database.write(
      'UPDATE troupe.trees SET owner = NULL, instance = NULL WHERE id = $1 AND epoch = $2 AND owner IS NOT NULL',
      [encodeText(treeId), epoch],
    )
  }

  #renew(): void {
    // A failed heartbeat is not repeated: the lease outlasts two lost ones.
    this.#beat ??= this.#writeBeat()
      .catch(() => undefined)
      .finally(() => {
        this.#beat = undefined
      })
  }

  async #writeBeat(): Promise<void> {
    await this.#database.once("UPDATE troupe.nodes SET lease_until = clock_timestamp() + $2 * interval '1 ms' WHERE instance = $1", [
      this.instance,
      this.#settings.timing.leaseMs,
    ])
    for (const [treeId, epoch] of this.#unreleased) {
      await this.#clearDriver(treeId, epoch)
      this.remove(treeId, epoch)
    }
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
