import { HttpError } from './http-error.ts'

// A page of another site can send requests to a loopback address, and by DNS rebinding even as its own origin. The names that
// browsers send are therefore compared with lists.

export interface AllowedNames {
  /** Values of the Host header, with or without a port: `127.0.0.1`, `[::1]`, `agents.example.com`. */
  readonly hosts: readonly string[]
  /** Values of the Origin header: `https://chat.example.com`. The server's own origins are always allowed. */
  readonly origins: readonly string[]
}

/** `anyHost`: for routes that platforms call by whatever name leads to the server. Pages of other sites are refused in any case. */
export function checkHostAndOrigin(headers: Headers, { hosts, origins }: AllowedNames, { anyHost = false } = {}): void {
  const host = headers.get('host')?.toLowerCase() ?? ''
  if (!anyHost && !isAllowedHost(host, hosts))
    throw new HttpError('forbidden', `The Host "${shortened(host)}" is not allowed.`, {
      remedy: 'Use the address that the server printed, or add the name to headends.hosts.',
    })
  const origin = headers.get('origin')
  if (origin !== null && !isAllowedOrigin(origin, { host, origins }))
    throw new HttpError('forbidden', `The Origin "${shortened(origin)}" is not allowed.`, {
      remedy: 'Add it to headends.origins.',
    })
}

const isAllowedHost = (host: string, hosts: readonly string[]): boolean =>
  host !== '' && hosts.some((allowed) => host === allowed.toLowerCase() || withoutPort(host) === allowed.toLowerCase())

/** `[::1]:80` → `[::1]`. */
const withoutPort = (host: string): string => host.replace(/:\d+$/, '')

/** A page that this server delivered has the server's own Host in its Origin. */
function isAllowedOrigin(origin: string, { host, origins }: { readonly host: string; readonly origins: readonly string[] }): boolean {
  const given = origin.toLowerCase()
  return given === `http://${host}` || given === `https://${host}` || origins.some((allowed) => allowed.toLowerCase() === given)
}

/** The origin of a page of another site that may read the response. */
export function allowedOrigin(headers: Headers, { origins }: AllowedNames): string | undefined {
  const origin = headers.get('origin')?.toLowerCase()
  return origins.find((allowed) => allowed.toLowerCase() === origin)
}

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)
