// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
// HTTP servers that redirect, drop, demand credentials, forget sessions, or send too much.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { HttpServerDefinition } from '../../src/contracts/index.ts'
import { openServer } from './support.ts'

interface Request {
  readonly method?: string
  readonly id?: number
  readonly headers: IncomingMessage['headers']
}
type Handler = (request: Request, response: ServerResponse) => boolean | undefined

/** Speaks the revision 2025-11-25 without streams. `handle` may answer instead. */
async function httpServer(handle: Handler = () => false) {
  const seen: Request[] = []
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    const { method, id, params } = body === '' ? ({} as never) : JSON.parse(body)
    const request = { method, id, headers: incoming.headers }
    seen.push(request)
    if (handle(request, response)) return
    if (incoming.method !== 'POST') response.writeHead(405).end()
    else if (id === undefined) response.writeHead(202).end()
    else if (method === 'server/discover') reply(response, { id, error: { code: -32601, message: 'unknown' } })
    else reply(response, { id, result: results(method, params) }, method === 'initialize' ? { 'mcp-session-id': `s${seen.length}` } : {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, seen, count: (method: string) => seen.filter((each) => each.method === method).length }
}

const reply = (response: ServerResponse, message: object, headers = {}): unknown =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ jsonrpc: '2.0', ...message }))

function results(method: string, { protocolVersion }: { protocolVersion?: string } = {}): object {
  if (method === 'initialize') return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'http', version: '1' } }
  if (method === 'tools/list') return { tools: [{ name: 'call', inputSchema: { type: 'object' } }] }
  return { content: [{ type: 'text', text: 'done' }] }
}

const at = (url: string, more: Partial<HttpServerDefinition> = {}): HttpServerDefinition => ({ type: 'http', url, timeout: 5_000, ...more })

it('sends the configured headers, with values of the session', async () => {
  const { url, seen } = await httpServer()
  const { call } = openServer(at(url, { headers: { authorization: 'Bearer ${TOKEN}' } }), { overlay: { TOKEN: 'abc' } })
  expect(await call('call', {})).toEqual({ ok: true, content: 'done' })
  expect(seen.every(({ headers }) => headers.authorization === 'Bearer abc')).toBe(true)
})

it('does not follow a redirect to another origin, and sends nothing there', async () => {
  const other = await httpServer()
  const { url } = await httpServer((_, response) => Boolean(response.writeHead(307, { location: other.url }).end()))
  const { source } = openServer(at(url, { headers: { authorization: 'Bearer abc' } }))
  await expect(source.list()).rejects.toMatchObject({ code: 'tools_unavailable', message: expect.stringMatching(/redirect/i) })
  expect(other.seen).toEqual([])
})

describe.each([
  [401, 'requires authorization'],
  [403, 'denied access'],
])('status %i', (status, message) => {
  it('at the start is a failure of authorization with a remedy', async () => {
    const { url } = await httpServer((_, response) => Boolean(response.writeHead(status).end()))
    const failure = { message: `The MCP server "srv" ${message}.`, remedy: 'Run `troupe mcp login srv`, or set its headers.' }
    await expect(openServer(at(url)).source.list()).rejects.toMatchObject(failure)
    await expect(openServer(at(url, { type: 'sse' })).source.list()).rejects.toMatchObject(failure)
  })
  it('in a call, for example because a token has expired, is one, too', async () => {
    const { url } = await httpServer(({ method }, response) => method === 'tools/call' && Boolean(response.writeHead(status).end()))
    expect(await openServer(at(url)).call('call', {})).toMatchObject({ ok: false, error: { class: 'auth' } })
  })
})

describe('a refusal with status 403', () => {
  const refusing = (body: string, headers: Record<string, string> = {}) =>
    httpServer((_, response) => Boolean(response.writeHead(403, headers).end(body)))
  const said = 'Your plan has no access to this server'
  it.each([
    ['a text', `${said}.\n`, 'text/plain'],
    ['an error of OAuth', JSON.stringify({ error: 'forbidden', error_description: said }), 'application/json'],
    ['an error of JSON-RPC', JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: said } }), 'application/json'],
    ['a page', `<html><style>p { color: red }</style><p>${said}</p></html>`, 'text/html'],
    ['a text with control characters', `\u001b]0;x\u0007${said}\u202e`.replace(']0;x', ''), 'text/plain'],
  ])('shows the explanation of the server: %s', async (_, body, type) => {
    const { url } = await refusing(body, { 'content-type': type })
    const failure = { message: `The MCP server "srv" denied access: ${said}.` }
    await expect(openServer(at(url)).source.list()).rejects.toMatchObject(failure)
    await expect(openServer(at(url, { type: 'sse' })).source.list()).rejects.toMatchObject(failure)
  })

  it('shows a challenge, and a scope that is missing', async () => {
    const challenge = `Bearer error="insufficient_scope", scope="write", error_description="${said}"`
    const { url } = await refusing('', { 'www-authenticate': challenge })
    await expect(openServer(at(url)).source.list()).rejects.toThrow(`denied access: ${said}.`)
    const other = await refusing('', { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' })
    await expect(openServer(at(other.url)).source.list()).rejects.toThrow('denied access: the scope "write" is missing.')
  })

  it('is shortened', async () => {
    const { url } = await refusing('word '.repeat(100_000))
    const error = await openServer(at(url))
      .source.list()
      .catch((refused: Error) => refused)
    expect((error as Error).message).toMatch(/denied access: (?:word )+word…$/)
    expect((error as Error).message.length).toBeLessThan(350)
  })
})

it('a session that the server has forgotten is opened again, and the call is repeated', async () => {
  let isForgotten = false
  const { url, count } = await httpServer(({ method }, response) => {
    if (method === 'initialize') isForgotten = false
    return isForgotten && Boolean(response.writeHead(404).end())
  })
  const { call } = openServer(at(url))
  await call('call', {})
  isForgotten = true
  expect(await call('call', {})).toEqual({ ok: true, content: 'done' })
  expect(count('initialize')).toBe(2)
})

it('a dropped list is read again; a dropped call is not repeated', async () => {
  let drops = 2
  const { url, count } = await httpServer(({ method }, response) => {
    if ((method !== 'tools/list' && method !== 'tools/call') || drops-- <= 0) return false
    response.destroy()
    return true
  })
  const { source, call } = openServer(at(url))
  expect(await source.list()).toHaveLength(1)
  expect(count('tools/list')).toBe(3)
  drops = 1
  expect(await call('call', {})).toMatchObject({ ok: false, error: { class: 'network' } })
  expect(count('tools/call')).toBe(1)
  expect(await call('call', {})).toMatchObject({ ok: true })
})

it('the stream of SSE ends: calls that are open fail, and the next one connects again', async () => {
  const streams: ServerResponse[] = []
  const server = createServer(async (incoming, response) => {
    if (incoming.method === 'GET') {
      streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
      response.write('event: endpoint\ndata: /messages\n\n')
      return
    }
    let body = ''
    for await (const chunk of incoming) body += chunk
    response.writeHead(202).end()
    const { id, method, params } = JSON.parse(body)
    if (method === 'tools/call' && streams.length === 1) streams[0]?.destroy()
    else if (id !== undefined)
      streams.at(-1)?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results(method, params) })}\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { call } = openServer(at(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, { type: 'sse' }))
  const message = expect.stringContaining('ended or closed the connection')
  expect(await call('call', {})).toMatchObject({ ok: false, error: { class: 'failed', message } })
  expect(await call('call', {})).toEqual({ ok: true, content: 'done' })
  expect(streams).toHaveLength(2)
})

it('a server that is not there is reported', async () => {
  const { url } = await httpServer()
  const { source } = openServer(at(url.replace(/:\d+/, ':9')))
  await expect(source.list()).rejects.toMatchObject({ code: 'tools_unavailable', message: expect.stringContaining('cannot be reached') })
})

it.each([
  ['JSON', 'application/json', ''],
  ['an event', 'text/event-stream', 'data: '],
])('more than 8 MB of %s fails the call at once', async (_, type, start) => {
  const chunk = 'x'.repeat(1024 * 1024)
  const { url } = await httpServer(({ method }, response) => {
    if (method !== 'tools/call') return false
    response.writeHead(200, { 'content-type': type }).write(start)
    const more = (): void => {
      while (response.write(chunk));
      response.once('drain', more)
    }
    response.on('error', () => {})
    more()
    return true
  })
  const { source, call } = openServer(at(url))
  await source.list()
  const before = process.memoryUsage.rss()
  const error = { class: 'failed', message: expect.stringMatching(/more than 8 MB/) }
  expect(await call('call', {})).toMatchObject({ ok: false, error })
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 ** 2)
})

it('a stream that ends without the answer fails the call before its deadline', async () => {
  const { url } = await httpServer(
    ({ method }, response) =>
      method === 'tools/call' && Boolean(response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': paid: nothing\n\n')),
  )
  const { source, call } = openServer(at(url))
  await source.list()
  const late = AbortSignal.timeout(4_000)
  expect(await call('call', {}, { signal: late })).toMatchObject({ ok: false, error: { class: 'network' } })
  expect(late.aborted).toBe(false)
})

it.each([
  ['a password in the URL', { url: 'http://me:${TOKEN}@127.0.0.1:9/mcp' }, 'contains a user name or a password'],
  ['a header that HTTP does not allow', { url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': '${TOKEN}\nmore' } }, 'The header "X-Key"'],
])('%s is reported without its value', async (_, settings, message) => {
  const { source } = openServer({ type: 'http', ...settings } as HttpServerDefinition, { overlay: { TOKEN: 'the-secret' } })
  const error = await source.list().catch((each: Error) => each)
  expect(String(error)).toContain(message)
  expect(String(error)).not.toContain('the-secret')
})
