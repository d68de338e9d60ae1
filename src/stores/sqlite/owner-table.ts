import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { OwnerId } from '../../contracts/index.ts'
import type { SilentOwner } from './lock-holder.ts'
import type { SqliteSettings } from './options.ts'
import { encodeText } from './text.ts'

/**
 * Who drives trees, and when it was last seen alive.
 *
 * 1. A row belongs to the store that registered it last (`instance`). Only that one renews or removes it, so a
 *    heartbeat never revives an owner that was replaced.
 * 2. Only owners that have trees have a row; an owner without one is dead.
 * 3. Nothing depends on a verdict being right: an owner wrongly found dead is refused by its epoch.
 */
export class OwnerTable {
  readonly #settings: SqliteSettings
  readonly #find: StatementSync
  readonly #all: StatementSync
  readonly #register: StatementSync
  readonly #dismiss: StatementSync
  readonly #renew: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync, settings: SqliteSettings) {
    this.#settings = settings
    this.#find = database.prepare('SELECT pid, host, seen_at FROM owners WHERE id = ?')
    this.#all = database.prepare('SELECT pid, host, seen_at FROM owners ORDER BY seen_at')
    this.#register = database.prepare(
      `INSERT INTO owners (id, instance, pid, host, seen_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
       SET instance = excluded.instance, pid = excluded.pid, host = excluded.host, seen_at = excluded.seen_at`,
    )
    this.#dismiss = database.prepare('DELETE FROM owners WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM trees WHERE owner = ?1)')
    this.#renew = database.prepare('UPDATE owners SET seen_at = ? WHERE instance = ?')
    this.#remove = database.prepare('DELETE FROM owners WHERE instance = ?')
  }

  /** Says who that is, for people; `undefined` when it is dead. */
  alive(owner: OwnerId): string | undefined {
    const row = this.#find.get(encodeText(owner))
    if (row === undefined) return undefined
    const { timing, surroundings } = this.#settings
    const pid = Number(row.pid)
    if (row.host === surroundings.host && !surroundings.isAlive(pid)) return undefined
    // A time far ahead is no better than one long past: a clock was set back, and the owner no longer beats by it.
    if (Math.abs(surroundings.now() - Number(row.seen_at)) > timing.leaseMs) return undefined
    return `process ${pid} on ${row.host}`
  }

  /** Owners of this host whose process lives although they were silent past their lease. */
  silent(): readonly SilentOwner[] {
    const { timing, surroundings } = this.#settings
    return this.#all.all().flatMap(({ pid, host, seen_at }) => {
      const silentMs = surroundings.now() - Number(seen_at)
      const isSuspect = host === surroundings.host && silentMs > timing.leaseMs && surroundings.isAlive(Number(pid))
      return isSuspect ? [{ pid: Number(pid), silentMs }] : []
    })
  }

  register(owner: OwnerId, instance: string): void {
    const { surroundings } = this.#settings
    this.#register.run(encodeText(owner), instance, surroundings.pid, surroundings.host, surroundings.now())
  }

  /** After a tree was taken from an owner, or given up by it. */
  dismissIdle(owner: OwnerId): void {
    this.#dismiss.run(encodeText(owner))
  }

  renew(instance: string): void {
    this.#renew.run(this.#settings.surroundings.now(), instance)
  }

  remove(instance: string): void {
    this.#remove.run(instance)
  }
}
