import { isInitializeRequest, type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { HttpError, onBodyEnd, type RouteRequest } from '../http/index.ts'
import type { ServedConnection } from './agent-server.ts'
import type { ConnectionPlace, Connections } from './connections.ts'
import type { McpDependencies } from './dependencies.ts'
import { authInfoOf, peerOf } from './request-peer.ts'

// Sessions of the revision 2025-11-25 over Streamable HTTP. A session of the protocol is a connection, not a session of Troupe.
//
// 1. A session belongs to the token that created it. For others it does not exist.
// 2. A session without open responses ends after the idle time, and every session with its token.

interface LegacySessionsOptions {
  readonly dependencies: Pick<McpDependencies, 'ids'>
  readonly connections: Connections
  serve(connection: ServedConnection): Server
}

interface Session {
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly place: ConnectionPlace
}

export class LegacySessions {
  readonly #options: LegacySessionsOptions
  readonly #sessions = new Map<string, Session>()

  constructor(options: LegacySessionsOptions) {
    this.#options = options
  }

  async handle(request: RouteRequest): Promise<Response> {
    const id = request.raw.headers.get('mcp-session-id')
    const session = id === null ? await this.#open(request) : this.#find(id, request)
    session.place.enter()
    try {
      const response = await session.transport.handleRequest(request.raw, {
        authInfo: authInfoOf(request),
        ...(request.body !== undefined && { parsedBody: request.body }),
      })
      return onBodyEnd(response, () => session.place.leave())
    } catch (error) {
      session.place.leave()
      throw error
    }
  }

  toolsChanged(): void {
    for (const { server } of this.#sessions.values()) void server.sendToolListChanged().catch(() => {})
  }

  #find(id: string, { caller }: RouteRequest): Session {
    const session = this.#sessions.get(id)
    if (session?.place.owner === caller.principal.id) return session
    throw new HttpError('not_found', 'Session not found.', { remedy: 'Send initialize to begin another session.' })
  }

  async #open(request: RouteRequest): Promise<Session> {
    if (!isInitializeRequest(request.body))
      throw new HttpError('invalid_request', 'The header Mcp-Session-Id is missing.', {
        parameter: 'Mcp-Session-Id',
        remedy: 'Send initialize first.',
      })
    const { dependencies, connections, serve } = this.#options
    const id = dependencies.ids.next()
    const close = async (): Promise<void> => {
      this.#sessions.delete(id)
      await server.close()
    }
    const place = connections.open(request.caller.principal.id, () => void close().catch(() => {}))
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id })
    const server = serve({
      era: 'legacy',
      caller: request.caller,
      peerOf: ({ http }) => peerOf(http?.authInfo),
      cancelled: ({ mcpReq }) => transport.closeSSEStream(mcpReq.id),
    })
    const end = (): void => void close().catch(() => {})
    const lifetime = request.openStream({ isCounted: false, end, cut: end })
    server.onclose = () => {
      this.#sessions.delete(id)
      place.close()
      lifetime.close()
    }
    const session = { server, transport, place }
    this.#sessions.set(id, session)
    await server.connect(transport)
    return session
  }
}
