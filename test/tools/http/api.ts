import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject, Tool, ToolOutput } from '../../../src/contracts/index.ts'
import { toolContext } from '../small/context.ts'
import { type Answer, page, redirect, type Site, site } from '../web-fetch/site.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const json = (value: unknown): Answer =>
  page(typeof value === 'string' ? value : JSON.stringify(value), { 'content-type': 'application/json' })

const noted =
  (requests: Received[], answer: Answer): Answer =>
  (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      answer(request, response)
    })
  }

/** The entries 1 to 5 in pages of two. `more` gives the field or header for the next page. */
const paged =
  (read: (query: URLSearchParams) => number, more: (next: number) => { readonly next?: unknown; readonly link?: string }): Answer =>
  (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const from = read(url.searchParams)
    const items = [1, 2, 3, 4, 5].slice(from, from + 2)
    const { next, link } = from + 2 < 5 ? more(from + 2) : {}
    response.writeHead(200, { 'content-type': 'application/json', ...(link !== undefined && { link }) })
    response.end(JSON.stringify({ items, next: next ?? null }))
  }

const megabyte = 'x'.repeat(1_000_000)

const echo: Answer = (request, response) => json({ url: request.url, headers: request.headers })(request, response)

const answers: { readonly [path: string]: Answer } = {
  '/users/7': json('{}'),
  '/users/a%2Fb%20%3F': json('{"id": 12345678901234567890}'),
  '/users': json({ ok: true }),
  '/echo': echo,
  '/echo/pets': echo,
  '/echo/pets/7': echo,
  '/echo/search': echo,
  '/large': json('{"ids": [12345678901234567890, -9007199254740993, 9007199254740992, 7, 0.1], "next": null}'),
  '/list': json({ data: { items: [{ id: 1 }, { id: 2 }], total: 2 } }),
  '/html': page('<h1>Hello</h1>'),
  '/none': (_request, response) => void response.writeHead(204).end(),
  '/busy': (_request, response) =>
    void response.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '7' }).end(`try later ${megabyte}`),
  '/denied': (_request, response) => void response.writeHead(401).end(),
  // 100 MB, unless the reader stops.
  '/big': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    let left = 100
    const push = (): void => {
      while (left-- > 0) if (!response.write(megabyte)) return void response.once('drain', push)
      response.end()
    }
    push()
  },
  '/drop': (request) => void request.socket.destroy(),
  '/cut': (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{"a":', () => request.socket.destroy())
  },
  '/loop': redirect('/loop'),
  '/moved': redirect('/echo'),
  '/paged/cursor': paged(
    (query) => Number(query.get('cursor') ?? 0),
    (next) => ({ next: String(next) }),
  ),
  '/paged/page': paged(
    (query) => (Number(query.get('page')) - 1) * 2,
    () => ({}),
  ),
  '/paged/offset': paged(
    (query) => Number(query.get('offset')),
    () => ({}),
  ),
  '/paged/link': paged(
    (query) => Number(query.get('at') ?? 0),
    (next) => ({ link: `</first>; rel="first", </paged/link?at=${next}>; rel="next"` }),
  ),
  '/paged/link-body': paged(
    (query) => Number(query.get('at') ?? 0),
    (next) => ({ next: `/paged/link-body?at=${next}` }),
  ),
  '/endless': json({ items: [0, 0], same: 'c' }),
  '/fails': (request, response) =>
    request.url?.endsWith('=1') ? json({ items: [1, 2] })(request, response) : void response.writeHead(503).end(),
  '/elsewhere': json({ items: [1], next: 'https://example.com/2' }),
}

/** An API of this machine that is gone after the tests, and what it was asked. */
export async function startApi(): Promise<{ readonly api: Site; readonly requests: readonly Received[] }> {
  const requests: Received[] = []
  const api = await site(Object.fromEntries(Object.entries(answers).map(([path, answer]) => [path, noted(requests, answer)])))
  return { api, requests }
}

export const call = async (tool: Tool, input: JsonObject, overlay: { readonly [name: string]: string } = {}): Promise<ToolOutput> =>
  (await tool.execute(input, toolContext({ overlay }))) as ToolOutput
