import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { Approver, OwnerBudget, Store } from '../../src/contracts/index.ts'
import { loadProject } from '../../src/project/index.ts'
import { createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'
import { createServer } from '../../src/server/index.ts'
import { createToken, type ServerOptions } from '../../src/server.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'

// A server for the runtime of a program: what it adds to the runtime, and how it ends.

const folder = mkdtempSync(join(tmpdir(), 'troupe-create-server-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const clerk = { name: 'clerk', description: 'Writes', usage: 'a text', prompt: 'Write.', model: 'scripted/model', tools: ['note'] }
const note = {
  name: 'note',
  description: 'Notes.',
  inputSchema: { type: 'object' },
  effect: 'write',
  approval: () => ({ summary: 'Note it', keys: [{ key: 'note:it', label: 'it' }] }),
  execute: () => 'Noted.',
} as const

interface Scene extends Partial<RuntimeOptions> {
  readonly steps?: readonly ScriptedStepSource[]
  readonly server?: Partial<ServerOptions>
}

async function served({ steps = [{ text: 'Hi.' }], server: more, ...options }: Scene = {}) {
  const store: Store = memoryStore()
  const runtime = createAgentRuntime({ config: { agents: [clerk], tools: [note] }, adapter: new ScriptedModel(steps), store, ...options })
  const server = await createServer({ runtime, store, ...more } as ServerOptions)
  onTestFinished(async () => {
    await server.close({ drain: 0 })
    await runtime.close()
  })
  const ask = (path: string, { token = server.token.token, json }: { readonly token?: string; readonly json?: unknown } = {}) =>
    server.fetch(
      new Request(`http://127.0.0.1${path}`, {
        headers: { host: '127.0.0.1', authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
      }),
    )
  return { store, runtime, server, ask }
}

const asks = [{ calls: [{ tool: 'note', input: {} }] }, { text: 'Done.' }]

describe('what a server adds to a runtime', () => {
  it('requests wait, unless the runtime has an approver', async () => {
    const { ask } = await served({ steps: asks })
    expect((await ask('/v1/clerk', { json: { input: 'Note it' } })).status).toBe(202)
    const deny: Approver = { decide: () => ({ decision: { kind: 'deny' }, by: 'the program' }) }
    const own = await served({ steps: asks, approver: deny })
    expect((await own.ask('/v1/clerk', { json: { input: 'Note it' } })).status).toBe(200)
  })

  it.each<[string, OwnerBudget | undefined]>([
    ['none', undefined],
    ['more', { tokensPerDay: 1e6 }],
  ])('the budget of a token applies where the runtime itself has %s for its owner', async (_name, own) => {
    const { ask, store } = await served(own ? { budgetOf: () => own } : {})
    const token = await createToken(store.records, { name: 'small', scopes: ['run', 'read'], budget: { tokensPerDay: 5 } })
    expect((await ask('/v1/clerk', { token, json: { input: 'Hi' } })).status).toBe(429)
  })

  it('and a lower one of the runtime, too', async () => {
    const { ask, store } = await served({ budgetOf: () => Promise.resolve({ tokensPerDay: 5 }) })
    const token = await createToken(store.records, { name: 'large', scopes: ['run'], budget: { tokensPerDay: 1e6 } })
    expect((await ask('/v1/clerk', { token, json: { input: 'Hi' } })).status).toBe(429)
  })

  it('counts turns, and has left the runtime when it is closed', async () => {
    const { ask, server, runtime } = await served({ steps: [{ text: 'Hi.' }, ...asks] })
    await ask('/v1/clerk', { json: { input: 'Hi' } })
    expect(await (await ask('/metrics')).text()).toContain('troupe_turns_total{agent="clerk",status="completed"} 1')
    await server.close()
    expect(await runtime.run('Note it')).toMatchObject({ status: 'completed' })
  })

  it('sessions of a runtime without an origin are not taken over, those with the same origin are', async () => {
    const store = memoryStore()
    const model = { adapter: new ScriptedModel([...asks, ...asks]), config: { agents: [clerk], tools: [note] }, store }
    const approver: Approver = { decide: () => 'suspend' }
    const origins = [undefined, { workspace: folder }]
    for (const origin of origins) {
      const before = createAgentRuntime({ ...model, approver, ...(origin && { origin }) })
      const { sessionId } = before.stream('Note it')
      await before.close({ drain: true })
      const runtime = createAgentRuntime({ ...model, ...(origin && { origin }) })
      const server = await createServer({ runtime, store })
      expect((await server.sessions.get(sessionId))?.continue).toMatchObject({ here: origin !== undefined })
      await server.close()
      await runtime.close()
    }
  })
})

describe('the end of a server', () => {
  it('waits for turns of requests, and leaves the runtime open', async () => {
    const open = gate()
    const { ask, server, runtime } = await served({ steps: [{ wait: open.promise, text: 'Late.' }, { text: 'Again.' }] })
    const answer = ask('/v1/clerk', { json: { input: 'Hi' } })
    await expect.poll(async () => (await runtime.sessions.list()).length).toBe(1)
    const closed = server.close({ drain: 60_000 })
    open.open()
    expect(await closed).toBe('finished')
    expect((await answer).status).toBe(200)
    expect(await runtime.run('Hi')).toMatchObject({ status: 'completed' })
    await expect(server.listen({ port: 0 })).rejects.toThrow('The server is closed.')
  })

  it.each(['listen', 'attach'])('ends WebSockets: %s', async (how) => {
    const { server } = await served({ server: { settings: { legacyTransports: true } } })
    const http = createHttpServer()
    if (how === 'attach') {
      server.attach(http)
      server.attach(http)
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    }
    const port = how === 'attach' ? (http.address() as AddressInfo).port : (await server.listen({ port: 0 })).port
    const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp/ws`, 'mcp', { headers: { authorization: `Bearer ${server.token.token}` } })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const left = new Promise<number>((resolve) => socket.once('close', resolve))
    await server.close()
    expect(await left).toBe(1001)
    if (how === 'attach') await new Promise((resolve) => http.close(resolve))
  })
})

describe('wrong options', () => {
  const { store } = { store: memoryStore() }
  const runtime = createAgentRuntime({ config: { agents: [clerk], tools: [note] }, adapter: new ScriptedModel([]), store })
  afterAll(() => runtime.close())

  it.each<[object, string]>([
    [{ runtime }, 'options.store: expected the store of the runtime'],
    [{}, 'expected project, kernel, or runtime and store'],
    [{ project: undefined, runtime }, 'options.store'],
    [{ runtime, store: memoryStore() }, 'The store is not that of the runtime.'],
    [{ runtime, store, basePath: 'agents' }, 'options.basePath: expected a path such as "/agents"'],
    [{ runtime, store, basePath: '/a b' }, 'options.basePath'],
    [{ runtime, store, basepath: '/agents' }, 'Did you mean "basePath"?'],
    [{ runtime, store, log: 'debug' }, 'options.log'],
    [{ runtime, store, settings: { hosts: 'my.example' } }, 'options.settings.hosts'],
    [{ runtime, store, settings: { prot: 1 } }, 'options.settings.prot'],
  ])('%# are refused', async (options, message) => {
    await expect(createServer(options as ServerOptions)).rejects.toThrow(message)
  })

  it.each([
    { name: 'a', scopes: 'administrator' },
    { name: 'a' },
    { name: 'a', scopes: ['run'], expires: 5 },
    { name: 'a', scopes: ['run'], expiresAt: new Date(0) },
    { name: 'a', scopes: ['run'], rates: '60/minute' },
    { name: 'a', scopes: ['run'], agents: 'clerk' },
    { name: 'a', scopes: ['run'], budget: { tokensPerDay: -1 } },
  ])('a token is not created from %j', async (settings) => {
    await expect(createToken(store.records, settings as never)).rejects.toMatchObject({ code: 'usage' })
    expect(await store.records.list('token')).toEqual([])
  })

  it('a log that throws or is not there changes nothing', async () => {
    const fail = () => {
      throw new Error('full')
    }
    const { ask } = await served({ server: { log: { access: fail, note: undefined } } })
    expect((await ask('/v1/clerk', { json: { input: 'Hi' } })).status).toBe(200)
  })

  it('a folder that does not exist is no project', async () => {
    await expect(loadProject({ cwd: join(folder, 'none'), env: {} })).rejects.toMatchObject({ code: 'usage' })
  })
})

it('a body that was read before is an error that says so', async () => {
  const { server } = await served({ server: { basePath: '/agents/' } })
  const request = new Request('http://127.0.0.1/agents/v1/clerk', { method: 'POST', body: '{}', headers: { host: '127.0.0.1' } })
  await request.text()
  const answer = await server.fetch(request)
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('Mount Troupe before it.')])
})
