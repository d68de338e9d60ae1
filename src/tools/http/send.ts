// 1. Credentials go to the origin that the configuration names, and to nobody else.
// 2. Only GET and HEAD follow redirects; to another host only if it is listed, and without credentials from then on.
// 3. Everything is read within one time limit and one limit of bytes.
import type { IncomingMessage } from 'node:http'
import type { ToolFailure } from '../../contracts/index.ts'
import type { AddressFilter } from '../builtin/web-fetch/address-filter.ts'
import { type FetchTimeouts, mostRedirects, redirectStatuses } from '../builtin/web-fetch/fetch-page.ts'
import { isDefaultPort } from '../builtin/web-fetch/parse-url.ts'
import { type Body, type ContentType, kindOf, readBody, readContentType } from '../builtin/web-fetch/read-body.ts'
import { sendRequest } from '../builtin/web-fetch/send-request.ts'
import type { HttpRequest } from './build-request.ts'
import { type Credentials, noCredentials } from './credentials.ts'

interface SendOptions {
  readonly credentials: Credentials
  readonly addresses: AddressFilter
  readonly timeouts: FetchTimeouts
  /** Other hosts that may be redirected to. */
  readonly redirects: readonly string[]
  readonly maxBytes: number
}

export interface HttpResponse {
  /** Without credentials. */
  readonly url: URL
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly contentType: ContentType
  /** `undefined` for binary content. */
  readonly body: Body | undefined
}

export type Sent = { readonly ok: true; readonly response: HttpResponse } | { readonly ok: false; readonly failure: ToolFailure }

/** Read from the body of an error status. */
const errorBytes = 65_536
const fixedHeaders = {
  accept: 'application/json, text/*;q=0.9, */*;q=0.1',
  'accept-encoding': 'gzip, br, zstd',
  'user-agent': 'Troupe (REST tool)',
}

/** Sends a request and reads the response. Throws if the connection fails. */
export async function send(first: HttpRequest, options: SendOptions): Promise<Sent> {
  const { addresses, timeouts, maxBytes } = options
  let { url, headers } = first
  let { credentials } = options
  for (let hops = 0; ; hops++) {
    const message = await sendRequest(
      withQuery(url, credentials),
      { ...first, headers: { ...fixedHeaders, ...headers, ...withLength(first.body), ...credentials.headers } },
      { lookup: addresses(url), signal: timeouts.signal },
    )
    timeouts.renew()
    const target = redirectStatuses.has(message.statusCode ?? 0) ? message.headers.location : undefined
    if (target === undefined) return { ok: true, response: await readResponse(url, message, { maxBytes, timeouts }) }
    message.destroy()
    const next = URL.parse(target, url.href)
    const refusal = redirectRefusal(url, next, { ...options, method: first.method, hops })
    if (refusal || !next) return { ok: false, failure: refusal ?? badRedirect }
    if (!isSameServer(url, next)) {
      credentials = noCredentials
      headers = {}
    }
    url = next
    url.hash = ''
  }
}

const withLength = (body: string | undefined): { readonly [name: string]: string } =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }

function withQuery(url: URL, { query }: Credentials): URL {
  if (query.length === 0) return url
  const sent = new URL(url)
  for (const [name, value] of query) sent.searchParams.set(name, value)
  return sent
}

/** The same origin, or the same host over HTTPS instead of HTTP. */
export function isSameServer(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname
  return from.origin === to.origin || (isUpgrade && isDefaultPort(from) && isDefaultPort(to))
}

const badRedirect: ToolFailure = { class: 'failed', message: 'The server redirects to something that is not a URL.' }

function redirectRefusal(
  from: URL,
  to: URL | null,
  { method, hops, redirects }: Pick<SendOptions, 'redirects'> & { readonly method: string; readonly hops: number },
): ToolFailure | undefined {
  if (!to || !/^https?:$/.test(to.protocol) || to.username !== '' || to.password !== '') return badRedirect
  const remedy = 'Tell the user; the configuration of the tool may be outdated.'
  if (method !== 'GET' && method !== 'HEAD')
    return { class: 'failed', message: `The server redirects ${method} to ${to.host}, which is not followed.`, remedy }
  if (hops >= mostRedirects) return { class: 'failed', message: `The server redirects more than ${mostRedirects} times.`, remedy }
  if (isSameServer(from, to) || redirects.includes(to.host)) return undefined
  return { class: 'blocked', message: `The server redirects to another host: ${to.host}`, remedy }
}

async function readResponse(
  url: URL,
  message: IncomingMessage,
  { maxBytes, timeouts }: Pick<SendOptions, 'maxBytes' | 'timeouts'>,
): Promise<HttpResponse> {
  const { statusCode: status = 0, headers } = message
  const contentType = readContentType(headers['content-type'])
  const isError = status >= 400
  const response = { url, status, headers, contentType }
  if (kindOf(contentType) === 'binary') {
    message.destroy()
    return { ...response, body: undefined }
  }
  const read = readBody(message, isError ? errorBytes : maxBytes, timeouts.renew)
  // The body of an error is optional, so reading it must not fail the call.
  return { ...response, body: isError ? await read.catch(() => undefined) : await read }
}
