import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Problem } from '../../contracts/index.ts'
import { checkFields, checkKeys, configError, expectObject, type FieldType, optional } from '../../util/option-problems.ts'
import { processExists } from '../shared/process-exists.ts'
import { type Connection, connectionOf } from './connection-url.ts'

export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the parameters `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `host` and `application_name`. */
  readonly url: string
  /** A direct connection for notifications, if `url` is a pooler in transaction mode. Default: `url`. */
  readonly listenUrl?: string
  /** The maximum number of connections, besides the one for notifications. Default 10. */
  readonly pool?: number
  readonly timing?: Partial<PostgresTiming>
  readonly surroundings?: Partial<PostgresSurroundings>
}

/** All in milliseconds. */
export interface PostgresTiming {
  /** How often a process that drives trees renews its lease. Default 3,000. */
  readonly heartbeatMs: number
  /** How long a lease lasts, and how long an operation is repeated while the server cannot be reached. Default 9,000. */
  readonly leaseMs: number
  /** How often changes of other processes are looked up that no notification has reported. Default 1,000. */
  readonly pollMs: number
  /** How long changes are collected for one notification. Default 50. */
  readonly notifyMs: number
}

/** The process. Tests replace it. */
export interface PostgresSurroundings {
  readonly pid: number
  readonly host: string
  /** Processes with the same text see each other by their ids. */
  readonly processes: string
  isAlive(pid: number): boolean
}

const defaultTiming: PostgresTiming = { heartbeatMs: 3_000, leaseMs: 9_000, pollMs: 1_000, notifyMs: 50 }
const surroundingKeys = ['pid', 'host', 'processes', 'isAlive'] satisfies (keyof PostgresSurroundings)[]

export interface PostgresSettings {
  readonly connection: Connection
  readonly listen: Connection
  readonly pool: number
  readonly timing: PostgresTiming
  readonly surroundings: PostgresSurroundings
}

const place = 'postgresStore'
const aUrl: FieldType = { expected: 'a postgres: URL', isSecret: true, accepts: (url) => typeof url === 'string' && url !== '' }
const aPool: FieldType = { expected: 'a number of connections from 2', accepts: (pool) => Number.isInteger(pool) && Number(pool) >= 2 }
const milliseconds: FieldType = { expected: 'milliseconds', accepts: (ms) => typeof ms === 'number' && ms >= 0 }

/** @throws TroupeError `config_invalid`. */
export function settingsOf(options: PostgresStoreOptions): PostgresSettings {
  checkOptions(options)
  const { url, listenUrl = url, pool = 10, timing, surroundings } = options
  return {
    connection: connectionOf(url),
    listen: connectionOf(listenUrl),
    pool,
    timing: { ...defaultTiming, ...timing },
    surroundings: { pid: process.pid, host: hostname(), processes: visibleProcesses(), isAlive: processExists, ...surroundings },
  }
}

function checkOptions(options: PostgresStoreOptions): void {
  const problems: Problem[] = []
  if (!expectObject(problems, options ?? null, place)) throw configError(problems)
  checkKeys(problems, options, { known: ['url', 'listenUrl', 'pool', 'timing', 'surroundings'], place })
  const fields = { url: aUrl, listenUrl: optional(aUrl), pool: optional(aPool, 'Leave it out for 10.') }
  checkFields(problems, options, { fields, place })
  const { timing, surroundings } = options
  if (expectObject(problems, timing, `${place}.timing`)) {
    checkKeys(problems, timing, { known: Object.keys(defaultTiming), place: `${place}.timing` })
    const times = Object.entries(defaultTiming).map(([key, ms]) => [key, optional(milliseconds, `Leave it out for ${ms}.`)])
    checkFields(problems, timing, { fields: Object.fromEntries(times), place: `${place}.timing` })
  }
  if (expectObject(problems, surroundings, `${place}.surroundings`))
    checkKeys(problems, surroundings, { known: surroundingKeys, place: `${place}.surroundings` })
  if (problems.length > 0) throw configError(problems)
}

/** Containers may share a host name and have the same process ids. */
function visibleProcesses(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
