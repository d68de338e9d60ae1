import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { request } from '../server/raw-request.ts'
import { servedKernel } from './served-kernel.ts'

// Addresses of extensions on a real server.

const hooks = `export class Main {
  initialize(context) { this.context = context; this.early = context.http === undefined }
  sendToUser() {}
  start() {
    const { http } = this.context
    http.route('/echo', async (request) => {
      const bytes = Buffer.from(await request.arrayBuffer())
      const headers = { 'x-seen': request.method, 'x-type': request.headers.get('content-type') ?? '', 'x-query': new URL(request.url).search }
      return new Response(bytes, { status: 202, headers })
    })
    http.route('/where', () => Response.json({ url: http.url, early: this.early }))
    http.route('/throws', () => { throw new Error('inside of the extension') })
    http.route('/nothing', () => 'a text')
    http.route('/message', async (request) => {
      await this.context.onUserMessage({ userId: 'ann', text: await request.text() })
      return new Response(null, { status: 200 })
    })
    const remove = http.route('/once', () => { remove(); return Response.redirect('https://example.com/') })
    for (const path of ['echo', '/', '/a?b', '/../other/echo', '/echo'])
      try { http.route(path, () => new Response('wrong')) } catch (error) { (this.refused ??= []).push(error.message) }
    http.route('/refused', () => Response.json(this.refused))
    http.route('/slow', (request) => new Promise((resolve) => {
      globalThis.finishSlow = () => resolve(new Response('done'))
      globalThis.slowBegan()
    }))
  }
  stop() { globalThis.stopped = true }
}`

declare global {
  var finishSlow: () => void
  var slowBegan: () => void
  var stopped: boolean | undefined
}

it('gives an extension the requests to its addresses, byte for byte and with any method, without a token', async () => {
  const { fetch, access, server } = await servedKernel({ extensions: { hooks } })
  const body = Buffer.from([0, 255, 123, 10, 13, 128])
  const answer = await fetch('/channels/hooks/echo?a=1&a=2', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const sent = Buffer.from(await answer.arrayBuffer())
  expect([answer.status, answer.headers.get('x-type'), answer.headers.get('x-query')]).toEqual([
    202,
    'application/x-www-form-urlencoded',
    '?a=1&a=2',
  ])
  const signature = (bytes: Buffer): string => createHmac('sha256', 'secret').update(bytes).digest('hex')
  expect(signature(sent)).toBe(signature(body))
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    expect((await fetch('/channels/hooks/echo', { method })).headers.get('x-seen')).toBe(method)
  // What it answers is no page of the web chat.
  expect(answer.headers.get('content-security-policy')).toContain('sandbox')
  expect((await fetch('/channels/hooks/once', { redirect: 'manual' })).headers.get('location')).toBe('https://example.com/')
  expect((await fetch('/channels/hooks/once')).status).toBe(404)
  expect(access[0]).toMatchObject({ route: '/channels/:extension/:path', headend: 'channels', status: 202, path: '/channels/hooks/echo' })
  const metrics = await (await fetch('/metrics', { headers: { authorization: `Bearer ${server.token.token}` } })).text()
  expect(metrics).toContain(
    'troupe_http_requests_total{headend="channels",method="POST",route="/channels/:extension/:path",status="202"} 1',
  )
})

it('answers platforms under every Host, and refuses pages of other sites', async () => {
  const { url, fetch } = await servedKernel({ extensions: { hooks } })
  const sent = async (path: string, headers: { readonly [name: string]: string }) =>
    (await request(`${url}${path}`, { method: 'POST', headers, body: 'x' })).status
  expect(await sent('/channels/hooks/echo', { host: 'my-tunnel.example.com' })).toBe(202)
  expect(await sent('/channels/hooks/echo', { origin: 'https://evil.example' })).toBe(403)
  expect(await sent('/v1/channels/x', { host: 'my-tunnel.example.com' })).toBe(403)
  expect(await sent('/channels/', { host: 'my-tunnel.example.com' })).toBe(403)
  expect((await fetch('/channels/hooks/echo', { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } })).status).toBe(
    202,
  )
})

it('refuses wrong paths, large bodies, unknown addresses and handlers that fail, and tells clients nothing of them', async () => {
  const { fetch, url, log, access } = await servedKernel({ extensions: { hooks } })
  const refused = (await (await fetch('/channels/hooks/refused')).json()) as string[]
  expect(refused).toHaveLength(5)
  expect(refused[4]).toContain('already')
  expect((await fetch('/channels/hooks/echo', { method: 'POST', body: 'x'.repeat(1024 ** 2) })).status).toBe(202)
  expect((await fetch('/channels/hooks/echo', { method: 'POST', body: 'x'.repeat(1024 ** 2 + 1) })).status).toBe(413)
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
  })
  const chunked = fetch('/channels/hooks/echo', { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
  expect(
    await chunked.then(
      ({ status }) => status,
      () => 413,
    ),
  ).toBe(413)
  for (const path of ['/channels/hooks/unknown', '/channels/nobody/echo', '/channels/hooks/echo/', '/channels/hooks'])
    expect([path, (await fetch(path)).status]).toEqual([path, 404])
  for (const path of ['throws', 'nothing']) {
    const answer = await fetch(`/channels/hooks/${path}`, { method: 'POST' })
    expect([answer.status, (await answer.text()).includes('inside')]).toEqual([500, false])
  }
  expect(log.filter((text) => /inside of the extension|returned no `Response`/.test(text))).toHaveLength(2)
  expect(access.at(-1)).toMatchObject({ status: 500, error: 'internal' })
  expect((await request(`${url}/channels/hooks/echo`, { method: 'TRACE' })).status).toBe(405)
})

it('is reached while others send their bodies slowly', async () => {
  const { url, fetch } = await servedKernel({ extensions: { hooks } })
  const { port } = new URL(url)
  const refused = Promise.withResolvers<void>()
  const slow = Array.from({ length: 300 }, () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.once('data', () => refused.resolve())
    socket.write('POST /channels/hooks/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{')
    return socket
  })
  await refused.promise
  expect((await fetch('/channels/hooks/echo', { method: 'POST', body: 'x' })).status).toBe(202)
  for (const socket of slow) socket.destroy()
})

it('says where it is reached, also below a path and behind a proxy', async () => {
  const plain = await servedKernel({ extensions: { hooks } })
  expect(await (await plain.fetch('/channels/hooks/where')).json()).toEqual({ url: `${plain.url}/channels/hooks`, early: true })
  const settings = { publicUrl: 'https://agents.example.com/troupe/' }
  const proxied = await servedKernel({ extensions: { hooks }, server: { settings, basePath: '/agents' } })
  expect(await (await proxied.fetch('/channels/hooks/where')).json()).toMatchObject({
    url: 'https://agents.example.com/troupe/channels/hooks',
  })
  const status = await request(`${proxied.url}/health`, { headers: { host: 'agents.example.com' } })
  expect(status.status).toBe(200)
})

it('finishes what it has begun to answer before the extension stops, and then asks to try again', async () => {
  const { fetch, server } = await servedKernel({ extensions: { hooks } })
  globalThis.stopped = undefined
  const began = new Promise<void>((resolve) => {
    globalThis.slowBegan = resolve
  })
  const slow = fetch('/channels/hooks/slow')
  await began
  const closing = server.close({ drain: 0 })
  await expect
    .poll(async () => (await server.fetch(new Request('http://127.0.0.1/channels/hooks/echo', { headers: { host: '127.0.0.1' } }))).status)
    .toBe(503)
  expect(globalThis.stopped).toBe(undefined)
  globalThis.finishSlow()
  expect(await (await slow).text()).toBe('done')
  await closing
  expect(globalThis.stopped).toBe(true)
})

it('has no addresses that no extension has asked for', async () => {
  const { fetch } = await servedKernel({ extensions: {} })
  expect((await fetch('/channels/hooks/echo')).status).toBe(404)
})
