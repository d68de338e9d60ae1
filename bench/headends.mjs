// The HTTP server: requests a second of a one-step agent beside a bare hono handler, what the first byte of a stream costs, and 200
// readers of one session. Server and clients are processes of their own, on loopback. Prints ratios of one run.
// Usage: node bench/headends.mjs
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'

const token = 'bench'
const [, , role] = process.argv
if (role === 'server') await startServer()
else await measure()

async function startServer() {
  const { headendServer, listen, storedTokens } = await import('../src/server/http/index.ts')
  const { restRoutes } = await import('../src/server/rest/index.ts')
  const { openaiRoutes } = await import('../src/server/openai/index.ts')
  const { createAgentRuntime, systemClock: clock } = await import('../src/runtime/index.ts')
  const { memoryStore } = await import('../src/stores/memory/index.ts')
  const store = memoryStore()
  const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  let firstToken = 0n
  const model = {
    id: 'bench/model',
    abilities: ['tools'],
    async *stream(request) {
      const text = request.messages.at(-1).parts[0].text
      if (text === 'slow') {
        for (let index = 0; index < 200; index++) {
          await new Promise((resolve) => setTimeout(resolve, 2))
          if (index === 0) firstToken = process.hrtime.bigint()
          yield { type: 'text', text: `word${index} ` }
        }
      } else yield { type: 'text', text: 'Hello.' }
      yield { type: 'finish', reason: 'stop', usage }
    },
  }
  const runtime = createAgentRuntime({
    config: { agents: [{ name: 'hello', description: 'Greets.', prompt: 'Greet.', model: 'bench/model', tools: [] }] },
    adapter: model,
    store,
  })
  const rest = { clock, version: '0', audit: async () => {} }
  const server = headendServer({
    sessions: runtime.sessions,
    routes: [...openaiRoutes(rest), ...restRoutes(rest)],
    tokens: storedTokens(store.records, { clock, localToken: token }),
    records: store.records,
    names: { hosts: ['127.0.0.1'], origins: [] },
    clock,
    ids: { next: () => randomUUID() },
    log() {},
  })
  const { port } = await listen(server, { host: '127.0.0.1', port: 0, clock })
  const app = new Hono()
  app.post('/v1/hello', async (c) => {
    await c.req.json()
    return c.json({ text: 'Hello.' })
  })
  const bare = createAdaptorServer({ fetch: app.fetch })
  await new Promise((resolve) => bare.listen(0, '127.0.0.1', resolve))
  process.on('message', (message) => {
    if (message === 'firstToken') process.send({ firstToken: String(firstToken) })
    if (message === 'memory') process.send({ rss: process.memoryUsage.rss() })
  })
  process.send({ port, bare: bare.address().port })
}

function ask(child, what) {
  return new Promise((resolve) => {
    child.once('message', resolve)
    child.send(what)
  })
}

async function measure() {
  const child = fork(import.meta.filename, ['server'])
  const { port, bare } = await new Promise((resolve) => child.once('message', resolve))
  try {
    for (const each of [port, bare]) await load(each, 500)
    const rounds = []
    for (let round = 0; round < 3; round++) rounds.push({ troupe: await load(port, 6_000), hono: await load(bare, 6_000) })
    const best = (name) => Math.max(...rounds.map((round) => round[name]))
    console.log(
      `POST /v1/:agent     ${Math.round(best('troupe'))} requests/s, bare hono ${Math.round(best('hono'))} requests/s (${(best('hono') / best('troupe')).toFixed(1)}×)`,
    )
    console.log(`first byte          ${(await firstByte(child, port)).toFixed(2)} ms after the first token of the model (median of 20)`)
    console.log(`200 readers         ${await manyReaders(port)}`)
    console.log(`memory              ${Math.round((await ask(child, 'memory')).rss / 1024 ** 2)} MB`)
  } finally {
    child.kill()
  }
}

/** Requests a second over 32 connections that stay open. */
async function load(port, count) {
  const body = JSON.stringify({ input: 'Hi' })
  const request = `POST /v1/hello HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  let left = count
  const started = performance.now()
  await Promise.all(
    Array.from(
      { length: 32 },
      () =>
        new Promise((resolve, reject) => {
          const socket = connect(port, '127.0.0.1')
          let text = ''
          const next = () => {
            if (left-- <= 0) return socket.end(resolve)
            socket.write(request)
          }
          socket.on('connect', next)
          socket.on('error', reject)
          socket.on('data', (chunk) => {
            text += chunk
            const head = text.indexOf('\r\n\r\n')
            if (head < 0) return
            const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
            if (text.length < head + 4 + length) return
            if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text))
            text = ''
            next()
          })
        }),
    ),
  )
  return count / ((performance.now() - started) / 1000)
}

async function firstByte(child, port) {
  const times = []
  for (let run = 0; run < 20; run++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'hello', stream: true, messages: [{ role: 'user', content: 'slow' }] }),
    })
    for await (const chunk of response.body) {
      if (!Buffer.from(chunk).includes('word0')) continue
      const seen = process.hrtime.bigint()
      times.push(Number(seen - BigInt((await ask(child, 'firstToken')).firstToken)) / 1e6)
      break
    }
  }
  return times.toSorted((a, b) => a - b)[10]
}

async function manyReaders(port) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const started = await fetch(`http://127.0.0.1:${port}/v1/sessions`, { method: 'POST', headers, body: JSON.stringify({ input: 'slow' }) })
  const { sessionId } = await started.json()
  const begun = performance.now()
  const lengths = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/sessions/${sessionId}/events?until=turn`, {
        headers: { ...headers, accept: 'text/event-stream' },
      })
      const text = await response.text()
      const pieces = [...text.matchAll(/"kind":"text","text":"([^"]*)"/g)].map(([, piece]) => piece).join('')
      return pieces.length
    }),
  )
  return `${Math.round(performance.now() - begun)} ms for a text of 200 pieces at 2 ms; every reader got ${[...new Set(lengths)].join(' or ')} characters`
}
