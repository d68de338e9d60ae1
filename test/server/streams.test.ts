import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { type DriverId, type InteractionEvent, localPrincipal, type Store, type TreeId, TroupeError } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { revokeToken } from '../../src/server/http/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { jsonWeight } from '../../src/util/json-weight.ts'
import { mcpScene, type Scene } from './mcp-scene.ts'
import { collectSse, sseEvents } from './sse.ts'
import { localToken, type Served, serve } from './support.ts'

// Many streams, and readers that do not read. Figures of memory and time: bench/streams.mjs.

const sse = { accept: 'text/event-stream' }
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const accept = { accept: 'application/json, text/event-stream' }

/** A store that counts what is read from its journals. */
async function countingStore() {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-streams-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const store = await openStore(`sqlite:${folder}`)
  const counts = { reads: 0, bytes: 0 }
  const read: Store['journal']['read'] = async (...given) => {
    const events = await store.journal.read(...given)
    counts.reads++
    counts.bytes += jsonWeight(events)
    return events
  }
  return { counts, store: { ...store, journal: { ...store.journal, read }, close: () => store.close() } }
}

/** A session with many events of 32 KB. Returns its id and its last `seq`. */
async function longSession({ runtime, store }: Served, megabytes: number): Promise<{ readonly id: string; readonly last: number }> {
  const id = await runtime.sessions.start('Hi', { principal: localPrincipal })
  await runtime.sessions.outcome(id)
  const treeId = id as string as TreeId
  const events = await store.journal.read(treeId, 0)
  const claim = await store.journal.claim(treeId, 'test' as DriverId)
  if (!claim.ok) throw new Error('The session is still driven.')
  let last = claim.seq
  for (let index = 0; index < megabytes * 32; index++) {
    const diagnostic = { code: 'message_invalid', severity: 'info', message: 'x'.repeat(32 * 1024) }
    const event = { ...events.at(-1), type: 'interaction.diagnostic', seq: last + 1, diagnostic } as InteractionEvent
    await store.journal.append({ treeId, epoch: claim.epoch, expectedSeq: last++, events: [event] })
  }
  await store.journal.release(treeId, claim.epoch)
  return { id, last }
}

/** A client that sends a request and reads nothing, until `rest`. */
async function unread({ url }: Served, path: string) {
  const { host, hostname, port } = new URL(url)
  const socket = await new Promise<Socket>((resolve) => {
    const opened = connect(Number(port), hostname, () => resolve(opened))
  })
  onTestFinished(() => void socket.destroy())
  socket
    .pause()
    .write(
      `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${localToken}\r\naccept: text/event-stream\r\nconnection: close\r\n\r\n`,
    )
  return {
    /** The ids of all events until the connection ends. */
    async rest(): Promise<readonly number[]> {
      const ids: number[] = []
      let incomplete = ''
      socket.on('error', () => {}).setEncoding('latin1')
      socket.on('data', (chunk) => {
        const blocks = (incomplete + chunk).split('\n\n')
        incomplete = blocks.pop() ?? ''
        for (const block of blocks) ids.push(...(/^id: (\d+)$/m.exec(block)?.slice(1).map(Number) ?? []))
      })
      if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve).resume())
      return ids
    },
  }
}

const upTo = (last: number, after = 0): readonly number[] => Array.from({ length: last - after }, (_, index) => after + index + 1)

test('readers of one session share what is read: it is read and parsed once, and readers that do not read keep little', async () => {
  const { counts, store } = await countingStore()
  const served = await serve({ store })
  onTestFinished(() => served.close())
  const { id, last } = await longSession(served, 12)
  Object.assign(counts, { reads: 0, bytes: 0 })
  const readers = await Promise.all(Array.from({ length: 20 }, () => unread(served, `/v1/sessions/${id}/events?until=turn`)))
  const { streams } = served.headends
  await expect.poll(() => [streams.size, streams.unacceptedBytes > 0], { timeout: 20_000 }).toEqual([20, true])
  expect(streams.unacceptedBytes).toBeLessThan(2 * 1024 ** 2)
  expect(counts.bytes).toBeLessThan(13 * 1024 ** 2)
  for (const ids of await Promise.all(readers.map((reader) => reader.rest()))) expect(ids).toEqual(upTo(last))
  expect(counts.bytes).toBeLessThan(13 * 1024 ** 2)
  // About 100 pages. At the end, each reader looks for more.
  expect(counts.reads).toBeLessThan(100 + 20 * 4)
  // Readers that begin in the middle of a page use it.
  Object.assign(counts, { reads: 0, bytes: 0 })
  for (const after of [101, 102, 103, 104]) {
    const response = await served.fetch(`/v1/sessions/${id}/events?until=turn&after=${after}`, { headers: sse })
    expect((await collectSse(response)).map((event) => Number(event.id))).toEqual(upTo(last, after))
  }
  expect(counts.bytes).toBeLessThan(64 * 1024)
})

test('a reader that does not read is closed, and continues from its cursor without a loss or a repetition', async () => {
  const clock = new FakeClock()
  const served = await serve({ clock })
  onTestFinished(() => served.close())
  const { id, last } = await longSession(served, 12)
  const path = `/v1/sessions/${id}/events?until=turn`
  const slow = await unread(served, path)
  const { streams } = served.headends
  await expect.poll(() => streams.unacceptedBytes, { timeout: 10_000 }).toBeGreaterThan(0)
  await clock.elapse(33_000)
  expect(streams.size).toBe(0)
  const first = await slow.rest()
  expect(first.length).toBeGreaterThan(0)
  expect(first.length).toBeLessThan(last)
  const response = await served.fetch(path, { headers: { ...sse, 'last-event-id': String(first.at(-1)) } })
  const others = (await collectSse(response)).map((event) => Number(event.id))
  expect([...first, ...others]).toEqual(upTo(last))
})

test('a reader that falls behind a running turn reads the journal again: it loses no durable event', async () => {
  const served = await serve()
  onTestFinished(() => served.close())
  const { sessions } = served.runtime
  const words = Array.from({ length: 3_000 }, (_, index) => `w${index}`).join(' ')
  const id = await sessions.start(words)
  const reader = sessions.events(id, { until: 'turn' })[Symbol.asyncIterator]()
  const read = [(await reader.next()).value]
  const { report } = await sessions.outcome(id)
  expect(report?.text).toBe(words)
  for (let next = await reader.next(); !next.done; next = await reader.next()) read.push(next.value)
  const { seq = 0 } = (await sessions.get(id)) ?? {}
  expect(read.flatMap((event) => (event && 'seq' in event ? [event.seq] : []))).toEqual(upTo(seq))
  // Its queue was dropped.
  expect(read.length).toBeLessThan(1_100)
})

test('a stream that fails ends with the error in the form of its protocol, as its caller may see it', async () => {
  let failure: Error = new TroupeError('store_failed', 'Cannot read /srv/app/data.')
  const store = memoryStore()
  const dependencies = { clock: systemClock, ids: { next: () => randomUUID() }, records: store.records }
  const served = await serve({
    store,
    routes({ sessions }) {
      const { events } = sessions
      Object.assign(sessions, {
        async *events(...given: Parameters<typeof events>) {
          for await (const event of events(...given)) {
            yield event
            if (event.type === 'interaction.item.delta') throw failure
          }
        },
      })
      return [...openaiRoutes(dependencies), ...anthropicRoutes(dependencies)]
    },
    server: { hiddenFolders: { '<workspace>': '/srv/app' } },
  })
  onTestFinished(() => served.close())
  const messages = [{ role: 'user', content: 'one two three' }]
  const last = (token: string) =>
    Promise.all(
      [
        ['/v1/echo', { input: 'one two three' }],
        ['/v1/chat/completions', { model: 'echo', messages, stream: true }],
        ['/v1/responses', { model: 'echo', input: 'one two three', stream: true }],
        ['/v1/messages', { model: 'echo', messages, max_tokens: 100, stream: true }],
      ].map(async ([path, json]) => {
        const { event, data = '{}' } = (await collectSse(await served.fetch(path as string, { token, json, headers: sse }))).at(-1) ?? {}
        return { event, ...(JSON.parse(data) as object) }
      }),
    )
  const forms = (message: unknown, more: object = {}) => [
    { event: 'error', error: { message, ...more } },
    { event: 'message', error: { message, ...more } },
    { event: 'error', type: 'error', sequence_number: expect.any(Number), message, error: { message, ...more } },
    { event: 'error', type: 'error', error: { message } },
  ]
  const guest = await served.token({ name: 'guest' })
  expect(await last(guest)).toMatchObject(forms('Cannot read <workspace>/data.', { code: 'store_failed' }))
  expect(await last(localToken)).toMatchObject(forms('Cannot read /srv/app/data.', { code: 'store_failed' }))
  expect(served.errors).toEqual([])
  expect(served.log.at(-1)).toMatchObject({ status: 200, error: 'store_failed' })
  // Unexpected errors are reported, and not shown.
  failure = new Error('anything')
  expect(await last(guest)).toMatchObject(forms('The server failed to answer this request.'))
  expect(served.errors).toEqual([failure, failure, failure, failure])
})

test('pages of JSON are limited by bytes', async () => {
  const served = await serve()
  onTestFinished(() => served.close())
  const { id, last } = await longSession(served, 3)
  const seqs: number[] = []
  let pages = 0
  for (let next: number | undefined = 0; next !== undefined; pages++) {
    const response = await served.fetch(`/v1/sessions/${id}/events?after=${next}`)
    const page = (await response.json()) as { events: { seq: number }[]; next?: number }
    seqs.push(...page.events.map(({ seq }) => seq))
    next = page.next
  }
  expect([seqs, pages]).toEqual([upTo(last), 3])
})

test('streams are limited for each token and for the process, and requests are answered', async () => {
  const scene = await mcpScene({ server: { streams: { total: 5, perToken: 3 } }, mcp: { legacyTransports: true } })
  const [one, two] = [await scene.token({ name: 'one' }), await scene.token({ name: 'two' })]
  const open: AbortController[] = []
  const watch = async (token: string): Promise<Response> => {
    const leaving = new AbortController()
    const response = await scene.fetch('/v1/watch', { token, headers: sse, signal: leaving.signal })
    if (response.ok) open.push(leaving)
    return response
  }
  for (let count = 0; count < 3; count++) expect((await watch(one)).status).toBe(200)
  const refused = await watch(one)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_streams', message: expect.stringContaining('This token has 3') } })
  // In the form of each protocol, and before a WebSocket is opened.
  const mcp = await scene.fetch('/mcp/sse', { token: one, headers: sse })
  expect([mcp.status, await mcp.json()]).toMatchObject([429, { jsonrpc: '2.0', error: { data: { code: 'too_many_streams' } } }])
  expect(await upgradeStatus(scene, one)).toBe(429)
  for (let count = 0; count < 2; count++) expect((await watch(two)).status).toBe(200)
  const full = await watch(two)
  expect([full.status, await full.json()]).toMatchObject([429, { error: { message: expect.stringContaining('The server has 5') } }])
  for (const path of ['/health', '/ready', '/v1/sessions', '/v1/echo?q=hello'])
    expect([path, (await scene.fetch(path, { token: one })).status]).toEqual([path, 200])
  // The answer of a turn has a place of its own kind.
  const answer = await scene.fetch('/v1/echo', { token: one, json: { input: 'hello' }, headers: sse })
  expect((await collectSse(answer)).at(-1)).toMatchObject({ event: 'outcome' })
  open[0]?.abort()
  await expect.poll(async () => (await watch(one)).status).toBe(200)
})

const upgradeStatus = (scene: Scene, token: string): Promise<number | undefined> =>
  new Promise((resolve) =>
    socketOf(scene, token)
      .on('unexpected-response', (_, { statusCode }) => resolve(statusCode))
      .on('error', () => {}),
  )

function socketOf({ url }: Scene, token: string): WebSocket {
  const web = new WebSocket(`${url.replace('http', 'ws')}/mcp/ws`, 'mcp', { headers: { authorization: `Bearer ${token}` } })
  onTestFinished(() => web.terminate())
  return web
}

test.each(['revoked', 'expired'])('a token that is %s loses its streams of every protocol within a second', async (how) => {
  const scene = await mcpScene({ mcp: { legacyTransports: true } })
  const expires = how === 'expired' && { expiresAt: Date.now() + 1_500 }
  const token = await scene.token({ name: 'guest', ...expires })
  const session = await scene.fetch('/mcp', { token, json: initialize, headers: accept })
  await session.text()
  const started = await scene.fetch('/v1/sessions', { token, json: { agent: 'echo', input: 'x' } })
  const { sessionId } = (await started.json()) as { sessionId: string }
  const streams = await Promise.all(
    [
      ['/v1/watch', {}],
      [`/v1/sessions/${sessionId}/events`, {}],
      ['/mcp', { 'mcp-session-id': session.headers.get('mcp-session-id') ?? '' }],
      ['/mcp/sse', {}],
    ].map(([path, headers]) => scene.fetch(path as string, { token, headers: { ...sse, ...(headers as object) } })),
  )
  // The answer of a turn: it is interrupted, as if its client had left.
  const turn = await scene.fetch('/v1/worker', { token, json: { input: 'call hold' }, headers: sse })
  await scene.nextHeld()
  const other = await scene.fetch('/v1/watch', { headers: sse })
  const web = socketOf(scene, token)
  await new Promise((resolve) => web.once('open', resolve))
  const closed = new Promise<readonly [number, string]>((resolve) => web.once('close', (code, reason) => resolve([code, String(reason)])))
  const ended = Promise.all([...streams, turn].map(async (response) => (await collectSse(response)).at(-1)))
  if (!expires) await revokeToken(scene.store.records, 'guest')
  const since = expires ? expires.expiresAt : Date.now()
  const last = await ended
  expect(await closed).toEqual([1008, 'The token was revoked or has expired.'])
  const ms = Date.now() - since
  console.log(`streams of a token that is ${how} ended after ${ms} ms`)
  expect(ms).toBeLessThan(1_000)
  expect(last).toEqual(last.map(() => ({ event: 'error', data: expect.stringContaining('token_revoked') })))
  expect(await scene.runtime.sessions.outcome(turn.headers.get('x-session-id') ?? '')).toMatchObject({ status: 'interrupted' })
  // Others go on.
  const next = sseEvents(other)
  await scene.fetch('/v1/sessions', { json: { agent: 'echo', input: 'x' } })
  expect((await next.next()).value).toMatchObject({ event: 'session.changed' })
  await next.return(undefined)
})

test('a flood of WebSocket messages does not hold up others, and every message is answered in order', async () => {
  const scene = await mcpScene()
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  await health(scene, agent)
  const [sockets, messages] = [20, 300]
  let answers = 0
  const webs = await Promise.all(
    Array.from({ length: sockets }, async () => {
      const web = socketOf(scene, localToken)
      await new Promise((resolve) => web.once('open', resolve))
      return web
    }),
  )
  const answered = webs.map(
    (web) =>
      new Promise<readonly number[]>((resolve) => {
        const ids: number[] = []
        web.on('message', (data) => {
          answers++
          ids.push((JSON.parse(String(data)) as { id: number }).id)
          if (ids.length === messages) resolve(ids)
        })
      }),
  )
  for (const web of webs) {
    web.send(JSON.stringify(initialize))
    for (let id = 2; id <= messages; id++) web.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }))
  }
  // On connections that were idle, while messages are handled.
  const statuses: (number | undefined)[] = []
  for (let count = 0; count < 5; count++) statuses.push(await health(scene, agent))
  expect([statuses, answers < (sockets * messages) / 2]).toEqual([[200, 200, 200, 200, 200], true])
  for (const ids of await Promise.all(answered)) expect(ids).toEqual(upTo(messages))
})

test('a WebSocket with too many requests in progress refuses further ones, and goes on', async () => {
  const scene = await mcpScene()
  const web = socketOf(scene, localToken)
  await new Promise((resolve) => web.once('open', resolve))
  const answers: { id: number; error?: { message: string; data?: { code: string } } }[] = []
  web.on('message', (data) => answers.push(JSON.parse(String(data))))
  web.send(JSON.stringify(initialize))
  await expect.poll(() => answers.length).toBe(1)
  const call = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'worker', arguments: { prompt: 'call hold' } },
  })
  for (let id = 2; id <= 102; id++) web.send(JSON.stringify(call(id)))
  await expect.poll(() => answers.at(-1)).toMatchObject({ id: 102, error: { data: { code: 'rate_limited' } } })
  // Calls that are cancelled get no answer, and count no longer.
  for (let id = 2; id <= 101; id++)
    web.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }))
  web.send(JSON.stringify({ jsonrpc: '2.0', id: 103, method: 'ping' }))
  await expect.poll(() => answers.at(-1)).toEqual({ jsonrpc: '2.0', id: 103, result: {} })
})

test.each([
  ['/mcp/ws', 1],
  ['/mcp/sse', 4],
])('messages that a client of %s does not read are counted, and it is closed', async (path, megabytes) => {
  const clock = new FakeClock()
  const scene = await mcpScene({ clock })
  const { id } = await longSession(scene, 3)
  const uri = `session://${id}/events`
  const messages = [initialize, ...[2, 3, 4, 5].map((each) => ({ jsonrpc: '2.0', id: each, method: 'resources/read', params: { uri } }))]
  if (path === '/mcp/ws') {
    const web = socketOf(scene, localToken)
    await new Promise((resolve) => web.once('open', resolve))
    web.pause()
    for (const message of messages) web.send(JSON.stringify(message))
  } else {
    const reader = (await scene.fetch(path, { headers: sse })).body?.getReader()
    onTestFinished(() => void reader?.cancel().catch(() => {}))
    const address = /data: (\S+)/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1] ?? ''
    for (const message of messages) await scene.fetch(address, { json: message })
  }
  const { streams } = scene.headends
  await expect.poll(() => streams.unacceptedBytes, { timeout: 10_000 }).toBeGreaterThan(megabytes * 1024 ** 2)
  await clock.elapse(33_000)
  expect([streams.size, streams.unacceptedBytes]).toEqual([0, 0])
})

const health = ({ url }: Pick<Scene, 'url'>, agent: Agent): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(`${url}/health`, { agent }, (response) => response.resume().on('end', () => resolve(response.statusCode))).on('error', reject)
  })

test('connections that are idle stay open longer than announced, and make room when there are too many', async () => {
  const served = await serve({ listen: { maxConnections: 20 } })
  onTestFinished(() => served.close())
  const headersOf = (agent: Agent) =>
    new Promise<NodeJS.Dict<string | string[]>>((resolve, reject) => {
      get(`${served.url}/health`, { agent }, (response) => response.resume().on('end', () => resolve(response.headers))).on('error', reject)
    })
  const agents = Array.from({ length: 18 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  onTestFinished(() => {
    for (const agent of agents) agent.destroy()
  })
  const headers = []
  for (const agent of agents) headers.push(await headersOf(agent))
  const announced = Number(/timeout=(\d+)/.exec(String(headers[0]?.['keep-alive']))?.[1]) * 1_000
  // 60 seconds are common for proxies.
  expect(announced).toBeGreaterThan(60_000)
  expect(served.http.keepAliveTimeout + served.http.keepAliveTimeoutBuffer).toBeGreaterThanOrEqual(announced + 10_000)
  // Beyond 16 connections, responses say that theirs will be closed.
  expect(headers.map(({ connection }) => connection)).toEqual([...Array(16).fill('keep-alive'), 'close', 'close'])
  // Connections that send nothing take the rest: those that are idle are closed, and others are answered.
  for (let count = 0; count < 6; count++) await unread(served, '/health')
  const other = new Agent()
  expect(await health(served, other)).toBe(200)
  for (const agent of agents) expect((await headersOf(agent)).connection).toBeDefined()
})

test('connections that never send a request make room for those that do', async () => {
  const served = await serve({ listen: { maxConnections: 20 } })
  onTestFinished(() => served.close())
  const silent = Array.from({ length: 60 }, () => connect(Number(new URL(served.url).port), '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    for (const socket of silent) socket.destroy()
  })
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  expect(await health(served, new Agent())).toBe(200)
})
