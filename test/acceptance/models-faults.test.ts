/* Issue 3, Bad input: what servers do wrong, over real HTTP, in each wire format. Always a typed failure with a remedy. */
// biome-ignore-all lint/complexity/useMaxParams: the columns of a table of cases
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AgentLimits, createAgentRuntime, type ModelPart, type Tool } from '../../src/index.ts'
import { modelAdapter } from '../../src/models/index.ts'
import { FakeClock, gatedServer } from '../../src/testing/index.ts'
import { bounded, elapsing, settle, until } from './support.ts'
import { type Answer, optionsFor, provider, type Reply, reply, type Said, type Wire, wires } from './wire.ts'

const executed: unknown[] = []
const act: Tool = {
  name: 'act',
  description: 'Acts.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: (input) => {
    executed.push(input)
    return 'acted'
  },
}
function runtimeOn(wire: Wire, url: string, limits: Partial<AgentLimits> = { maxRetries: 0 }, clock = new FakeClock()) {
  const runtime = createAgentRuntime({
    clock,
    adapter: modelAdapter({ ...optionsFor(wire, url), clock }),
    config: { agents: [{ name: 'clerk', description: 'd', prompt: 'You act.', model: wire.model, limits }], tools: [act] },
  })
  onTestFinished(() => runtime.close())
  return runtime
}
/** One attempt against one reply. */
async function once(wire: Wire, answer: Reply) {
  const server = await provider(answer)
  executed.length = 0
  const outcome = await bounded(runtimeOn(wire, server.url).run('go'), 'the run')
  return { outcome, server, failure: outcome.failure }
}
const json = { 'content-type': 'application/json' }
const callSaid: Said = { text: 'Let me act.', calls: [{ id: 'call_a', name: 'act', input: { word: 'København', reason: 'for a reason' } }] }

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (_, wire) => {
  const failing = (status: number, headers: Answer['headers'] = {}, kind?: string): Answer => ({
    status,
    headers: { ...json, ...headers },
    body: wire.error(status, `status ${status}`, kind),
  })
  test.each([
    [400, 'config|model'],
    [401, 'auth'],
    [403, 'auth'],
    [404, 'config|model'],
    [408, 'timeout|network|model'],
    [413, 'context'],
    [429, 'rate_limit'],
    [500, 'model|network'],
    [502, 'model|network'],
    [503, 'model|network|rate_limit'],
    [529, 'model|network|rate_limit'],
  ])('status %i is a typed failure with a remedy', async (status, classes) => {
    const { outcome, failure } = await once(wire, failing(status))
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringMatching(/model|config/) })
    expect(failure?.class).toMatch(new RegExp(`^(${classes})$`))
    expect(failure?.message).toContain(`status ${status}`)
    expect(failure?.remedy ?? outcome.remedy).toMatch(/\w+/)
  })
  test('429 says how long to wait: seconds, milliseconds, a date', async () => {
    const clock = new FakeClock()
    for (const [headers, expected] of [
      [{ 'retry-after': '7' }, 7000],
      [{ 'retry-after': '0.5' }, 500],
      [{ 'retry-after-ms': '1250' }, 1250],
      [{ 'retry-after': new Date(clock.now() + 9000).toUTCString() }, 9000],
    ] as const) {
      const { failure } = await once(wire, failing(429, headers))
      expect(failure?.class).toBe('rate_limit')
      expect(failure?.retryAfterMs, JSON.stringify(headers)).toBeGreaterThan(expected - 1001)
      expect(failure?.retryAfterMs, JSON.stringify(headers)).toBeLessThanOrEqual(expected)
    }
  })
  test.each(['soon', '-5', '', 'NaN', '1e400', 'Thu, 32 Foo 2026', 'Mon, 01 Jan 1990 00:00:00 GMT'])(
    'Retry-After %j is no delay',
    async (value) => {
      const { failure } = await once(wire, failing(429, { 'retry-after': value }))
      expect(failure?.class).toBe('rate_limit')
      expect(failure?.retryAfterMs ?? 0).toBe(0)
    },
  )
  test('a delay that a server asks for is kept on the clock, then the answer comes', async () => {
    const server = await provider(failing(429, { 'retry-after': '20' }), reply(wire, { text: 'Hello.' }))
    const clock = new FakeClock()
    const running = runtimeOn(wire, server.url, { maxRetries: 1 }, clock).run('go')
    await until('it waits', () => server.asked.length === 1 && clock.pending > 0)
    await settle(20)
    await clock.elapse(19_000)
    expect(server.asked).toHaveLength(1)
    await clock.elapse(4000)
    expect(await bounded(running)).toMatchObject({ status: 'completed', report: { text: 'Hello.' } })
  })
  test('quota is told from a rate limit, and not tried again', async () => {
    const kinds = { 'OpenAI chat': 'insufficient_quota', 'OpenAI responses': 'insufficient_quota', 'Anthropic messages': 'billing_error' }
    const kind = kinds[wire.name as keyof typeof kinds]
    const server = await provider(kind === 'insufficient_quota' ? failing(429, {}, kind) : failing(402, {}, kind))
    const outcome = await bounded(runtimeOn(wire, server.url, { maxRetries: 3 }).run('go'))
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'quota', remedy: expect.any(String) } })
    expect(server.asked).toHaveLength(1)
  })
  test('a web page instead of JSON, good or bad status, is told apart and not shown as markup', async () => {
    const page = '<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Corporate gateway</h1></body></html>'
    for (const status of [200, 403, 502]) {
      const { outcome, failure } = await once(wire, { status, headers: { 'content-type': 'text/html' }, body: page })
      expect(outcome.status).toBe('failed')
      expect(failure?.remedy ?? outcome.remedy).toMatch(/\w+/)
      expect(failure?.message).not.toContain('<h1>')
    }
  })
  test('plain JSON where a stream was asked for is no answer', async () => {
    const { outcome } = await once(wire, { headers: json, body: JSON.stringify({ hello: 'world' }) })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', remedy: expect.any(String) } })
  })
  test('an empty reply is no answer', async () => {
    for (const body of ['', '\n\n', ': ping\n\n', 'data: [DONE]\n\n']) {
      const { outcome } = await once(wire, { body })
      expect(outcome.status, JSON.stringify(body)).toBe('failed')
      expect(outcome.failure?.class).toMatch(/invalid_response|network/)
    }
  })
  test('a reply of wrong types is no answer, and runs nothing', async () => {
    const wrong = [
      'data: 42\n\n',
      'data: null\n\n',
      'data: []\n\n',
      'data: {"choices":"x","type":5,"candidates":7}\n\n',
      'data: {broken\n\n',
    ]
    for (const body of wrong) {
      const { outcome } = await once(wire, { body: body + wire.events(callSaid).list.join('') })
      expect(outcome.status, body).toBe('failed')
      expect(outcome.failure?.class, body).toMatch(/invalid_response|model|network/)
      expect(executed, body).toEqual([])
    }
  })
  test('an error in the middle of a stream ends the attempt', async () => {
    const { list, end } = wire.events(callSaid)
    const error = JSON.parse(wire.error(500, 'overloaded midway', 'overloaded_error'))
    const middle =
      wire.name === 'OpenAI responses' ? { type: 'error', code: 'server_error', message: 'overloaded midway', sequence_number: 9 } : error
    const sent = `${middle.type ? `event: ${middle.type}\n` : ''}data: ${JSON.stringify(middle)}\n\n`
    const { outcome } = await once(wire, { body: [...list.slice(0, end), sent, ...list.slice(end)].join('') })
    expect(outcome.status).toBe('failed')
    expect(JSON.stringify(outcome.failure)).toContain('overloaded midway')
    expect(executed).toEqual([])
  })
  test('a redirect is not followed: the key stays where it belongs', async () => {
    const elsewhere = await provider(reply(wire, { text: 'Gotcha.' }))
    for (const status of [301, 302, 307, 308]) {
      const { outcome, failure } = await once(wire, { status, headers: { location: `${elsewhere.url}${wire.path}` } })
      expect(outcome.status).toBe('failed')
      expect(failure?.remedy ?? outcome.remedy).toMatch(/\w+/)
    }
    expect(elsewhere.asked).toEqual([])
  })
  test('cut at every event boundary: no call runs before the reply has said that it has ended', async () => {
    const { list, end } = wire.events(callSaid)
    const cutting = await cutter(wire)
    for (let n = 0; n < list.length; n += 1)
      for (const cut of [true, false]) await cutting({ body: list.slice(0, n).join(''), cut }, n <= end, `${n} of ${list.length}`)
  })
  test('cut at every seventh byte: no call runs before the reply has said that it has ended', async () => {
    const { list, end } = wire.events(callSaid)
    const bytes = Buffer.from(list.join(''))
    const whole = Buffer.from(list.slice(0, end + 1).join('')).length - 2
    const cutting = await cutter(wire)
    for (let n = 0; n < bytes.length; n += 7)
      await cutting({ body: bytes.subarray(0, n) as never, cut: n % 2 === 0 }, n < whole, `${n} of ${bytes.length} bytes`)
  }, 30_000)
  test('silence before the first byte ends with llmTimeout, and the connection is left', async () => {
    const server = await provider(() => undefined)
    const clock = new FakeClock()
    const running = runtimeOn(wire, server.url, { maxRetries: 0, llmTimeout: 30_000 }, clock).run('go')
    await until('it is asked', () => server.asked.length === 1)
    expect(await elapsing(clock, running)).toMatchObject({ status: 'failed', failure: { class: 'timeout', remedy: expect.any(String) } })
    await bounded(server.left, 'the client leaves')
  })
  test('silence within a reply ends with idleTimeout, and the connection is left', async () => {
    const server = await gatedServer()
    onTestFinished(() => server.close())
    const { list } = wire.events({ text: 'Well, well.' })
    const half = list.findIndex((each) => each.includes('Well,')) + 1
    const exchange = server.reply({ chunks: list.slice(0, half), ending: 'silence' })
    const clock = new FakeClock()
    const handle = runtimeOn(wire, server.url, { maxRetries: 0, llmTimeout: 600_000, idleTimeout: 10_000 }, clock).stream('go')
    for await (const event of handle) if (event.type === 'interaction.item.delta') break
    const outcome = await elapsing(clock, handle.outcome, [1000, 30])
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(await bounded(exchange.over)).toBe('left')
  })
  test('an endless stream ends with replyTimeout, and the connection is left', async () => {
    const server = await gatedServer()
    onTestFinished(() => server.close())
    const { list } = wire.events({ text: 'Well, well.' })
    const index = list.findIndex((each) => each.includes('Well,'))
    const exchange = server.reply({ chunks: list.slice(0, index), ending: { repeat: list[index] as string, mostBytes: 2 ** 30 } })
    const clock = new FakeClock()
    const handle = runtimeOn(wire, server.url, { maxRetries: 0, replyTimeout: 10_000 }, clock).stream('go')
    let seen = 0
    for await (const event of handle) {
      if (event.type === 'interaction.item.delta') seen += 1
      if (seen === 50) break
    }
    const outcome = await elapsing(clock, handle.outcome, [10_000, 30])
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(await bounded(exchange.over)).toBe('left')
  })
  test('an event without an end is given up before it fills the memory', async () => {
    const server = await gatedServer()
    onTestFinished(() => server.close())
    const exchange = server.reply({ chunks: ['data: "'], ending: { repeat: 'x'.repeat(65_536), mostBytes: 2 ** 29 } })
    const outcome = await bounded(runtimeOn(wire, server.url).run('go'), 'the run', 50_000)
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', remedy: expect.any(String) } })
    expect(await bounded(exchange.over)).toBe('left')
    expect(exchange.bytesSent).toBeLessThan(2 ** 27)
  })
})

async function cutter(wire: Wire) {
  let next: Answer | undefined
  const server = await provider(() => {
    const answer = next ?? reply(wire, { text: 'Done.' })
    next = undefined
    return answer
  })
  const runtime = runtimeOn(wire, server.url)
  return async (answer: Answer, early: boolean, where: string): Promise<void> => {
    next = answer
    executed.length = 0
    const outcome = await bounded(runtime.run('go'), where)
    if (early) {
      expect(executed, `${where}: ran from a partial call`).toEqual([])
      expect(outcome.status, where).toBe('failed')
      expect(outcome.failure?.class, where).toMatch(/network|invalid_response/)
    } else if (executed.length > 0) expect(executed, where).toEqual([{ word: 'København' }])
  }
}

describe('no way to the server', () => {
  const failureAt = async (baseURL: string) => {
    const adapter = modelAdapter({ variables: {}, providers: { lab: { baseURL } } })
    const model = await adapter.resolve('lab/tiny-1')
    const request = {
      system: 's',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
      tools: [],
      toolChoice: 'auto',
      parameters: {},
    }
    const list: ModelPart[] = []
    const reading = (async () => {
      for await (const part of model.stream(request as never, { signal: AbortSignal.timeout(8000) })) list.push(part)
    })()
    await bounded(reading, 'the attempt', 30_000)
    const last = list.at(-1)
    return last?.type === 'error' ? last.failure : expect.unreachable(JSON.stringify(list))
  }
  const listening = async (serve: Parameters<typeof createServer>[1]) => {
    const server = createServer(serve as never)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return (server.address() as { port: number }).port
  }
  test('nobody listens: class network, with the address and a remedy', async () => {
    const port = await listening(() => undefined)
    const free = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, '127.0.0.1', () => {
        const { port: found } = probe.address() as { port: number }
        probe.close(() => resolve(found))
      })
    })
    expect(port).not.toBe(free)
    const failure = await failureAt(`http://127.0.0.1:${free}/v1`)
    expect(failure).toMatchObject({ class: 'network', remedy: expect.any(String) })
    expect(`${failure.message} ${failure.remedy}`).toContain(String(free))
  })
  test('no such host: class network, with the name and a remedy', async () => {
    const failure = await failureAt('http://no-such-host.invalid/v1')
    expect(failure).toMatchObject({ class: 'network', remedy: expect.any(String) })
    expect(`${failure.message} ${failure.remedy}`).toContain('no-such-host.invalid')
  })
  test('no TLS where it was asked for: class network, with a remedy', async () => {
    const port = await listening((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await failureAt(`https://127.0.0.1:${port}/v1`)).toMatchObject({ class: 'network', remedy: expect.any(String) })
  })
  test('a connection that is reset before an answer: class network, with a remedy', async () => {
    const port = await listening((socket) => socket.destroy())
    expect(await failureAt(`http://127.0.0.1:${port}/v1`)).toMatchObject({ class: 'network', remedy: expect.any(String) })
  })
})
