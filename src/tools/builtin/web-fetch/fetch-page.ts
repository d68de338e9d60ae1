import type { IncomingMessage } from 'node:http'
import type { ToolFailure } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { exchange } from './exchange.ts'
import type { Patience } from './patience.ts'
import { type Reach, RefusedAddress } from './reach.ts'
import { isSameSite, readTarget } from './target.ts'

/** The head of an answer, with a body that is still to be read. */
export type Fetched =
  | { readonly ok: true; readonly url: URL; readonly status: number; readonly message: IncomingMessage }
  | { readonly ok: false; readonly failure: ToolFailure }

const redirects = new Set([301, 302, 303, 307, 308])
const mostRedirects = 5

export interface Fetching {
  readonly reach: Reach
  readonly patience: Patience
}

/** Asks for a page and goes where it was moved to, as long as that is the same site: another one has not been allowed. */
export async function fetchPage(first: URL, { reach, patience }: Fetching): Promise<Fetched> {
  let url = first
  for (let hops = 0; ; hops++) {
    const message = await exchange(url, { lookup: reach.lookupFor(url), signal: patience.signal })
    patience.renew()
    const status = message.statusCode ?? 0
    const { location } = message.headers
    if (!redirects.has(status) || location === undefined) return { ok: true, url, status, message }
    message.destroy()
    const next = readTarget(location, url)
    if (!next.ok) return { ok: false, failure: { ...next.failure, message: `The page redirects. ${next.failure.message}` } }
    if (!isSameSite(url, next.url)) return { ok: false, failure: elsewhere(next.url) }
    if (hops === mostRedirects) return { ok: false, failure: endless }
    url = next.url
  }
}

const elsewhere = (url: URL): ToolFailure => ({
  class: 'blocked',
  message: `The page redirects to another host: ${url.href}`,
  remedy: 'Fetch that address, if it is the right one.',
})

const endless: ToolFailure = {
  class: 'failed',
  message: `The page redirects more than ${mostRedirects} times.`,
  remedy: 'Look for the same elsewhere.',
}

/** Why there is no page, where that was thrown. */
export function fetchFailure(error: unknown, url: URL): ToolFailure {
  if (error instanceof RefusedAddress) return error.failure
  const { code = '' } = error as NodeJS.ErrnoException
  return {
    class: 'network',
    message: `${url.host} cannot be fetched from: ${words[code] ?? messageOf(error)}.`,
    remedy: 'Check the address, or try again later.',
  }
}

const words: { readonly [code: string]: string } = {
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNREFUSED: 'nothing answers there',
  ECONNRESET: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it does not answer',
  HPE_HEADER_OVERFLOW: 'the head of its answer is too large',
  ERR_STREAM_PREMATURE_CLOSE: 'its answer ended too early',
  Z_BUF_ERROR: 'its answer ended too early',
  Z_DATA_ERROR: 'its answer is damaged',
}
