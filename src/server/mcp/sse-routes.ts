import { type JSONRPCMessage, parseJSONRPCMessage, type Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { eventStream, HttpError, type OpenStream, type Route, type RouteRequest, route, type SseMessage, sseBytes } from '../http/index.ts'
import type { ServedConnection } from './agent-server.ts'
import { answers } from './answer-schemas.ts'
import { Connections } from './connections.ts'
import { type McpDependencies, maxUnsentBytes } from './dependencies.ts'
import { jsonRpcErrors } from './json-rpc-errors.ts'
import { MessageTransport, serveConnection } from './serve-connection.ts'

// HTTP with SSE, the transport of 2024-11-05: one stream for the messages of the server, and an address for those of the client.

class SseTransport extends MessageTransport {
  readonly #stream: OpenStream
  #waiting: Uint8Array[] = []
  #unsent = 0
  #wake: () => void = () => {}
  #isOver = false

  constructor({ openStream }: Pick<RouteRequest, 'openStream'>) {
    super()
    const close = (): void => void this.close()
    this.#stream = openStream({ isCounted: false, end: close, cut: close })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.push({ event: 'message', data: JSON.stringify(message) })
  }

  /** A client that does not read its answers is disconnected. */
  push(message: SseMessage): void {
    const bytes = sseBytes(message)
    if (this.#isOver) return
    if (this.#unsent + bytes.byteLength > maxUnsentBytes) return void this.close()
    this.#waiting.push(bytes)
    this.#count(bytes.byteLength)
    this.#wake()
  }

  protected end(): void {
    this.#isOver = true
    this.#waiting = []
    this.#stream.close()
    this.#wake()
  }

  #count(change: number): void {
    this.#unsent += change
    this.#stream.holds({ byteLength: this.#unsent })
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next) {
        this.#count(-next.byteLength)
        yield next
      } else if (this.#isOver) return
      else {
        const more = Promise.withResolvers<void>()
        this.#wake = more.resolve
        await more.promise
      }
    }
  }
}

const messagesPath = '/mcp/sse/messages'

export function sseRoutes(dependencies: McpDependencies, serve: (connection: ServedConnection) => Server): readonly Route[] {
  const { clock, ids, maxBodyBytes, basePath = '' } = dependencies
  const connections = new Connections(clock, dependencies.limits)
  const open = new Map<string, { readonly owner: string; readonly transport: SseTransport }>()

  function connect(request: RouteRequest): Response {
    const id = ids.next()
    const { caller } = request
    const owner = caller.principal.id
    const place = connections.open(owner, () => void transport.close())
    const transport = new SseTransport(request)
    place.enter()
    open.set(id, { owner, transport })
    serveConnection(dependencies, serve, {
      transport,
      caller,
      peer: () => request,
      closed() {
        open.delete(id)
        place.close()
      },
    })
    transport.push({ event: 'endpoint', data: `${basePath}${messagesPath}?session=${id}` })
    return eventStream({
      source: transport.messages(),
      encode: (bytes) => bytes,
      clock,
      left: () => void transport.close(),
    })
  }

  function accept({ caller, query, body }: RouteRequest<unknown, { readonly session: string }>): Response {
    const found = open.get(query.session)
    if (found?.owner !== caller.principal.id) throw new HttpError('not_found', 'Session not found.', { remedy: 'Open GET /mcp/sse.' })
    found.transport.onmessage?.(messageOf(body))
    return new Response('Accepted', { status: 202 })
  }

  const base = { headend: 'mcp', access: 'run', errors: jsonRpcErrors } as const
  return [
    route({
      ...base,
      method: 'GET',
      path: '/mcp/sse',
      summary: 'MCP over HTTP with SSE: messages of the server',
      responses: { 200: { description: 'A stream of JSON-RPC messages.', content: answers.addressed } },
      handle: connect,
    }),
    route({
      ...base,
      method: 'POST',
      path: messagesPath,
      summary: 'MCP over HTTP with SSE: messages of a client',
      query: z.strictObject({ session: z.string() }),
      body: z.unknown(),
      ...(maxBodyBytes !== undefined && { maxBodyBytes }),
      responses: { 202: { description: 'Accepted. The answer comes on the stream.', content: { 'text/plain': z.string() } } },
      handle: accept,
    }),
  ]
}

/** Throws `HttpError`. */
export function messageOf(value: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(value)
  } catch (cause) {
    throw new HttpError('invalid_request', 'This is not a JSON-RPC message.', { cause })
  }
}
