import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createKernel } from '../../src/kernel/index.ts'
import { loadProject } from '../../src/project/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { StoreHealth } from '../../src/server/health/store-health.ts'
import { createServer, type Server, type ServerOptions } from '../../src/server/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel } from '../../src/testing/index.ts'

const clerk = { name: 'clerk', description: 'Answers', usage: 'a question', prompt: 'Answer.', model: 'test/scripted' }

function program(name = 'clerk') {
  const store = memoryStore()
  const runtime = createAgentRuntime({ config: { agents: [{ ...clerk, name }] }, adapter: new ScriptedModel([]), store })
  onTestFinished(async () => {
    await runtime.close()
    await store.close()
  })
  return { runtime, store }
}

async function serverOf(options: ServerOptions): Promise<Server> {
  const server = await createServer(options)
  onTestFinished(async () => void (await server.close({ drain: 0 })))
  return server
}

const authorized = ({ token }: Server) => ({ headers: { authorization: `Bearer ${token.token}` } })

async function openSocket(url: string, server: Server): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp/ws`, 'mcp', authorized(server))
  await once(socket, 'open')
  return socket
}

describe('a server', () => {
  it('answers to the name that it was told to listen at', async () => {
    const server = await serverOf(program())
    const { url } = await server.listen({ host: '127.0.0.2', port: 0 })
    expect((await fetch(`${url}/v1/agents`, authorized(server))).status).toBe(200)
  })

  it('tells a program how to create a token for other machines', async () => {
    const server = await serverOf(program())
    await expect(server.listen({ host: '0.0.0.0', port: 0 })).rejects.toMatchObject({ remedy: expect.stringContaining('createToken') })
  })

  it('leads to its page by a relative path, because a proxy may have another scheme, and keeps the query', async () => {
    const server = await serverOf({ ...program(), basePath: '/agents' })
    const response = await server.fetch(new Request('http://127.0.0.1/agents?page=sessions', { headers: { host: '127.0.0.1' } }))
    expect([response.status, response.headers.get('location')]).toEqual([308, 'agents/?page=sessions'])
  })

  it.each(['agents', '/a b', '/a?b'])('refuses %s as its base path, below which nothing would be found', async (basePath) => {
    await expect(createServer({ ...program(), basePath })).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('refuses agents with the name of a route', async () => {
    await expect(createServer(program('sessions'))).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('has no timer for its store before it is started', () => {
    const clock = new FakeClock()
    const health = new StoreHealth({
      ...{ store: { check: async () => [] }, folder: undefined, clock },
      ...{ log: { note() {}, warn() {} }, changed() {} },
    })
    expect(clock.pending).toBe(0)
    health.start()
    expect(clock.pending).toBe(1)
    health.close()
    expect(clock.pending).toBe(0)
  })
})

describe('a server that closes', () => {
  it.each(['listen', 'attach'])('closes the WebSockets of %s, for which its port would wait', async (kind) => {
    const server = await serverOf({ ...program(), settings: { legacyTransports: true } })
    const http = createHttpServer(server.handle)
    server.attach(http)
    if (kind === 'attach') await once(http.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void http.close())
    const url = kind === 'listen' ? (await server.listen({ port: 0 })).url : `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    const closed = once(await openSocket(url, server), 'close')
    await server.close()
    expect((await closed)[0]).toBe(1001)
  })

  it('leaves its client at standard input and output', async () => {
    const server = await serverOf(program())
    const { closed } = server.serveStdio(new PassThrough(), new PassThrough())
    await server.close()
    await closed
  })

  it('continues nothing for a request that comes later, and opens no port', async () => {
    const { runtime, store } = program()
    const watch = vi.spyOn(store.trees, 'watch')
    const server = await createServer({ runtime, store })
    await server.close()
    await server.fetch(new Request('http://127.0.0.1/ready', { headers: { host: '127.0.0.1' } }))
    expect(watch).not.toHaveBeenCalled()
    await expect(server.listen({ port: 0 })).rejects.toMatchObject({ code: 'usage' })
  })

  it.each(['project', 'kernel'])('answers what a client of a %s has begun to ask, and finds its store in order', async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-closing-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'clerk.ai'), '---\ndescription: Answers\nusage: a question\n---\nAnswer questions.\n')
    writeFileSync(join(folder, '.ai-agent.json'), '{ "defaults": { "models": "rehearsal" } }')
    const said: string[] = []
    const log = { warn: (text: string) => void said.push(text), failure: (error: unknown) => void said.push(String(error)) }
    const project = await loadProject({ cwd: folder, env: { HOME: folder, PATH: process.env.PATH } })
    const common = { log, reloads: false }
    const server = await serverOf(kind === 'kernel' ? { kernel: await createKernel({ project }), ...common } : { project, ...common })
    const { port } = await server.listen({ port: 0 })
    await fetch(`http://127.0.0.1:${port}/ready`)

    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    socket.write(`GET /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${server.token.token}\r\n`)
    // Answered after the beginning of the other request has arrived.
    await fetch(`http://127.0.0.1:${port}/ready`)
    const closing = server.close({ drain: 0 })
    const refused = async (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/ready`).then(
        () => false,
        () => true,
      )
    await expect.poll(refused).toBe(true)
    socket.write('\r\n')
    expect((await once(socket, 'data'))[0]).toMatch(/^HTTP\/1\.1 200 /)
    await closing
    expect(said).toEqual([])
  })
})
