import type { Clock, JsonObject, Tool, ToolContext, ToolFailure, ToolOutput } from '../../../contracts/index.ts'
import { type AddressFilter, addressFilter, type ResolveName, resolveWithSystem } from './address-filter.ts'
import { type Fetched, FetchTimeouts, fetchFailure, fetchPage, systemClock } from './fetch-page.ts'
import { fetchApproval } from './host-keys.ts'
import { longestUrl, parseUrl } from './parse-url.ts'
import { type Body, kindOf, readBody, readContentType } from './read-body.ts'
import { binaryNote, type PageFormat, showErrorPage, showPage } from './show-page.ts'

export interface WebFetchOptions {
  /** Private hosts that may be fetched, each with its port: `127.0.0.1:8080`. */
  readonly allowPrivate?: readonly string[]
  readonly lookup?: ResolveName
  readonly clock?: Pick<Clock, 'after'>
  /** Default 30,000. */
  readonly totalMs?: number
  /** Default 10,000. */
  readonly idleMs?: number
}

const defaultBytes = 1_000_000
const mostBytes = 5_000_000
/** Read from the page of an error status. */
const errorBytes = 65_536
const errorCharacters = 1_000
/** So that the tool reports its own timeout first. */
const spareMs = 5_000

/**
 * Fetches public pages. There is no `fetch` option: the address that was checked must be the one that is connected to,
 * and `fetch` resolves names itself.
 */
export function webFetchTool(options: WebFetchOptions = {}): Tool {
  const { allowPrivate = [], lookup = resolveWithSystem, clock = systemClock, totalMs = 30_000, idleMs = 10_000 } = options
  const addresses = addressFilter(allowPrivate, lookup)
  return {
    name: 'web_fetch',
    description:
      'Fetch a web page and return its text: HTML as Markdown with links, other text unchanged. Reports redirects to another host instead of following them.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    timeoutMs: totalMs + spareMs,
    approval: ({ url }) => {
      const target = parseUrl(String(url))
      // An invalid URL needs no approval: execution reports it.
      return target.ok ? fetchApproval(target.url) : undefined
    },
    execute: async (input, context) => {
      const timeouts = new FetchTimeouts(context.signal, { clock, totalMs, idleMs })
      try {
        return await webFetch(input, context, { addresses, timeouts })
      } finally {
        timeouts.end()
      }
    },
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    url: { type: 'string', minLength: 1, maxLength: longestUrl, description: 'URL, with https:// or http://.' },
    maxBytes: {
      type: 'integer',
      minimum: 1,
      maximum: mostBytes,
      description: `Maximum number of bytes to read. Default ${defaultBytes}.`,
    },
    format: {
      type: 'string',
      enum: ['markdown', 'text', 'raw'],
      description: 'Format of HTML: markdown (default), text (without links), or raw.',
    },
  },
  required: ['url'],
  additionalProperties: false,
}

async function webFetch(
  input: JsonObject,
  { signal }: ToolContext,
  { addresses, timeouts }: { readonly addresses: AddressFilter; readonly timeouts: FetchTimeouts },
): Promise<ToolOutput> {
  const { url, maxBytes = defaultBytes, format = 'markdown' } = input as { url: string; maxBytes?: number; format?: PageFormat }
  const target = parseUrl(url)
  if (!target.ok) return { ok: false, error: target.failure }
  try {
    const fetched = await fetchPage(target.url, addresses, timeouts)
    if (!fetched.ok) return { ok: false, error: fetched.failure }
    const mostBytes = fetched.status >= 400 ? errorBytes : maxBytes
    return await readPage(fetched, format, () => readBody(fetched.message, mostBytes, timeouts.renew))
  } catch (error) {
    if (signal.aborted) return { ok: false, error: cancelled }
    return { ok: false, error: timeouts.failure ?? fetchFailure(error, target.url) }
  }
}

async function readPage(
  { url, status, message }: Extract<Fetched, { ok: true }>,
  format: PageFormat,
  read: () => Promise<Body>,
): Promise<ToolOutput> {
  const contentType = readContentType(message.headers['content-type'])
  const isError = status >= 400
  if (kindOf(contentType) === 'binary' && !isError) {
    message.destroy()
    return { ok: true, content: binaryNote(url, contentType, message.headers['content-length']) }
  }
  if (!isError) return { ok: true, content: await showPage({ url, status, contentType, body: await read() }, format) }
  // The page of an error is optional, so reading it must not fail the call.
  const body = kindOf(contentType) === 'binary' ? undefined : await read().catch(() => undefined)
  message.destroy()
  const said = body && (await showErrorPage({ url, status, contentType, body }, errorCharacters))
  return { ok: false, error: statusFailure(status, url), ...(said !== undefined && { partial: said }) }
}

function statusFailure(status: number, { host }: URL): ToolFailure {
  const message = `${host} answered with status ${status}.`
  if (status === 429 || status >= 500) return { class: 'failed', message, remedy: 'Try again later, or use another source.' }
  if (status === 401 || status === 403 || status === 407)
    return { class: 'failed', message, remedy: 'The page requires authorisation. Use another source.' }
  return { class: 'failed', message, remedy: 'Check the URL, or use another source.' }
}

const cancelled: ToolFailure = { class: 'cancelled', message: 'The call was cancelled before the page arrived.' }
