import type { Clock, JsonObject, Tool, ToolContext, ToolFailure, ToolOutput } from '../../../contracts/index.ts'
import { kindOf, readContentType } from './content.ts'
import { type Fetched, fetchFailure, fetchPage } from './fetch-page.ts'
import { hostWish } from './host-keys.ts'
import { Patience, systemTimer } from './patience.ts'
import { Reach, type ResolveName, systemLookup } from './reach.ts'
import { type Body, readBody } from './read-body.ts'
import { binaryNote, type PageFormat, showErrorPage, showPage } from './show-page.ts'
import { longestUrl, readTarget } from './target.ts'

const webFetchName = 'web_fetch'

export interface WebFetchOptions {
  /** Hosts that need not be on the public network, each with its port: `127.0.0.1:8080`. */
  readonly allowPrivate?: readonly string[]
  /** How names become addresses. Default: as the system does it. */
  readonly lookup?: ResolveName
  readonly clock?: Pick<Clock, 'after'>
  /** Default 30,000. */
  readonly totalMs?: number
  /** Default 10,000. */
  readonly idleMs?: number
}

const defaultBytes = 1_000_000
const mostBytes = 5_000_000
/** Of what a server says along with an error. */
const errorBytes = 65_536
const errorCharacters = 1_000
/** Beyond its own patience, so that it can say itself what happened. */
const spareMs = 5_000

/**
 * Fetches pages of the public network. There is no `fetch` to hand in: the address that was found to be public has to be
 * the one that is connected to, and a `fetch` looks names up by itself.
 */
export function webFetchTool(options: WebFetchOptions = {}): Tool {
  const { allowPrivate = [], lookup = systemLookup, clock = systemTimer, totalMs = 30_000, idleMs = 10_000 } = options
  const reach = new Reach(allowPrivate, lookup)
  return {
    name: webFetchName,
    description:
      'Fetches a page from the web by its address and gives its text: HTML as markdown with links, other text as it is. A redirect to another host is told, not followed.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    timeoutMs: totalMs + spareMs,
    approval: ({ url }) => {
      const target = readTarget(String(url))
      // What is wrong is said when it runs, and nobody is asked about it.
      return target.ok ? hostWish(target.url) : undefined
    },
    execute: async (input, context) => {
      const patience = new Patience(context.signal, { clock, totalMs, idleMs })
      try {
        return await webFetch(input, { reach, patience, context })
      } finally {
        patience.end()
      }
    },
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    url: { type: 'string', minLength: 1, maxLength: longestUrl, description: 'The address, with https:// or http://.' },
    maxBytes: {
      type: 'integer',
      minimum: 1,
      maximum: mostBytes,
      description: `How much of it to read at most. Default ${defaultBytes}.`,
    },
    format: {
      type: 'string',
      enum: ['markdown', 'text', 'raw'],
      description: 'How HTML is shown: as markdown (the default), as plain text without links, or as it is.',
    },
  },
  required: ['url'],
  additionalProperties: false,
}

interface Surroundings {
  readonly reach: Reach
  readonly patience: Patience
  readonly context: ToolContext
}

async function webFetch({ url, maxBytes, format }: JsonObject, { reach, patience, context }: Surroundings): Promise<ToolOutput> {
  const target = readTarget(String(url))
  if (!target.ok) return { ok: false, error: target.failure }
  try {
    const fetched = await fetchPage(target.url, { reach, patience })
    if (!fetched.ok) return { ok: false, error: fetched.failure }
    const limit = typeof maxBytes === 'number' ? Math.min(mostBytes, maxBytes) : defaultBytes
    return await readPage(fetched, { format: formatOf(format), limit, patience })
  } catch (error) {
    if (context.signal.aborted) return { ok: false, error: cancelled }
    return { ok: false, error: patience.failure ?? fetchFailure(error, target.url) }
  }
}

interface Reading {
  readonly format: PageFormat
  readonly limit: number
  readonly patience: Patience
}

async function readPage(
  { url, status, message }: Extract<Fetched, { ok: true }>,
  { format, limit, patience }: Reading,
): Promise<ToolOutput> {
  const contentType = readContentType(message.headers['content-type'])
  const isError = status >= 400
  if (kindOf(contentType) === 'binary' && !isError) {
    message.destroy()
    return { ok: true, content: binaryNote(url, contentType, message.headers['content-length']) }
  }
  const read = (most: number): Promise<Body> => readBody(message, { mostBytes: most, onProgress: patience.renew })
  if (!isError) return { ok: true, content: await showPage({ url, status, contentType, body: await read(limit) }, format) }
  // What goes with an error is worth little: it is not worth another error.
  const body = kindOf(contentType) === 'binary' ? undefined : await read(errorBytes).catch(() => undefined)
  message.destroy()
  const said = body && (await showErrorPage({ url, status, contentType, body }, errorCharacters))
  return { ok: false, error: statusFailure(status, url), ...(said !== undefined && { partial: said }) }
}

const formatOf = (format: unknown): PageFormat => (format === 'text' || format === 'raw' ? format : 'markdown')

function statusFailure(status: number, { host }: URL): ToolFailure {
  const message = `${host} answered with status ${status}.`
  if (status === 429 || status >= 500) return { class: 'failed', message, remedy: 'Try again later, or look for the same elsewhere.' }
  if (status === 401 || status === 403 || status === 407)
    return { class: 'failed', message, remedy: 'The page is not for everybody: look for the same elsewhere.' }
  return { class: 'failed', message, remedy: 'Check the address, or look for the same elsewhere.' }
}

const cancelled: ToolFailure = { class: 'cancelled', message: 'The call was ended before the page was there.' }
