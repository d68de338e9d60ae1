import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { afterAll } from 'vitest'
import type { JsonObject, ToolContext, ToolOutput } from '../../../src/contracts/index.ts'
import { type WebFetchOptions, webFetchTool } from '../../../src/tools/builtin/web-fetch/web-fetch.ts'
import { toolContext } from '../small/context.ts'

export interface Site {
  readonly port: number
  readonly origin: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Fetches from it; names of hosts all lead to it. */
  fetch(path: string, more?: Fetching): Promise<ToolOutput>
}

export interface Fetching {
  readonly input?: JsonObject
  readonly options?: WebFetchOptions
  readonly context?: Partial<ToolContext>
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A web server of this machine that is gone after the tests. */
export async function site(pages: { readonly [path: string]: Answer }): Promise<Site> {
  const asked: string[] = []
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = pages[path] ?? pages[path.split('?', 1)[0] ?? '']
    if (answer) answer(request, response)
    else response.writeHead(404).end('no such page')
  }
  const port = await listening(createServer(listener))
  return { ...fetcher(port), asked }
}

/** A server that speaks whatever it likes. */
export async function socketSite(talk: (socket: Socket) => void): Promise<Omit<Site, 'asked'>> {
  return fetcher(
    await listening(
      createSocketServer((socket) => {
        socket.on('error', () => {})
        talk(socket)
      }),
    ),
  )
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function fetcher(port: number): Omit<Site, 'asked'> {
  const origin = `http://127.0.0.1:${port}`
  return {
    port,
    origin,
    async fetch(path, { input, options, context } = {}) {
      const tool = webFetchTool({ allowPrivate: [`127.0.0.1:${port}`], ...options })
      const url = path.startsWith('/') ? `${origin}${path}` : path
      return (await tool.execute({ url, ...input }, toolContext(context))) as ToolOutput
    },
  }
}

export const page =
  (body: string | Uint8Array, headers: { readonly [name: string]: string } = { 'content-type': 'text/html' }): Answer =>
  (_request, response) => {
    response.writeHead(200, headers).end(body)
  }

export const redirect =
  (location: string, status = 302): Answer =>
  (_request, response) => {
    response.writeHead(status, { location }).end('moved')
  }

/** What an output says between its marks. */
export function quoted(output: ToolOutput): string {
  const text = output.ok ? output.content : (output.partial ?? '')
  const [, mark, said] = /<<< ([0-9a-f]{12})\n(.*)\n>>> \1$/s.exec(text) ?? []
  if (mark === undefined || said === undefined) throw new Error(`no marks: ${JSON.stringify(output)}`)
  return said
}

export const failureOf = (output: ToolOutput): string =>
  output.ok ? `no failure: ${output.content}` : `${output.error.class}: ${output.error.message}`
