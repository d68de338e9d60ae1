// 1,000 sessions at the same time over HTTP: each has 20 calls, and a model that takes 500 ms for a step. Prints failures, the latency of
// a start (from the request to the first model request), what the server adds to a step (between two model requests), CPU and memory.
// Usage: node bench/load.mjs [memory|sqlite] [sessions]
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { print, row } from './lib/rows.mjs'

const [role = 'memory', given] = process.argv.slice(2).filter((each) => !each.startsWith('--'))
const calls = 20
const latencyMs = 500
if (role.startsWith('serve-')) await startServer(role.slice(6))
else await measure(role, Number(given ?? 1_000))

async function startServer(kind) {
  const { headendServer, listen, storedTokens } = await import('../src/server/http/index.ts')
  const { restRoutes } = await import('../src/server/rest/index.ts')
  const { createAgentRuntime, systemClock: clock } = await import('../src/runtime/index.ts')
  const { openStore } = await import('../src/stores/index.ts')
  const folder = mkdtempSync(join(tmpdir(), 'troupe-load-'))
  const store = await openStore(kind === 'memory' ? 'memory:' : `sqlite:${folder}`)
  const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const [starts, steps, last] = [[], [], new Map()]
  /** `text`: the time at which the client sent it. */
  const measureStep = (text) => {
    const now = performance.timeOrigin + performance.now()
    const before = last.get(text)
    last.set(text, now)
    if (before === undefined) starts.push(now - Number(text))
    else steps.push(now - before - latencyMs)
  }
  const model = {
    id: 'bench/model',
    abilities: ['tools'],
    async *stream({ messages }) {
      const [{ text }] = messages[0].parts
      if (text !== 'Warm up') {
        measureStep(text)
        await new Promise((resolve) => setTimeout(resolve, latencyMs))
      }
      const done = messages.filter(({ role: from }) => from === 'tool').length
      if (done < calls) yield { type: 'call', id: `c${done}`, name: 'look_up', input: JSON.stringify({ key: `k${done}` }) }
      else yield { type: 'text', text: 'Done.' }
      yield { type: 'finish', reason: done < calls ? 'tool-calls' : 'stop', usage }
    },
  }
  const tool = {
    name: 'look_up',
    description: 'Looks up.',
    inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
    effect: 'read',
    execute: () => 'value',
  }
  const agents = [
    { name: 'clerk', description: 'Looks up.', prompt: 'Look up.', model: 'bench/model', tools: ['*'], limits: { maxToolTurns: 30 } },
  ]
  const runtime = createAgentRuntime({ config: { agents, tools: [tool] }, adapter: model, store })
  const server = headendServer({
    sessions: runtime.sessions,
    routes: restRoutes({ clock, version: '0', audit: async () => {} }),
    tokens: storedTokens(store.records, { clock, localToken: 'bench' }),
    records: store.records,
    names: { hosts: ['127.0.0.1'], origins: [] },
    clock,
    ids: { next: () => randomUUID() },
    places: { total: 5_000, perHeadend: 5_000, perAgent: 5_000, perToken: 5_000 },
  })
  const { port } = await listen(server, { host: '127.0.0.1', port: 0, clock })
  let rss = 0
  setInterval(() => {
    rss = Math.max(rss, process.memoryUsage.rss())
  }, 100)
  process.on('message', async () => {
    process.send({ rss, cpu: process.cpuUsage(), starts, steps })
    rmSync(folder, { recursive: true, force: true })
  })
  process.send({ port })
}

async function measure(kind, sessions) {
  const child = fork(import.meta.filename, [`serve-${kind}`])
  const { port } = await new Promise((resolve) => child.once('message', resolve))
  const agent = new Agent({ keepAlive: true, maxSockets: sessions })
  const ask = (input) =>
    new Promise((resolve) => {
      const started = performance.now()
      const body = JSON.stringify({ input })
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/v1/clerk',
          agent,
          headers: { authorization: 'Bearer bench', 'content-type': 'application/json', 'content-length': body.length },
        },
        (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () =>
            resolve({ isDone: response.statusCode === 200 && text.includes('Done.'), ms: performance.now() - started, text }),
          )
        },
      )
      sent.on('error', (error) => resolve({ isDone: false, ms: 0, text: String(error) }))
      sent.end(body)
    })
  try {
    await Promise.all(Array.from({ length: 100 }, () => ask('Warm up')))
    // They begin within one step, not all at the same moment.
    const later = (index) => new Promise((resolve) => setTimeout(resolve, (index / sessions) * latencyMs))
    const results = await Promise.all(
      Array.from({ length: sessions }, (_, index) => later(index).then(() => ask(String(performance.timeOrigin + performance.now())))),
    )
    const failed = results.filter(({ isDone }) => !isDone)
    child.send('figures')
    const { rss, cpu, starts, steps } = await new Promise((resolve) => child.once('message', resolve))
    const count = sessions * (calls + 1)
    const note = failed[0] ? ` (${failed[0].text.slice(0, 200)})` : ''
    print(`${kind}: ${sessions} sessions, ${count} steps, ${failed.length} failed${note}; memory at most ${Math.round(rss / 1024 ** 2)} MB`)
    const at = (times, share) => times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))]
    const title = `${sessions.toLocaleString('en')} sessions, ${kind === 'sqlite' ? 'SQLite' : kind}`
    for (const [what, times] of Object.entries({ start: starts, step: steps }))
      for (const share of [0.5, 0.95]) row(`${title}: ${what}, p${share * 100}`, at(times, share), 'ms')
    row(`${title}: CPU of a step`, (cpu.user + cpu.system) / 1000 / count, 'ms')
  } finally {
    child.kill()
    agent.destroy()
  }
}
