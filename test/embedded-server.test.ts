import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'

// Runs the programs of "Serve from your own program" in docs/embedding.md, with the real frameworks.

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs', 'embedding.md'), 'utf8')
const section = page.split(/^## /m).find((each) => each.startsWith('Serve from your own program')) ?? ''
const programs = [...section.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => ({ name, text }))
const folders: string[] = []
const children: ChildProcess[] = []
afterAll(async () => {
  await Promise.all(children.map((child) => (child.exitCode ?? child.signalCode) === null && ended(child, 'SIGKILL')))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function program(files: { readonly [name: string]: string } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-embedded-'))
  folders.push(folder)
  mkdirSync(join(folder, 'node_modules', '@hono'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules', 'troupe'))
  for (const name of ['hono', 'express', 'fastify', '@hono/node-server'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const { name, text } of programs) writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const ended = (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> =>
  new Promise((resolve) => {
    child.once('close', resolve)
    child.kill(signal)
  })

interface Started {
  readonly child: ChildProcess
  readonly folder: string
  readonly url: string
  readonly token: string
  fetch(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response>
}

/** Starts a program that prints where it listens, and its token. */
async function start(words: readonly string[], { base = '', folder = program() } = {}): Promise<Started> {
  const env = { PATH: process.env.PATH, HOME: folder, PORT: '0', ...(base !== '' && { BASE: base }) }
  const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', resolve)
    child.once('close', (code) => reject(new Error(`${words.join(' ')} ended with ${code}: ${said}`)))
  })
  const [, port = '', token = ''] = /(\d{4,5})\S* ?.*?(trp_local_[\w-]+)/.exec(line) ?? []
  const url = `http://127.0.0.1:${port}${base}`
  return {
    ...{ child, folder, url, token },
    fetch: (path, { json, ...init } = {}) =>
      fetch(`${url}${path}`, {
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(json === undefined && { accept: 'text/event-stream, */*' }),
        },
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
        ...init,
      }),
  }
}

it('needs less than 15 lines for each program', () => {
  const lines = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length
  expect(programs.map(({ name }) => name)).toEqual(['agents.ts', 'serve.ts', 'hono.mjs', 'express.mjs', 'fastify.mjs', 'project.ts'])
  expect(programs.filter(({ text }) => lines(text) >= 15).map(({ name }) => name)).toEqual([])
})

describe.each([
  ['serve.ts', ''],
  ['serve.ts', '/agents'],
  ['hono.mjs', '/agents'],
  ['express.mjs', '/agents'],
  ['fastify.mjs', '/agents'],
])('%s with the base path "%s"', (name, base) => {
  it('serves the page, an answer, an approval and streams', async () => {
    const { url, token, fetch: ask, folder, child } = await start([name], { base })
    const shown = await fetch(`${url}/`)
    expect(shown.headers.get('content-type')).toContain('text/html')
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await shown.text()) ?? []
    expect((await fetch(new URL(script, `${url}/`))).headers.get('content-type')).toContain('javascript')
    expect(((await (await ask('/openapi.json')).json()) as { servers: unknown }).servers).toEqual([{ url: base || '/' }])
    if (base !== '') {
      const moved = await fetch(`${url}?x=1`, { redirect: 'manual' })
      expect([moved.status, moved.headers.get('location')]).toEqual([308, 'agents/?x=1'])
      expect((await fetch(url)).url).toBe(`${url}/`)
    }
    if (!name.startsWith('serve')) expect(await (await fetch(new URL('/', url))).text()).toBe('My program')

    const begun = await ask('/v1/sessions', { json: { input: 'Hello' } })
    const { sessionId: first } = (await begun.json()) as { sessionId: string }
    expect(begun.headers.get('location')).toBe(`${base}/v1/sessions/${first}`)
    expect(await eventsOf(ask, first)).toContain('interaction.turn.completed')

    const asked = await ask('/v1/clerk', { json: { input: 'Write the file notes/today.md with the content: Tea' } })
    const { sessionId, approvals } = (await asked.json()) as { sessionId: string; approvals: readonly { id: string }[] }
    expect([asked.status, approvals.length]).toEqual([202, 1])
    const path = `/v1/sessions/${sessionId}/approvals/${encodeURIComponent(approvals[0]?.id ?? '')}`
    expect((await ask(path, { json: { kind: 'approve', breadth: 'once' } })).status).toBe(202)
    expect(await eventsOf(ask, sessionId)).toContain('interaction.turn.completed')
    expect(readFileSync(join(folder, 'notes', 'today.md'), 'utf8')).toContain('Tea')

    if (name.startsWith('serve')) expect(await ended(child, 'SIGTERM')).toBe(null)
    else expect(await mcpAnswer(`${url.replace('http', 'ws')}/mcp/ws`, token)).toMatchObject({ result: { serverInfo: { name: 'troupe' } } })
  })
})

/** The names and data of all events until the turn has ended. */
const eventsOf = async (ask: Started['fetch'], sessionId: string): Promise<string> =>
  (await ask(`/v1/sessions/${sessionId}/events?until=turn`)).text()

/** Over a WebSocket. */
function mcpAnswer(url: string, token: string): Promise<unknown> {
  const socket = new WebSocket(url, 'mcp', { headers: { authorization: `Bearer ${token}` } })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  return new Promise((resolve, reject) => {
    socket.on('open', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })))
    socket.on('message', (data) => resolve(JSON.parse(data.toString())))
    socket.on('error', reject)
  }).finally(() => socket.close())
}

describe('a folder of agents', () => {
  const files = {
    'clerk.ai': '---\ndescription: Answers\nusage: a question\n---\nAnswer questions.\n',
    '.ai-agent.json': '{ "defaults": { "models": "rehearsal" } }',
  }

  it.each(['project', 'kernel'])('is served from a %s, with its configuration and changes of its files', async (kind) => {
    const { fetch: ask, folder, child } = await start(['project.ts', kind], { folder: program(files) })
    expect(await (await ask('/ready')).json()).toEqual({ status: 'ready' })
    const agents = async () => ((await (await ask('/v1/agents')).json()) as { agents: { name: string }[] }).agents.map(({ name }) => name)
    expect(await agents()).toContain('clerk')
    expect(await agents()).toEqual(kind === 'kernel' ? expect.arrayContaining(['orchestrator']) : ['clerk'])
    const changes = await ask('/v1/watch')
    writeFileSync(join(folder, 'cook.ai'), files['clerk.ai'])
    for await (const chunk of changes.body ?? []) if (new TextDecoder().decode(chunk).includes('server.changed')) break
    expect(await agents()).toContain('cook')
    expect(await ended(child, 'SIGTERM')).toBe(0)
  })

  it('reports what is wrong with its place, and starts nothing', async () => {
    const wrong = program({ 'clerk.ai': '---\ndescription: Answers\nusage: a question\nmodle: rehearsal\n---\nAnswer.\n' })
    await expect(start(['project.ts'], { folder: wrong })).rejects.toThrow(/clerk\.ai:4.*modle/)
  })
})
