import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../../testing/index.ts'
import { authFetch } from './auth-fetch.ts'

const publicServer = { url: new URL('https://8.8.8.8/mcp'), auth: undefined }
const localServer = { url: new URL('http://127.0.0.1:1/mcp'), auth: undefined }

async function respond(body: string | undefined, onRequest = (): void => {}): Promise<string> {
  const server = createServer((_, response) => {
    onRequest()
    response.writeHead(200)
    if (body === undefined) response.flushHeaders()
    else response.end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('requests to authorization servers', () => {
  it.each(['https://10.0.0.1/token', 'https://127.0.0.1/token', 'https://[::1]/token', 'https://169.254.169.254/token'])(
    'a public MCP server cannot point to %s',
    async (url) => {
      await expect(authFetch(publicServer, new FakeClock())(url)).rejects.toThrow('is not a public address')
    },
  )

  it('the configured issuer may have a private address, and a local MCP server may use one', async () => {
    const url = await respond('{}')
    const bound = { ...publicServer, auth: { type: 'oauth', issuer: url } as const }
    for (const server of [bound, localServer]) expect((await authFetch(server, new FakeClock())(url)).status).toBe(200)
  })

  it('uses HTTPS except on loopback addresses', async () => {
    await expect(authFetch(publicServer, new FakeClock())('http://example.com/token')).rejects.toThrow('not at an HTTPS address')
  })

  it('large responses are refused, and slow ones are not waited for', async () => {
    const clock = new FakeClock()
    await expect(authFetch(localServer, clock)(await respond('x'.repeat(300_000)))).rejects.toThrow('more than 256 KB')
    const slow = await respond(undefined, () => clock.advance(10_000))
    await expect(authFetch(localServer, clock)(slow)).rejects.toThrow('sent nothing for 10 seconds')
  })
})
