// Clients that open many streams, and read them or not: memory and CPU of the server, the longest block of its event loop, and the
// slowest answer of GET /health meanwhile. Server and clients are processes of their own, on loopback.
// Usage: node bench/streams.mjs [unread|read|live|flood]
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { print, row } from './lib/rows.mjs'

const token = 'bench'
const [given] = process.argv.slice(2).filter((each) => !each.startsWith('--'))
const scenarios = {
  unread: { title: '400 readers that never read, 16 MB', megabytes: 16, run: (to) => unreadStreams(to, 400) },
  read: { title: '200 readers of 18 MB', megabytes: 18, run: (to) => readStreams(to, 200) },
  live: { title: '400 readers that never read, 16 MB arrive live', megabytes: 0, run: (to) => liveStreams(to, 400) },
  flood: { title: '100 WebSockets, 2,000 messages each', megabytes: 0, run: (to) => flood(to, 100, 2_000) },
}

async function startServer() {
  const { headendServer, listen, serverRoutes, storedTokens } = await import('../src/server/http/index.ts')
  const { restRoutes } = await import('../src/server/rest/index.ts')
  const { mcpRoutes, mcpUpgrade } = await import('../src/server/mcp/index.ts')
  const { createAgentRuntime, systemClock: clock } = await import('../src/runtime/index.ts')
  const { openStore } = await import('../src/stores/index.ts')
  const folder = mkdtempSync(join(tmpdir(), 'troupe-streams-'))
  const store = await openStore(`sqlite:${folder}`)
  const model = {
    id: 'bench/model',
    abilities: ['tools'],
    async *stream({ messages }) {
      const large = messages.at(-1).parts[0].text === 'large'
      for (let index = 0; large && index < 500; index++) {
        await new Promise((resolve) => setImmediate(resolve))
        yield { type: 'text', text: 'x'.repeat(32 * 1024) }
      }
      yield { type: 'text', text: 'Hello.' }
      yield { type: 'finish', reason: 'stop', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }
    },
  }
  const agents = [{ name: 'hello', description: 'Greets.', prompt: 'Greet.', model: 'bench/model', tools: [] }]
  const runtime = createAgentRuntime({ config: { agents }, adapter: model, store })
  const ids = { next: () => randomUUID() }
  const dependencies = { clock, ids, version: '0', audit: async () => {}, validator: { validate: () => [] }, legacyTransports: true }
  const others = [...mcpRoutes(dependencies), ...restRoutes(dependencies)]
  const server = headendServer({
    sessions: runtime.sessions,
    routes: [...serverRoutes({ version: '0', problems: () => [], metrics: () => '' }, others), ...others],
    tokens: storedTokens(store.records, { clock, localToken: token }),
    records: store.records,
    names: { hosts: ['127.0.0.1'], origins: [] },
    clock,
    ids,
    log() {},
  })
  const { port, server: http } = await listen(server, { host: '127.0.0.1', port: 0, clock })
  mcpUpgrade(http, { ...dependencies, headends: server })
  // In time of the processor: on a busy machine, waiting for it is no block.
  const spent = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let [last, block, begun] = [spent(), 0, process.cpuUsage()]
  setInterval(() => {
    const now = spent()
    block = Math.max(block, now - last)
    last = now
  }, 5)
  process.on('message', async ({ do: what, megabytes }) => {
    if (what === 'session') {
      const sessionId = await runtime.sessions.start('Hi')
      await runtime.sessions.outcome(sessionId)
      const count = await fill(store, sessionId, megabytes)
      ;[last, block, begun] = [spent(), 0, process.cpuUsage()]
      process.send({ sessionId, count })
    }
    if (what === 'figures') process.send({ block, cpu: process.cpuUsage(begun) })
    if (what === 'end') {
      rmSync(folder, { recursive: true, force: true })
      process.exit()
    }
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}

/** Adds events of 32 KB. */
async function fill({ journal }, treeId, megabytes) {
  const events = await journal.read(treeId, 0)
  const item = events.find(({ type }) => type === 'interaction.item.completed')
  const { epoch, seq } = await journal.claim(treeId, 'bench')
  let last = seq
  for (let index = 0; index < megabytes * 32; index++) {
    const event = { ...item, seq: last + 1, id: `${item.id}${index}`, filler: 'x'.repeat(32 * 1024) }
    const { ok } = await journal.append({ treeId, epoch, expectedSeq: last, events: [event] })
    if (!ok) throw new Error('not stored')
    last++
  }
  await journal.release(treeId, epoch)
  return last
}

const ask = (child, what) =>
  new Promise((resolve) => {
    child.once('message', resolve)
    child.send(what)
  })

async function measure({ title, megabytes, run }) {
  const child = fork(import.meta.filename, ['server'], { execArgv: process.execArgv })
  const { port } = await new Promise((resolve) => child.once('message', resolve))
  const { sessionId, count } = await ask(child, { do: 'session', megabytes })
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024
  const before = rss()
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, rss())
  }, 20)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const idle = new Agent({ keepAlive: true })
  let [slowest, resets, isOver] = [0, 0, false]
  const health = (using) =>
    new Promise((resolve) => {
      const started = performance.now()
      get({ port, host: '127.0.0.1', path: '/health', agent: using }, (response) =>
        response.resume().on('end', () => resolve(performance.now() - started)),
      ).on('error', () => {
        resets++
        resolve(0)
      })
    })
  await Promise.all(Array.from({ length: 50 }, () => health(idle)))
  const honest = (async () => {
    while (!isOver) {
      slowest = Math.max(slowest, await health(agent))
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  const note = await run({ port, sessionId, count, child })
  await Promise.all(Array.from({ length: 50 }, () => health(idle)))
  isOver = true
  await honest
  clearInterval(sampling)
  const { block, cpu } = await ask(child, { do: 'figures' })
  agent.destroy()
  idle.destroy()
  print(`${title}: slowest /health ${Math.round(slowest)} ms, ${resets} resets. ${note}`)
  row(`${title}: CPU`, (cpu.user + cpu.system) / 1000, 'ms')
  row(`${title}: longest block`, block, 'ms')
  row(`${title}: memory`, most - before, 'MB')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.send({ do: 'end' })
  await ended
}

const headOf = (port, path) =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`

/** A connection that sends its request and reads nothing. */
const unread = (port, path) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(headOf(port, path), () => resolve(socket)))
    socket.pause()
    socket.on('error', reject)
  })

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function unreadStreams({ port, sessionId }, readers) {
  const sockets = await Promise.all(Array.from({ length: readers }, () => unread(port, `/v1/sessions/${sessionId}/events`)))
  // In half of the time for which a reader may stand still.
  await pause(12_000)
  for (const socket of sockets) socket.on('error', () => {}).destroy()
  return ''
}

async function readStreams({ port, sessionId, count }, readers) {
  const begun = performance.now()
  const counts = await Promise.all(
    Array.from(
      { length: readers },
      () =>
        new Promise((resolve, reject) => {
          const socket = connect(port, '127.0.0.1', () => socket.write(headOf(port, `/v1/sessions/${sessionId}/events?until=turn`)))
          let [found, rest] = [0, '']
          socket.setEncoding('latin1')
          socket.on('error', reject)
          socket.on('data', (chunk) => {
            const text = rest + chunk
            found += text.split('\nid: ').length - 1
            rest = text.slice(-4)
            if (text.endsWith('0\r\n\r\n')) socket.end()
          })
          socket.on('close', () => resolve(found))
        }),
    ),
  )
  return `Every reader got ${[...new Set(counts)].join(' or ')} of ${count} events in ${Math.round(performance.now() - begun)} ms.`
}

async function liveStreams({ port, sessionId }, readers) {
  const sockets = await Promise.all(Array.from({ length: readers }, () => unread(port, `/v1/sessions/${sessionId}/events`)))
  await pause(1_000)
  await fetch(`http://127.0.0.1:${port}/v1/sessions/${sessionId}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'large', clientId: 'one' }),
  })
  await pause(12_000)
  for (const socket of sockets) socket.on('error', () => {}).destroy()
  return ''
}

async function flood({ port }, count, messages) {
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise((resolve, reject) => {
          const web = new WebSocket(`ws://127.0.0.1:${port}/mcp/ws`, 'mcp', { headers: { authorization: `Bearer ${token}` } })
          web.on('error', reject)
          web.on('open', () => resolve(web))
        }),
    ),
  )
  const begun = performance.now()
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '0' } }
  let answers = 0
  await Promise.all(
    sockets.map(
      (web) =>
        new Promise((resolve) => {
          let own = 0
          web.on('message', () => {
            answers++
            if (++own === messages) resolve()
          })
          web.on('close', resolve)
          web.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize }))
          for (let id = 1; id < messages; id++) web.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }))
        }),
    ),
  )
  for (const web of sockets) web.terminate()
  return `${answers} answers in ${Math.round(performance.now() - begun)} ms.`
}

if (given === 'server') await startServer()
else for (const name of given ? [given] : Object.keys(scenarios)) await measure(scenarios[name])
