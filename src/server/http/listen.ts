import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { type Clock, TroupeError } from '../../contracts/index.ts'
import { connectionOf } from './connection.ts'
import type { HeadendServer } from './server.ts'

/**
 * Limits of connections. A client that sends its request slowly is disconnected, so that many such clients cannot take all
 * connections.
 *
 * A connection that is idle stays open longer than proxies and clients keep theirs (60 s is common), and longer than its header
 * `Keep-Alive` says: a request that is on its way when the server closes would be lost.
 */
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  keepAliveTimeoutBuffer: 10_000,
  maxHeaderSize: 16 * 1024,
}
const maxHeaders = 100
const defaultMaxConnections = 10_000
/** Shares of the connection limit. Beyond the first, responses ask clients to close theirs; beyond the second, idle ones are closed. */
const [crowded, full] = [0.8, 0.95]
const closingMs = 1_000

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Milliseconds for the head of a request. Default 10,000. */
  readonly headersTimeout?: number
  /** Default 10,000. */
  readonly maxConnections?: number
  readonly clock: Clock
}

interface Listening {
  readonly port: number
  /** Behind it: for WebSocket connections. */
  readonly server: Server
  /** Accepts no further connections. Resolves when all responses have been sent, or after `ms`; then the rest is cut. */
  close(ms: number): Promise<void>
}

export async function listen(server: Pick<HeadendServer, 'fetch'>, options: ListenOptions): Promise<Listening> {
  const { host, port, clock } = options
  const http = createAdaptorServer({
    fetch: (request, bindings) => server.fetch(request, connectionOf(bindings)),
    serverOptions: { ...timeouts, ...(options.headersTimeout !== undefined && { headersTimeout: options.headersTimeout }) },
  }) as Server
  limitConnections(http, { max: options.maxConnections ?? defaultMaxConnections, clock })
  http.maxHeadersCount = maxHeaders
  const opened = Promise.withResolvers<void>()
  http.once('error', (cause: NodeJS.ErrnoException) => opened.reject(cannotListen(cause, { host, port })))
  http.listen(port, host, () => opened.resolve())
  await opened.promise
  return {
    port: (http.address() as AddressInfo).port,
    server: http,
    close: (ms) => close(http, { ms, clock }),
  }
}

/** Idle connections are closed when there are too many, so that new ones are accepted. */
function limitConnections(http: Server, { max, clock }: { readonly max: number; readonly clock: Pick<Clock, 'monotonic'> }): void {
  http.maxConnections = max
  let [open, closedAt] = [0, Number.NEGATIVE_INFINITY]
  /** Connections without a request so far, oldest first. They are not idle for Node. */
  const silent = new Set<Socket>()
  http.on('connection', (socket) => {
    open++
    silent.add(socket)
    socket.once('close', () => {
      open--
      silent.delete(socket)
    })
    if (open < max * full) return
    const [oldest] = silent
    if (oldest !== socket) oldest?.destroy()
    // It looks at all connections: not for each new one.
    if (clock.monotonic() - closedAt < closingMs) return
    closedAt = clock.monotonic()
    http.closeIdleConnections()
  })
  http.prependListener('request', ({ socket }, response) => {
    silent.delete(socket)
    if (open > max * crowded) response.shouldKeepAlive = false
  })
}

function close(http: Server, { ms, clock }: { readonly ms: number; readonly clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => http.closeAllConnections())
    http.close(() => {
      cancel()
      resolve()
    })
    http.closeIdleConnections()
  })
}

function cannotListen(cause: NodeJS.ErrnoException, { host, port }: { readonly host: string; readonly port: number }): TroupeError {
  const place = `${host}:${port}`
  if (cause.code === 'EADDRINUSE')
    return new TroupeError('usage', `The address ${place} is in use.`, {
      remedy: 'Choose another one with --port, or --port 0 for any free port.',
      cause,
    })
  return new TroupeError('usage', `The server cannot listen at ${place}: ${cause.message}`, {
    remedy: 'Choose another --host or --port.',
    cause,
  })
}
