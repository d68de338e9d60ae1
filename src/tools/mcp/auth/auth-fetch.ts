// Requests to authorization servers, whose addresses come from an MCP server that is not trusted.
//
// 1. HTTPS, except on loopback addresses.
// 2. An MCP server with a public address cannot point to private ones, except to the configured `issuer`.
// 3. Responses are small and arrive in time. Redirects stay within the origin: the library follows no others.
// 4. The headers that are configured for the MCP server are not sent.
import { isIP } from 'node:net'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Clock } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { isPublicAddress } from '../../../util/private-address.ts'
import { addressFilter, resolveWithSystem } from '../../builtin/web-fetch/address-filter.ts'
import { FetchTimeouts } from '../../builtin/web-fetch/fetch-page.ts'
import { hostOf, portOf } from '../../builtin/web-fetch/parse-url.ts'
import { readBody } from '../../builtin/web-fetch/read-body.ts'
import { sendRequest } from '../../builtin/web-fetch/send-request.ts'
import type { ResolvedHttp } from '../resolve-server.ts'
import { isSecureUrl } from './auth-settings.ts'

const maxBytes = 256 * 1024
const idleMs = 10_000
const totalMs = 20_000

export function authFetch({ url: server, auth }: Pick<ResolvedHttp, 'url' | 'auth'>, clock: Clock, call?: AbortSignal): FetchLike {
  let known: Promise<boolean> | undefined
  const mayBePrivate = async (url: URL): Promise<boolean> => {
    if (url.origin === server.origin || (auth?.issuer !== undefined && url.origin === URL.parse(auth.issuer)?.origin)) return true
    known ??= isPrivateHost(server)
    return known
  }
  return async (target, init = {}) => {
    const url = new URL(target)
    if (!isSecureUrl(url)) throw new TypeError(`the authorization server is not at an HTTPS address: ${url.origin}`)
    const allowed = (await mayBePrivate(url)) ? [`${url.hostname}:${portOf(url)}`] : []
    const timeouts = new FetchTimeouts(call ?? new AbortController().signal, { clock, idleMs, totalMs })
    const body = init.body === undefined || init.body === null ? undefined : String(init.body)
    try {
      const headers = {
        'user-agent': 'Troupe (MCP)',
        ...Object.fromEntries(new Headers(init.headers)),
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      }
      const message = await sendRequest(
        url,
        { method: init.method ?? 'GET', headers, ...(body !== undefined && { body }) },
        { lookup: addressFilter(allowed, resolveWithSystem)(url), signal: timeouts.signal },
      )
      const { bytes, isCut } = await readBody(message, maxBytes, timeouts.renew)
      if (isCut) throw new Error(`the response of ${url.origin} has more than ${maxBytes / 1024} KB`)
      const { statusCode: status = 0, headers: received } = message
      const response = new Response(status === 204 || status === 304 ? null : Buffer.from(bytes), {
        status,
        headers: {
          ...(received.location !== undefined && { location: received.location }),
          'content-type': received['content-type'] ?? '',
        },
      })
      Object.defineProperty(response, 'url', { value: url.href })
      return response
    } catch (error) {
      // The library passes over other errors while it looks for the authorization server.
      throw new TypeError(`${url.origin}: ${timeouts.failure?.message ?? messageOf(error)}`, { cause: error })
    } finally {
      timeouts.end()
    }
  }
}

async function isPrivateHost(url: URL): Promise<boolean> {
  const host = hostOf(url)
  if (isIP(host)) return !isPublicAddress(host)
  const found = await resolveWithSystem(host)
  return found.length > 0 && found.every(({ address }) => !isPublicAddress(address))
}
