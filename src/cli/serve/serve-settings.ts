import { isIPv6 } from 'node:net'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import type { HeadendSettings } from '../../project/index.ts'
import type { AdmissionLimits, AllowedNames, StreamLimits } from '../../server/http/index.ts'
import { parseDuration } from '../../util/parse-units.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'

/** How the server works. Fixed at its start. */
export interface ServeSettings {
  readonly host: string
  readonly port: number
  readonly names: AllowedNames
  readonly maxBodyBytes?: number
  readonly admission: Partial<AdmissionLimits>
  readonly streams: Partial<StreamLimits>
  readonly drainMs: number
  readonly legacyTransports: boolean
}

const defaultHost = '127.0.0.1'
const defaultPort = 3900
const defaultDrainMs = 30_000

/** Values of the flags. */
interface ServeFlags {
  readonly host?: string
  readonly port?: number
  readonly drainMs?: number
  readonly legacyTransports: boolean
}

type WrittenFlags = Pick<ServeInvocation, 'host' | 'port' | 'drain' | 'hasLegacyTransports'>

/** @throws TroupeError `usage` with all wrong values. */
export function serveFlags({ host, port, drain, hasLegacyTransports }: WrittenFlags): ServeFlags {
  const problems: Problem[] = []
  const portNumber = port === undefined ? undefined : parsePort(port)
  const drainMs = drain === undefined ? undefined : parseDuration(drain)
  if (port !== undefined && portNumber === undefined)
    problems.push({ place: '--port', message: `expected a number from 0 to 65535, not "${port}"`, remedy: 'Write it like --port 3900.' })
  if (drain !== undefined && drainMs === undefined)
    problems.push({ place: '--drain', message: `expected a duration, not "${drain}"`, remedy: 'Write it like --drain 30s.' })
  if (problems.length > 0) throw new TroupeError('usage', 'The command line is invalid.', { problems, remedy: 'More: troupe help serve' })
  return {
    ...(host !== undefined && { host }),
    ...(portNumber !== undefined && { port: portNumber }),
    ...(drainMs !== undefined && { drainMs }),
    legacyTransports: hasLegacyTransports,
  }
}

const parsePort = (written: string): number | undefined => {
  const port = /^\d{1,5}$/.test(written) ? Number(written) : undefined
  return port !== undefined && port <= 65_535 ? port : undefined
}

/** Flags win over the configuration. */
export function serveSettings(flags: ServeFlags, configured: HeadendSettings): ServeSettings {
  const host = flags.host ?? configured.host ?? defaultHost
  return {
    host,
    port: flags.port ?? configured.port ?? defaultPort,
    names: {
      hosts: [...new Set(['127.0.0.1', 'localhost', '[::1]', hostInUrl(host), ...(configured.hosts ?? [])])],
      origins: configured.origins ?? [],
    },
    ...(configured.maxBodyBytes !== undefined && { maxBodyBytes: configured.maxBodyBytes }),
    admission: configured.concurrency ?? {},
    streams: configured.streams ?? {},
    drainMs: flags.drainMs ?? configured.drain ?? defaultDrainMs,
    legacyTransports: flags.legacyTransports || configured.legacyTransports === true,
  }
}

/** `::1` → `[::1]`. */
export const hostInUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host)

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

/** All addresses of the machine: clients use other names. */
export const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'
