import type { IncomingMessage } from 'node:http'
import type { Clock, ToolFailure } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { type AddressFilter, PrivateAddressError } from './address-filter.ts'
import { isSameSite, parseUrl } from './parse-url.ts'
import { sendRequest } from './send-request.ts'

/** A response whose body is not yet read. */
export type Fetched =
  | { readonly ok: true; readonly url: URL; readonly status: number; readonly message: IncomingMessage }
  | { readonly ok: false; readonly failure: ToolFailure }

export const redirectStatuses = new Set([301, 302, 303, 307, 308])
export const mostRedirects = 5

/** Requests a page and follows redirects within the approved site. */
export async function fetchPage(first: URL, filter: AddressFilter, timeouts: FetchTimeouts): Promise<Fetched> {
  let url = first
  for (let hops = 0; ; hops++) {
    const message = await sendRequest(url, { method: 'GET', headers }, { lookup: filter(url), signal: timeouts.signal })
    timeouts.renew()
    const status = message.statusCode ?? 0
    const { location } = message.headers
    if (!redirectStatuses.has(status) || location === undefined) return { ok: true, url, status, message }
    message.destroy()
    const next = parseUrl(location, url)
    if (!next.ok) return { ok: false, failure: { ...next.failure, message: `The page redirects. ${next.failure.message}` } }
    if (!isSameSite(url, next.url)) return { ok: false, failure: elsewhere(next.url) }
    if (hops === mostRedirects) return { ok: false, failure: endless }
    url = next.url
  }
}

const elsewhere = (url: URL): ToolFailure => ({
  class: 'blocked',
  message: `The page redirects to another host: ${url.href}`,
  remedy: 'Fetch that URL if you need it.',
})

const endless: ToolFailure = {
  class: 'failed',
  message: `The page redirects more than ${mostRedirects} times.`,
  remedy: 'Use another source.',
}

export function fetchFailure(error: unknown, url: URL): ToolFailure {
  if (error instanceof PrivateAddressError) return error.failure
  const { code = '' } = error as NodeJS.ErrnoException
  return {
    class: 'network',
    message: `${url.host} cannot be reached: ${words[code] ?? messageOf(error)}.`,
    remedy: 'Check the URL, or try again later.',
  }
}

const words: { readonly [code: string]: string } = {
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'its name cannot be resolved now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'the connection timed out',
  HPE_HEADER_OVERFLOW: 'its response headers are too large',
  ERR_STREAM_PREMATURE_CLOSE: 'its response ended too early',
  Z_BUF_ERROR: 'its response ended too early',
  Z_DATA_ERROR: 'its response is damaged',
}

const headers = {
  accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1',
  'accept-encoding': 'gzip, br, zstd',
  'user-agent': 'Troupe (web_fetch)',
}

interface FetchTimeoutOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly totalMs: number
  readonly idleMs: number
}

export const systemClock: Pick<Clock, 'after'> = {
  after(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** Total and idle timeout of a fetch. */
export class FetchTimeouts {
  /** Aborted by either timeout, or with the call. */
  readonly signal: AbortSignal
  failure: ToolFailure | undefined
  readonly #options: FetchTimeoutOptions
  readonly #over = new AbortController()
  readonly #cancelTotal: () => void
  #cancelIdle: () => void

  constructor(call: AbortSignal, options: FetchTimeoutOptions) {
    this.#options = options
    this.signal = AbortSignal.any([call, this.#over.signal])
    const { clock, totalMs } = options
    this.#cancelTotal = clock.after(totalMs, () => this.#expire(`The response did not arrive within ${totalMs / 1_000} seconds.`))
    this.#cancelIdle = this.#startIdle()
  }

  readonly renew = (): void => {
    this.#cancelIdle()
    this.#cancelIdle = this.#startIdle()
  }

  end(): void {
    this.#cancelTotal()
    this.#cancelIdle()
  }

  #startIdle(): () => void {
    const { clock, idleMs } = this.#options
    return clock.after(idleMs, () => this.#expire(`The server sent nothing for ${idleMs / 1_000} seconds.`))
  }

  #expire(message: string): void {
    this.failure ??= { class: 'timeout', message, remedy: 'Try again later, or use another source.' }
    this.#over.abort()
  }
}
