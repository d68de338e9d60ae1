import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Problem } from '../../contracts/index.ts'
import { checkFields, checkKeys, configError, expectObject, type FieldType, optional } from '../../util/option-problems.ts'
import { processExists } from '../shared/process-exists.ts'

export interface SqliteStoreOptions {
  /** The folder of the database and its blobs. It is created if it is missing. */
  readonly path: string
  /** `read`: write nothing. A folder that is not writable is read as it was when the store was opened. Default `write`. */
  readonly access?: 'read' | 'write'
  readonly timing?: Partial<SqliteTiming>
  readonly surroundings?: Partial<SqliteSurroundings>
}

/** All in milliseconds. */
export interface SqliteTiming {
  /** How long an operation waits for a file that another process holds. Default 30,000. */
  readonly busyTimeoutMs: number
  /** How often an owner of trees renews its lease. Default 5,000. */
  readonly heartbeatMs: number
  /** How long a lease lasts; several heartbeats. Default 15,000. */
  readonly leaseMs: number
  /** How often a watched database is polled for commits of other processes. Default 100. */
  readonly pollMs: number
}

/** The clock, the processes and the database driver. Tests replace them. */
export interface SqliteSurroundings {
  /** Milliseconds since 1970. The clocks of all processes on one database must roughly agree. */
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
  readonly access: 'read' | 'write'
  readonly timing: SqliteTiming
  readonly surroundings: SqliteSurroundings
}

const place = 'sqliteStore'
const surroundingKeys = ['now', 'pid', 'host', 'isAlive', 'openDatabase'] satisfies (keyof SqliteSurroundings)[]

const aFolder: FieldType = { expected: 'a folder', remedy: 'Give its path.', accepts: (path) => typeof path === 'string' && path !== '' }
const anAccess: FieldType = {
  expected: 'read or write',
  remedy: 'Leave it out for write.',
  accepts: (access) => access === undefined || access === 'read' || access === 'write',
}
const milliseconds: FieldType = { expected: 'milliseconds', accepts: (ms) => typeof ms === 'number' && ms >= 0 }

/** @throws TroupeError `config_invalid` with all problems. No folder is created. */
function checkOptions(options: SqliteStoreOptions): void {
  const problems: Problem[] = []
  if (!expectObject(problems, options ?? null, place)) throw configError(problems)
  checkKeys(problems, options, { known: ['path', 'access', 'timing', 'surroundings'], place })
  const { timing, surroundings } = options
  checkFields(problems, options, { fields: { access: anAccess, path: aFolder }, place })
  if (expectObject(problems, timing, `${place}.timing`)) {
    checkKeys(problems, timing, { known: Object.keys(defaultTiming), place: `${place}.timing` })
    const fields = Object.entries(defaultTiming).map(([key, ms]) => [key, optional(milliseconds, `Leave it out for ${ms}.`)])
    checkFields(problems, timing, { fields: Object.fromEntries(fields), place: `${place}.timing` })
  }
  if (expectObject(problems, surroundings, `${place}.surroundings`))
    checkKeys(problems, surroundings, { known: surroundingKeys, place: `${place}.surroundings` })
  if (problems.length > 0) throw configError(problems)
}

export function settingsOf(options: SqliteStoreOptions): SqliteSettings {
  checkOptions(options)
  const { path, access = 'write', timing, surroundings } = options
  const machine: SqliteSurroundings = {
    now: Date.now,
    pid: process.pid,
    host: hostname(),
    isAlive: processExists,
    openDatabase: (file) => new DatabaseSync(file),
  }
  return { path: resolve(path), access, timing: { ...defaultTiming, ...timing }, surroundings: { ...machine, ...surroundings } }
}
