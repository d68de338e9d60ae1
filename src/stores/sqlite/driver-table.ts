import type { DatabaseSync } from 'node:sqlite'
import type { DriverId } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import type { SilentDriver } from './lock-holder.ts'
import type { SqliteSettings } from './sqlite-options.ts'

/**
 * The drivers of trees, and when each was last seen alive.
 *
 * 1. A row belongs to the store that registered it last (`instance`). Only that one renews or removes it, so a
 *    heartbeat never revives a driver that was replaced.
 * 2. Only drivers that have trees have a row; a driver without one is dead.
 * 3. Correctness does not depend on the verdict: the epoch refuses writes of a driver that was wrongly found dead.
 */
export function driverTable(database: DatabaseSync, { timing, surroundings }: SqliteSettings) {
  const find = database.prepare('SELECT pid, host, seen_at FROM owners WHERE id = ?')
  const all = database.prepare('SELECT id, pid, host, seen_at FROM owners ORDER BY seen_at')
  const register = database.prepare(
    `INSERT INTO owners (id, instance, pid, host, seen_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
       SET instance = excluded.instance, pid = excluded.pid, host = excluded.host, seen_at = excluded.seen_at`,
  )
  const dismiss = database.prepare('DELETE FROM owners WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM trees WHERE owner = ?1)')
  const renew = database.prepare('UPDATE owners SET seen_at = ? WHERE instance = ?')
  const remove = database.prepare('DELETE FROM owners WHERE instance = ?')
  function isAlive({ pid, host, seen_at }: Record<string, unknown>): boolean {
    if (host === surroundings.host && !surroundings.isAlive(Number(pid))) return false
    // A time far in the future is as bad as one long past: a clock was set back.
    return Math.abs(surroundings.now() - Number(seen_at)) <= timing.leaseMs
  }
  return {
    /** The driver in words, for people; `undefined` when it is dead. */
    alive(driver: DriverId): string | undefined {
      const row = find.get(encodeText(driver))
      return row && isAlive(row) ? `process ${row.pid} on ${row.host}` : undefined
    },
    /** As `trees` has them. */
    dead: (): readonly string[] => all.all().flatMap((row) => (isAlive(row) ? [] : [String(row.id)])),
    /** Drivers on this host whose process lives, but whose lease has expired. */
    silent: (): readonly SilentDriver[] =>
      all.all().flatMap(({ pid, host, seen_at }) => {
        const silentMs = surroundings.now() - Number(seen_at)
        const isSuspect = host === surroundings.host && silentMs > timing.leaseMs && surroundings.isAlive(Number(pid))
        return isSuspect ? [{ pid: Number(pid), silentMs }] : []
      }),
    register: (driver: DriverId, instance: string) =>
      register.run(encodeText(driver), instance, surroundings.pid, surroundings.host, surroundings.now()),
    /** Removes a driver that has no trees. */
    removeIdle: (driver: DriverId) => dismiss.run(encodeText(driver)),
    renew: (instance: string) => renew.run(surroundings.now(), instance),
    remove: (instance: string) => remove.run(instance),
  }
}
