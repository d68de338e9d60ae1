import { isIPv6 } from 'node:net'
import type { HeadendSettings } from '../project/index.ts'
import type { AllowedNames, PlaceLimits, StreamLimits } from './http/index.ts'

/** How the server works. Fixed at its start. */
export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** Where clients reach it, without a slash at its end. */
  readonly publicUrl?: string
  readonly names: AllowedNames
  /** Whether names of the server were given. */
  readonly hasHosts: boolean
  readonly maxBodyBytes?: number
  readonly places: Partial<PlaceLimits>
  readonly streams: Partial<StreamLimits>
  readonly drainMs: number
  readonly legacyTransports: boolean
}

const defaultHost = '127.0.0.1'
const defaultPort = 3900
const defaultDrainMs = 30_000

export function serverSettings(given: HeadendSettings): ServerSettings {
  const host = given.host ?? defaultHost
  const publicUrl = given.publicUrl?.replace(/\/$/, '')
  return {
    host,
    port: given.port ?? defaultPort,
    ...(publicUrl !== undefined && { publicUrl }),
    names: {
      hosts: [
        ...new Set([
          '127.0.0.1',
          'localhost',
          '[::1]',
          hostInUrl(host),
          ...(publicUrl === undefined ? [] : [new URL(publicUrl).host]),
          ...(given.hosts ?? []),
        ]),
      ],
      origins: given.origins ?? [],
    },
    hasHosts: publicUrl !== undefined || (given.hosts ?? []).length > 0,
    ...(given.maxBodyBytes !== undefined && { maxBodyBytes: given.maxBodyBytes }),
    places: given.concurrency ?? {},
    streams: given.streams ?? {},
    drainMs: given.drain ?? defaultDrainMs,
    legacyTransports: given.legacyTransports === true,
  }
}

/** `::1` → `[::1]`. */
export const hostInUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host)

/** All addresses of the machine: clients use other names. */
export const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

export const baseUrl = (host: string, port: number): string => `http://${isAnyAddress(host) ? 'localhost' : hostInUrl(host)}:${port}`
