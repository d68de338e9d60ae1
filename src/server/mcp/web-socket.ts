import { type Server as HttpServer, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { isJSONRPCNotification, isJSONRPCRequest, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/server'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type HeadendServer, HttpError, type OpenStream, type Peer, parseJson, toHttpError } from '../http/index.ts'
import { agentServer } from './agent-server.ts'
import { Connections } from './connections.ts'
import { defaultMaxBodyBytes, type McpDependencies, maxUnsentBytes } from './dependencies.ts'
import { jsonRpcErrors } from './json-rpc-errors.ts'
import { MessageTransport, serveConnection } from './serve-connection.ts'
import { messageOf } from './sse-routes.ts'

// MCP over WebSockets at /mcp/ws, with the subprotocol `mcp`.
//
// 1. The upgrade, and every message, passes the checks of a request: Host, Origin, token, scope, rate.
// 2. Messages are handled in the order of their arrival. A client that sends faster waits: nothing is read from it meanwhile.
// 3. A client that does not read or does not answer pings is disconnected.
// 4. It needs a place, as other streams do, and ends with its token.

const path = '/mcp/ws'
const route = { headend: 'mcp', access: 'run' } as const
const pingMs = 30_000
const highWaterBytes = 64 * 1024
/** Requests of one connection that are not answered yet. */
const maxRequests = 100

interface UpgradeDependencies extends McpDependencies {
  readonly headends: Pick<HeadendServer, 'accept' | 'refusal' | 'slices'>
}

/** Accepts no further connections, and ends those that are open: after `ms`, they are cut. */
type UpgradeEnd = (ms: number) => void

/** Accepts WebSockets at `/mcp/ws`. Other requests are not affected. */
export function mcpUpgrade(server: HttpServer, dependencies: UpgradeDependencies): UpgradeEnd {
  const { headends, clock, maxBodyBytes = defaultMaxBodyBytes, basePath = '' } = dependencies
  const isOurs = (request: IncomingMessage): boolean => isWebSocket(request, `${basePath}${path}`)
  const connections = new Connections(clock, dependencies.limits)
  // Compression would let a small message become a large one.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxBodyBytes,
    perMessageDeflate: false,
    // One message in a turn of the event loop: messages of others, and requests, come between.
    allowSynchronousEvents: false,
    handleProtocols: (offered) => (offered.has('mcp') ? 'mcp' : false),
  })
  // Else Node would treat requests as upgrades that only offer another protocol, such as h2c.
  // Where the program listens for upgrades of its own, they reach it.
  Object.assign(server, { shouldUpgradeCallback: (request: IncomingMessage) => isOurs(request) || server.listenerCount('upgrade') > 1 })
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (!isOurs(request)) return
    socket.on('error', () => socket.destroy())
    const headers = headersOf(request)
    upgrade(headers, { request, socket, head }).catch((error: unknown) => refuse(socket, headends.refusal(error, jsonRpcErrors)))
  }
  server.on('upgrade', onUpgrade)

  async function upgrade(headers: Headers, { request, socket, head }: Upgrade): Promise<void> {
    const peer = await headends.accept(headers, route)
    let open: WebSocket | undefined
    const stream = peer.openStream({
      isCounted: true,
      end: ({ message }) => open?.close(1008, message),
      cut: () => socket.destroy(),
    })
    socket.on('close', () => stream.close())
    if (socket.destroyed) stream.close()
    const accept = (): Promise<Peer> => headends.accept(headers, route)
    sockets.handleUpgrade(request, socket, head, (web) => {
      open = web
      connect(web, new SocketTransport(web, { ...dependencies, slices: headends.slices, stream, accept }, peer), peer)
    })
  }

  function connect(web: WebSocket, transport: SocketTransport, { caller }: Peer): void {
    try {
      const place = connections.open(caller.principal.id, () => void transport.close())
      place.enter()
      serveConnection(dependencies, (connection) => agentServer(dependencies, connection), {
        transport,
        caller,
        peer: () => transport.peer,
        closed: () => place.close(),
      })
    } catch {
      web.close(1013, 'too many connections')
    }
  }

  return (ms) => {
    server.off('upgrade', onUpgrade)
    for (const web of sockets.clients) {
      web.close(1001, 'the server is shutting down')
      // The HTTP server does not know them any more, and would wait for them.
      const cancel = clock.after(ms, () => web.terminate())
      web.once('close', cancel)
    }
  }
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

interface SocketOptions extends Pick<McpDependencies, 'clock' | 'onError'> {
  readonly stream: OpenStream
  readonly slices: HeadendServer['slices']
  accept(): Promise<Peer>
}

class SocketTransport extends MessageTransport {
  readonly #web: WebSocket
  readonly #options: SocketOptions
  #peer: Peer
  #handled: Promise<void> = Promise.resolve()
  #waiting = 0
  /** What was sent last has left this process. */
  #sent: Promise<void> = Promise.resolve()
  readonly #requests = new Set<RequestId>()
  #cancelPing: () => void = () => {}
  #isAlive = true

  constructor(web: WebSocket, options: SocketOptions, peer: Peer) {
    super()
    this.#web = web
    this.#options = options
    this.#peer = peer
    web.on('message', (data, isBinary) => {
      if (this.#waiting++ === 0) web.pause()
      this.#handled = this.#handled.then(async () => {
        await options.slices.turn()
        // A client that reads no answers sends no further message.
        if (web.bufferedAmount > highWaterBytes) await this.#sent
        await this.#receive(data, isBinary)
        if (--this.#waiting === 0) web.resume()
      })
    })
    web.on('pong', () => {
      this.#isAlive = true
    })
    web.on('error', (error) => this.onerror?.(error))
    web.on('close', () => void this.close())
    this.#ping()
  }

  /** Who sent the last message. */
  get peer(): Peer {
    return this.#peer
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#requests.delete(message.id)
    if (this.#web.bufferedAmount > maxUnsentBytes) this.#web.terminate()
    if (this.#web.readyState !== this.#web.OPEN) return
    const sent = Promise.withResolvers<void>()
    this.#web.send(JSON.stringify(message), () => {
      sent.resolve()
      this.#hold()
    })
    this.#sent = sent.promise
    this.#hold()
  }

  protected end(): void {
    this.#cancelPing()
    this.#web.close(1000)
  }

  #hold(): void {
    this.#options.stream.holds({ byteLength: this.#web.bufferedAmount })
  }

  #begin(id: RequestId): void {
    if (this.#requests.size >= maxRequests)
      throw new HttpError('rate_limited', `This connection has ${maxRequests} requests without an answer.`, {
        remedy: 'Wait for an answer before the next request.',
      })
    this.#requests.add(id)
  }

  #ping(): void {
    this.#cancelPing = this.#options.clock.after(pingMs, () => {
      if (!this.#isAlive) return this.#web.terminate()
      this.#isAlive = false
      this.#web.ping()
      this.#ping()
    })
  }

  async #receive(data: RawData, isBinary: boolean): Promise<void> {
    let message: JSONRPCMessage | undefined
    try {
      message = messageOf(isBinary ? undefined : parseJson(data.toString()))
      this.#peer = await this.#options.accept()
      if (isJSONRPCRequest(message)) this.#begin(message.id)
      this.onmessage?.(message)
      // It gets no answer.
      if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
        this.#requests.delete(message.params?.requestId as RequestId)
    } catch (thrown) {
      const error = toHttpError(thrown, this.#options.onError)
      const id = message && isJSONRPCRequest(message) ? message.id : null
      await this.send({ ...this.#peer.shown(jsonRpcErrors(error, '')), id } as unknown as JSONRPCMessage)
      if (error.status === 401) this.#web.close(1008, 'the token is not valid')
    }
  }
}

const isWebSocket = ({ url, headers }: IncomingMessage, path: string): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' && url?.split('?')[0] === path

function headersOf({ headers }: IncomingMessage): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : [])),
  )
}

async function refuse(socket: Duplex, response: Response): Promise<void> {
  const body = await response.text()
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
