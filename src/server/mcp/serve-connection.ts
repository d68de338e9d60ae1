import type { JSONRPCMessage, Server, Transport } from '@modelcontextprotocol/server'
import { serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio'
import type { Caller, Peer } from '../http/index.ts'
import type { ServedConnection } from './agent-server.ts'
import type { McpDependencies } from './dependencies.ts'

// One client over one transport: stdio, SSE or a WebSocket. The first message decides the revision.

interface ConnectionOptions {
  readonly transport: Transport
  readonly caller: Caller
  /** The sender of the message that is handled. */
  peer(): Peer
  /** The connection has ended. */
  closed?(): void
}

export function serveConnection(
  dependencies: McpDependencies,
  serve: (connection: ServedConnection) => Server,
  { transport, caller, peer, closed }: ConnectionOptions,
): { close(): Promise<void> } {
  const servers = new Set<Server>()
  const stopWatching = dependencies.onAgentsChange?.(() => {
    for (const server of servers) void server.sendToolListChanged().catch(() => {})
  })
  const served = serveTransport(
    ({ era }) => {
      const server = serve({ era, caller, peerOf: peer })
      servers.add(server)
      server.onclose = () => servers.delete(server)
      return server
    },
    { transport },
  )
  const onclose = transport.onclose
  transport.onclose = () => {
    onclose?.()
    stopWatching?.()
    closed?.()
  }
  return served
}

/** The parts of a transport that all have. `end` is called once. */
export abstract class MessageTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  #isClosed = false

  async start(): Promise<void> {}
  abstract send(message: JSONRPCMessage): Promise<void>
  protected abstract end(): void

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.end()
    this.onclose?.()
  }
}
