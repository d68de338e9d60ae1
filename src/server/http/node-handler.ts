import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Connection, connectionOf } from './connection.ts'
import { bodyRead } from './server.ts'

type Fetch = (request: Request, connection: Connection) => Promise<Response>

/** Frameworks such as Express change `url` below a path, and keep the whole one in `originalUrl`. */
interface FrameworkRequest extends IncomingMessage {
  originalUrl?: string
}

/** Answers requests of Node's HTTP server, also behind a framework. */
export function nodeHandler(fetch: Fetch): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const listener = getRequestListener((request, bindings) => fetch(request, connectionOf(bindings)), {
    overrideGlobalObjects: false,
  })
  return async (request: FrameworkRequest, response) => {
    if (request.readableDidRead) return refuseReadBody(response)
    if (request.originalUrl !== undefined) request.url = request.originalUrl
    await listener(request, response)
  }
}

/** The handler of the program is in the wrong place: without an answer, its requests would wait for ever. */
function refuseReadBody(response: ServerResponse): void {
  response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { code: 'internal', message: bodyRead } }))
}
