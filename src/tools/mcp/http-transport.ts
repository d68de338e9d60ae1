// Streamable HTTP and SSE.
// A redirect to another origin fails the request: credentials never leave the origin. The library sees to it.
import type { Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../contracts/index.ts'
import { type ServerAuthorization, serverAuthorization } from './auth/server-authorization.ts'
import { boundedFetch, type StreamEnd } from './bounded-fetch.ts'
import { droppedCode } from './mcp-failure.ts'
import { type McpHost, tokensOf } from './mcp-host.ts'
import { explainRefusals, explainStart } from './refusal.ts'
import type { ResolvedHttp } from './resolve-server.ts'
import type { TransportEvents } from './stdio-transport.ts'

type Library = typeof import('@modelcontextprotocol/client')

export function httpTransport(server: ResolvedHttp, library: Library, { host, events }: HttpPlace): Transport {
  const { url, headers } = server
  const onStreamEnd = ({ id, isResumable }: StreamEnd): void => {
    // All answers come over the one stream of SSE.
    if (server.type === 'sse') transport.close().catch(() => {})
    else if (id !== undefined && !isResumable)
      transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: droppedCode, message: 'the connection was closed without an answer' } })
  }
  const given = host.authProvider?.(server.name, url)
  const own = given ? undefined : serverAuthorization(server, { store: tokensOf(host), clock: host.clock, library })
  const fetch = boundedFetch(host.fetch ?? globalThis.fetch, events, onStreamEnd)
  const authProvider = given ?? own
  let refusal = ''
  const explained = explainRefusals(own?.watch(fetch) ?? fetch, {
    redact: (text) => own?.redact(text) ?? text,
    onRefused: (explanation) => {
      refusal = explanation
    },
  })
  const options = { fetch: explained, requestInit: { headers }, ...(authProvider && { authProvider }) }
  const transport: Transport =
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
  if (server.type === 'sse') explainStart(transport, () => refusal)
  return own ? redactMessages(transport, own) : transport
}

/** The library sets the handlers later. Errors contain the responses of a server. */
function redactMessages(transport: Transport, authorization: ServerAuthorization): Transport {
  let receive: Transport['onmessage']
  let report: Transport['onerror']
  return Object.defineProperties(transport, {
    onmessage: {
      get: () => receive,
      set: (next: typeof receive) => {
        receive = next && ((message, extra) => next(authorization.redact(message), extra))
      },
    },
    onerror: {
      get: () => report,
      set: (next: typeof report) => {
        report = next && ((error) => next(new Error(authorization.redact(error.message), { cause: error })))
      },
    },
  })
}

interface HttpPlace {
  readonly host: McpHost
  readonly events: TransportEvents
}

const reconnectBy =
  (clock: Clock) =>
  (reconnect: () => void, delay: number): (() => void) =>
    clock.after(delay, reconnect)
