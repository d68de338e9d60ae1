import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface SqliteStoreOptions {
  /** The folder of the database and its blobs. It is made where it is missing. */
  readonly path: string
  readonly timing?: Partial<SqliteTiming>
  readonly surroundings?: Partial<SqliteSurroundings>
}

/** All in milliseconds. */
export interface SqliteTiming {
  /** How long an operation waits for a file that another process holds. Default 30,000. */
  readonly busyTimeoutMs: number
  /** How often an owner of trees shows that it lives. Default 5,000. */
  readonly heartbeatMs: number
  /** Silence after which an owner counts as dead; several heartbeats. Default 15,000. */
  readonly leaseMs: number
  /** How often a watched database is looked at for what other processes wrote. Default 100. */
  readonly pollMs: number
}

/** What the store takes from the machine. Tests replace it. */
export interface SqliteSurroundings {
  /** Milliseconds since 1970; all processes on one database must roughly agree. */
  now(): number
  readonly pid: number
  readonly host: string
  /** Whether that process of this host exists. */
  isAlive(pid: number): boolean
  openDatabase(file: string): DatabaseSync
}

const defaultTiming: SqliteTiming = { busyTimeoutMs: 30_000, heartbeatMs: 5_000, leaseMs: 15_000, pollMs: 100 }

export interface SqliteSettings {
  readonly path: string
  readonly timing: SqliteTiming
  readonly surroundings: SqliteSurroundings
}

export function settingsOf({ path, timing, surroundings }: SqliteStoreOptions): SqliteSettings {
  const machine: SqliteSurroundings = {
    now: Date.now,
    pid: process.pid,
    host: hostname(),
    isAlive: processExists,
    openDatabase: (file) => new DatabaseSync(file),
  }
  return { path: resolve(path), timing: { ...defaultTiming, ...timing }, surroundings: { ...machine, ...surroundings } }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Any other refusal, such as another user's process, still means that there is one.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
