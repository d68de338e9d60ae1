// The HTTP server: a one-step agent beside a bare hono handler, a chat whose model is another server beside a plain proxy of it, what the
// first byte of a stream costs, and 200 readers of one session. Servers and clients are processes of their own, on loopback. Prints
// ratios of one run. Usage: node bench/headends.mjs
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { print, row } from './lib/rows.mjs'

const token = 'bench'
const pieces = 200
const [, , role, upstream] = process.argv
if (role === 'upstream') startUpstream()
else if (role === 'server') await startServer()
else await measure()

/** Streams a chat of many pieces, ten in each turn of its event loop. */
function startUpstream() {
  const chunk = (delta) => `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })}\n\n`
  const server = createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let index = 0; index < pieces; index++) {
      if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
      response.write(chunk({ content: `word${index} ` }))
    }
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

/** The texts of a chat of that server. */
async function* relayed() {
  const response = await fetch(upstream, { method: 'POST', body: '{}' })
  let rest = ''
  for await (const bytes of response.body) {
    const messages = (rest + Buffer.from(bytes)).split('\n\n')
    rest = messages.pop()
    for (const message of messages) if (!message.endsWith('[DONE]')) yield JSON.parse(message.slice(6)).choices[0].delta.content
  }
}

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
      if (text === 'relay') for await (const piece of relayed()) yield { type: 'text', text: piece }
      else if (text === 'slow') {
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
  app.post('/v1/chat/completions', async (c) => {
    await c.req.json()
    const { body } = await fetch(upstream, { method: 'POST', body: '{}' })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  const bare = createAdaptorServer({ fetch: app.fetch })
  await new Promise((resolve) => bare.listen(0, '127.0.0.1', resolve))
  process.on('message', (message) => {
    if (message === 'firstToken') process.send({ firstToken: String(firstToken) })
    if (message === 'figures') process.send({ rss: process.memoryUsage.rss(), cpu: process.cpuUsage() })
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
  const source = fork(import.meta.filename, ['upstream'])
  const { port: sourcePort } = await new Promise((resolve) => source.once('message', resolve))
  const child = fork(import.meta.filename, ['server', `http://127.0.0.1:${sourcePort}`])
  const { port, bare } = await new Promise((resolve) => child.once('message', resolve))
  try {
    const rest = { path: '/v1/hello', body: { input: 'Hi' }, connections: 32 }
    await compare('POST /v1/:agent', { child, ports: [port, bare], work: rest, count: 6_000, over: 'bare hono' })
    const chat = { path: '/v1/chat/completions', body: { model: 'hello', stream: true, messages: [{ role: 'user', content: 'relay' }] } }
    const work = { ...chat, connections: 8 }
    await compare(`chat of ${pieces} pieces`, { child, ports: [port, bare], work, count: 300, over: 'plain proxy' })
    row('first byte after the first token of the model', await firstByte(child, port), 'ms')
    print(`200 readers: ${await manyReaders(port)}; memory ${Math.round((await ask(child, 'figures')).rss / 1024 ** 2)} MB`)
  } finally {
    child.kill()
    source.kill()
  }
}

/** The least time and CPU of a request, of three rounds. */
async function compare(name, { child, ports, work, count, over }) {
  const cpuOf = async () => {
    const { user, system } = (await ask(child, 'figures')).cpu
    return user + system
  }
  const least = ports.map(() => ({ time: Number.POSITIVE_INFINITY, CPU: Number.POSITIVE_INFINITY }))
  for (const each of ports) await load(each, work, count / 10)
  for (let round = 0; round < 3; round++)
    for (const [index, each] of ports.entries()) {
      const before = await cpuOf()
      const started = performance.now()
      await load(each, work, count)
      const [time, cpu] = [((performance.now() - started) * 1000) / count, ((await cpuOf()) - before) / count]
      least[index] = { time: Math.min(least[index].time, time), CPU: Math.min(least[index].CPU, cpu) }
    }
  const [own, base] = least
  for (const what of ['time', 'CPU']) row(`${name}: ${what}`, own[what], 'µs', { title: over, value: base[what] })
}

/** Requests over connections that stay open. */
async function load(port, { path, body: content, connections }, count) {
  const body = JSON.stringify(content)
  const request = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  let left = count
  await Promise.all(
    Array.from(
      { length: connections },
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
            if (!isWhole(text)) return
            if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text))
            text = ''
            next()
          })
        }),
    ),
  )
}

function isWhole(text) {
  const head = text.indexOf('\r\n\r\n')
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return (
    head > 0 && (length === undefined ? text.endsWith('0\r\n\r\n') && text.includes('[DONE]') : text.length >= head + 4 + Number(length))
  )
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
      const said = [...text.matchAll(/"kind":"text","text":"([^"]*)"/g)].map(([, piece]) => piece).join('')
      return said.length
    }),
  )
  return `${Math.round(performance.now() - begun)} ms for a text of 200 pieces at 2 ms; every reader got ${[...new Set(lengths)].join(' or ')} characters`
}
