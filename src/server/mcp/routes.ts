import { createMcpHandler, isJSONRPCRequest, isLegacyRequest, type Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { HttpError, type Route, type RouteRequest, route } from '../http/index.ts'
import { agentServer, type ServedConnection } from './agent-server.ts'
import { answers } from './answer-schemas.ts'
import { Connections } from './connections.ts'
import type { McpDependencies } from './dependencies.ts'
import { jsonRpcErrors } from './json-rpc-errors.ts'
import { LegacySessions } from './legacy-sessions.ts'
import { authInfoOf, peerOf } from './request-peer.ts'
import { sseRoutes } from './sse-routes.ts'

// Streamable HTTP at /mcp: the revision 2026-07-28 has no sessions, earlier ones have.

/** Each agent is a tool. */
export const mcpRoutes = (dependencies: McpDependencies): readonly Route[] =>
  protocolRoutes(dependencies, (connection) => agentServer(dependencies, connection))

/** Batches of 2025-03-26: each request of a client is counted, for the rate of its token. */
function refuseManyRequests(body: unknown): void {
  if (!Array.isArray(body) || body.filter((message) => isJSONRPCRequest(message)).length <= 1) return
  throw new HttpError('invalid_request', 'A batch can contain one request.', { remedy: 'Send each request on its own.' })
}

/** The transport, without what it serves. */
export function protocolRoutes(dependencies: McpDependencies, serve: (connection: ServedConnection) => Server): readonly Route[] {
  const { clock, maxBodyBytes } = dependencies
  const modern = createMcpHandler(
    ({ era, authInfo }) => serve({ era, caller: peerOf(authInfo).caller, peerOf: ({ http }) => peerOf(http?.authInfo) }),
    // The server has read the body.
    { legacy: 'reject' },
  )
  const legacy = new LegacySessions({ dependencies, connections: new Connections(clock, dependencies.limits), serve })
  dependencies.onAgentsChange?.(() => {
    modern.notify.toolsChanged()
    legacy.toolsChanged()
  })

  async function handle(request: RouteRequest): Promise<Response> {
    const { raw, body } = request
    refuseManyRequests(body)
    if (isJSONRPCRequest(body) && body.method === 'subscriptions/listen') request.opensStream()
    if (await isLegacyRequest(raw, body)) return legacy.handle(request)
    return modern.fetch(raw, {
      authInfo: authInfoOf(request),
      ...(body !== undefined && { parsedBody: body }),
    })
  }

  const base = { path: '/mcp', headend: 'mcp', access: 'run', errors: jsonRpcErrors, handle } as const
  return [
    route({
      ...base,
      method: 'POST',
      summary: 'MCP: messages of a client',
      description: 'Streamable HTTP of the Model Context Protocol, revisions 2026-07-28 and 2025-11-25. Each agent is a tool.',
      body: z.unknown(),
      ...(maxBodyBytes !== undefined && { maxBodyBytes }),
      responses: {
        200: { description: 'A JSON-RPC response, or a stream that ends with it.', content: answers.response },
        202: { description: 'Accepted.' },
      },
    }),
    route({
      ...base,
      method: 'GET',
      summary: 'MCP: messages of the server',
      responses: { 200: { description: 'A stream of JSON-RPC messages.', content: answers.messages } },
    }),
    route({ ...base, method: 'DELETE', summary: 'MCP: end a session', responses: { 200: { description: 'The session has ended.' } } }),
    ...(dependencies.legacyTransports ? sseRoutes(dependencies, serve) : []),
  ]
}
