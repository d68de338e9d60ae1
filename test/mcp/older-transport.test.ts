// Servers of the older HTTP with Server-Sent Events, configured with nothing but a URL.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { McpServerSettings } from '../../src/contracts/index.ts'
import { serverDefinition } from '../../src/policy/mcp-servers.ts'
import { openServer } from './support.ts'

interface Options {
  /** The status of a POST to the address of the stream. */
  readonly status?: number
  readonly token?: string
}

async function sseServer({ status = 404, token }: Options = {}) {
  const open = new Map<string, SSEServerTransport>()
  const requests: string[] = []
  const connect = async (response: ServerResponse): Promise<void> => {
    const server = new McpServer({ name: 'older', version: '1' })
    server.registerTool('call', {}, () => ({ content: [{ type: 'text', text: 'done' }] }))
    const transport = new SSEServerTransport('/messages', response)
    open.set(transport.sessionId, transport)
    await server.connect(transport)
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const route = `${request.method} ${pathname}`
    requests.push(route)
    if (route === 'POST /sse') response.writeHead(status).end()
    else if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) response.writeHead(401).end()
    else if (route === 'GET /sse') void connect(response)
    else if (route === 'POST /messages') void open.get(searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, requests }
}

const openAt = (settings: McpServerSettings) => openServer(serverDefinition(settings))

it.each([400, 404, 405, 410])('is used after Streamable HTTP was refused with %i', async (status) => {
  const { url, requests } = await sseServer({ status })
  const { source, call } = openAt({ url })
  expect(await call('call', {})).toEqual({ ok: true, content: 'done' })
  expect(await source.facts()).toMatchObject({ name: 'older', protocol: '2025-11-25' })
  expect(requests.indexOf('GET /sse')).toBeGreaterThan(0)
  expect(requests[0]).toBe('POST /sse')
})

it('gets the headers, and says what is missing', async () => {
  const { url } = await sseServer({ token: 'abc' })
  const headers = { Authorization: 'Bearer abc' }
  expect(await openAt({ url, headers }).call('call', {})).toMatchObject({ ok: true })
  await expect(openAt({ url }).source.list()).rejects.toMatchObject({ message: 'The MCP server "srv" requires authorization.' })
})

describe('is not tried', () => {
  it.each([401, 403, 500])('after the status %i', async (status) => {
    const { url, requests } = await sseServer({ status })
    await expect(openAt({ url }).source.list()).rejects.toMatchObject({ code: 'tools_unavailable' })
    expect(requests).not.toContain('GET /sse')
  })

  it.each<McpServerSettings>([
    { url: '', type: 'http' },
    { url: '', protocol: '2026-07-28' },
  ])('with %j', async (settings) => {
    const { url, requests } = await sseServer()
    await expect(openAt({ ...settings, url } as McpServerSettings).source.list()).rejects.toMatchObject({ code: 'tools_unavailable' })
    expect(requests).not.toContain('GET /sse')
  })
})

it('a URL that knows neither is reported by its first answer', async () => {
  const { url } = await sseServer({ status: 405 })
  await expect(openAt({ url: url.replace('/sse', '/other') }).source.list()).rejects.toThrow('answered with HTTP status 404')
})
