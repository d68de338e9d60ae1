// Streamable HTTP and SSE.
//
// 1. A redirect to another origin fails the request: credentials never leave the origin. The library sees to it.
// 2. A response is cut at `maxMessageBytes`, a stream of events at events of that size.
import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../contracts/index.ts'
import { type ServerAuthorization, serverAuthorization } from './auth/server-authorization.ts'
import { type McpHost, tokensOf } from './mcp-host.ts'
import { maxMessageBytes } from './mcp-limits.ts'
import type { ResolvedHttp } from './resolve-server.ts'
import type { TransportEvents } from './stdio-transport.ts'

type Library = typeof import('@modelcontextprotocol/client')

export function httpTransport(server: ResolvedHttp, library: Library, { host, events }: HttpPlace): Transport {
  const { url, headers } = server
  const given = host.authProvider?.(server.name, url)
  const own = given ? undefined : serverAuthorization(server, { store: tokensOf(host), clock: host.clock, library })
  const fetch = boundedFetch(host.fetch ?? globalThis.fetch, events)
  const authProvider = given ?? own
  const options = { fetch: own?.watch(fetch) ?? fetch, requestInit: { headers }, ...(authProvider && { authProvider }) }
  const transport =
    server.type === 'sse'
      ? new library.SSEClientTransport(url, options)
      : new library.StreamableHTTPClientTransport(url, {
          ...options,
          reconnectionOptions: {
            initialReconnectionDelay: 250,
            maxReconnectionDelay: 5_000,
            reconnectionDelayGrowFactor: 2,
            maxRetries: 5,
          },
          reconnectionScheduler: reconnectBy(host.clock),
        })
  return own ? redactMessages(transport, own) : transport
}

/** The library sets `onmessage` later. */
function redactMessages(transport: Transport, authorization: ServerAuthorization): Transport {
  let receive: Transport['onmessage']
  return Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set: (next: typeof receive) => {
      receive = next && ((message, extra) => next(authorization.redact(message), extra))
    },
  })
}

export interface HttpPlace {
  readonly host: McpHost
  readonly events: TransportEvents
}

const reconnectBy =
  (clock: Clock) =>
  (reconnect: () => void, delay: number): (() => void) =>
    clock.after(delay, reconnect)

function boundedFetch(fetch: typeof globalThis.fetch, events: TransportEvents): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (!response.body) return response
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const body = response.body.pipeThrough(limitBytes(isStream, events))
    const bounded = new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
    Object.defineProperty(bounded, 'url', { value: response.url })
    return bounded
  }
}

/** An event of a stream ends at an empty line. */
function limitBytes(isStream: boolean, events: TransportEvents): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let endsLine = false
  return new TransformStream({
    transform(chunk, controller) {
      events.onBytes(chunk.length)
      bytes += chunk.length
      const end = isStream ? lastEmptyLine(chunk, endsLine) : -1
      if (end !== -1) bytes = chunk.length - end
      endsLine = isNewline(chunk.at(-1))
      if (bytes > maxMessageBytes) {
        events.onOversized()
        controller.error(new Error(`a message is larger than ${maxMessageBytes} bytes`))
        return
      }
      controller.enqueue(chunk)
    },
  })
}

const isNewline = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d

/** Also one that began in the chunk before. */
function lastEmptyLine(chunk: Uint8Array, isAfterLine: boolean): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const found = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'))
  return found === -1 && isAfterLine && isNewline(chunk[0]) ? 0 : found
}
