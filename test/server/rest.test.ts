import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { localPrincipal, type Tool } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { FakeClock, gate, ScriptedModel } from '../../src/testing/index.ts'
import { request } from './raw-request.ts'
import { collectSse, sseEvents } from './sse.ts'
import { echoModel, localToken, type Served, type ServedOptions, serve } from './support.ts'

let open: Served[] = []
afterEach(async () => {
  for (const served of open) await served.close()
  open = []
})
async function server(options?: ServedOptions): Promise<Served> {
  const served = await serve(options)
  open.push(served)
  return served
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of the server, which the tests check.
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json()

const agent = { name: 'helper', description: 'Helps.', prompt: 'Help.', model: 'scripted/model', tools: ['*'] }
const deleting: Tool = {
  name: 'delete_file',
  description: 'Deletes a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  approval: () => ({ summary: 'Delete a.txt', keys: [{ key: 'path:a.txt', label: 'a.txt' }] }),
  execute: () => 'deleted',
}

describe('one answer', () => {
  test('GET /v1/:agent?q= and POST /v1/:agent give the answer, its usage and its session', async () => {
    const { fetch } = await server()
    const expected = {
      sessionId: expect.any(String),
      status: 'completed',
      text: 'good morning',
      format: 'markdown',
      usage: { input: 10, output: 5 },
    }
    expect(await json(fetch('/v1/echo?q=good%20morning'))).toMatchObject(expected)
    expect(await json(fetch('/v1/echo', { json: { input: 'good morning' } }))).toMatchObject(expected)
    const text = await fetch('/v1/echo?q=good%20morning', { headers: { accept: 'text/plain' } })
    expect([text.headers.get('content-type'), await text.text()]).toEqual(['text/plain; charset=utf-8', 'good morning'])
  })

  test('history, instructions, limits and labels reach the session', async () => {
    const model = new ScriptedModel([{ text: 'Blue.' }])
    const { fetch, runtime } = await server({ model, agents: [{ ...agent, tools: [] }] })
    const answer = await json(
      fetch('/v1/helper', {
        json: {
          input: 'Which colour did I name?',
          history: [
            { role: 'user', content: 'My colour is blue.' },
            { role: 'assistant', content: 'Noted.' },
          ],
          instructions: 'Answer in one word.',
          limits: { maxToolTurns: 2 },
          labels: ['demo'],
        },
      }),
    )
    expect(answer).toMatchObject({ text: 'Blue.' })
    expect(model.requests[0]?.system).toContain('Answer in one word.')
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(await runtime.sessions.get(answer.sessionId)).toMatchObject({ owner: 'local', labels: ['demo'] })
  })

  test('a request can forbid any cost, as an agent file can', async () => {
    const priced = Object.assign(new ScriptedModel([{ text: 'Blue.' }]), { costOf: () => 1 })
    const { fetch } = await server({ model: priced, agents: [{ ...agent, tools: [] }] })
    const answer = await json(fetch('/v1/helper', { json: { input: 'x', limits: { maxCostUsd: 0 } } }))
    expect(answer).toMatchObject({ error: { code: 'turn_failed', reason: 'cost' } })
    expect(priced.requests).toEqual([])
    expect(await json(fetch('/v1/helper', { json: { input: 'x', limits: { maxCostUsd: -1 } } }))).toMatchObject({
      error: { code: 'invalid_request', parameter: 'limits.maxCostUsd' },
    })
  })

  test('format=json needs a schema of the caller or of the agent, and gives a value', async () => {
    const { fetch } = await server({ model: [{ text: '{"city":"Oslo"}' }], agents: [{ ...agent, tools: [] }] })
    expect(await json(fetch('/v1/helper?q=x&format=json'))).toMatchObject({ error: { code: 'invalid_request', parameter: 'schema' } })
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    expect(await json(fetch('/v1/helper', { json: { input: 'x', format: 'json', schema } }))).toMatchObject({
      format: 'json',
      value: { city: 'Oslo' },
    })
  })

  test('a stream has every durable event with its seq as id, the text in pieces, and the outcome', async () => {
    const { fetch, runtime } = await server()
    const events = await collectSse(await fetch('/v1/echo', { json: { input: 'one two three' }, headers: { accept: 'text/event-stream' } }))
    const outcome = JSON.parse(events.at(-1)?.data ?? '')
    expect([events.at(-1)?.event, outcome.text]).toEqual(['outcome', 'one two three'])
    const recorded = (await runtime.sessions.export(outcome.sessionId)).events
    expect(events.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]))).toEqual(recorded.map(({ seq }) => seq))
    const pieces = events.flatMap(({ event, data }) => (event === 'interaction.item.delta' ? [JSON.parse(data).text] : []))
    expect(pieces.join('')).toBe('one two three')
  })

  test('a call that needs approval answers 202 with the request; an answer anywhere lets the session continue', async () => {
    const model = [{ calls: [{ tool: 'delete_file', input: { path: 'a.txt' } }] }, { text: 'It is gone.' }]
    const { fetch, store } = await server({ model, tools: [deleting], agents: [agent] })
    const response = await fetch('/v1/helper', { json: { input: 'Delete it.' } })
    const waiting = await json(response)
    expect([response.status, response.headers.get('location')]).toEqual([202, `/v1/sessions/${waiting.sessionId}`])
    expect(waiting).toMatchObject({ status: 'suspended', approvals: [{ summary: 'Delete a.txt' }] })
    const { id } = (waiting.approvals as { id: string }[])[0] ?? { id: '' }
    expect(await json(fetch('/v1/approvals'))).toMatchObject({
      approvals: [{ session: { sessionId: waiting.sessionId }, request: { id } }],
    })
    // Its id contains a slash: encoded or not.
    const answer = (kind: string, written = encodeURIComponent(id)) =>
      fetch(`/v1/sessions/${waiting.sessionId}/approvals/${written}`, { json: { kind } })
    expect((await answer('approve', id)).status).toBe(202)
    const events = await collectSse(
      await fetch(`/v1/sessions/${waiting.sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } }),
    )
    expect(events.map(({ event }) => event)).toContain('interaction.turn.completed')
    expect(await json(fetch(`/v1/sessions/${waiting.sessionId}`))).toMatchObject({ outcome: { text: 'It is gone.' }, approvals: [] })
    const late = await answer('deny')
    expect(late.status).toBe(409)
    expect(await late.json()).toMatchObject({ error: { code: 'approval_answered', message: 'Already answered: approved by local.' } })
    expect((await store.records.list('audit')).map(({ value }) => value)).toMatchObject([
      { by: 'local', action: 'approval.approve', approvalId: id },
    ])
  })

  test('a question of a running tool is answered while it runs', async () => {
    const asking: Tool = {
      name: 'ask_name',
      description: 'Asks.',
      inputSchema: { type: 'object' },
      async execute(_, context) {
        const answer = await context.ask({ text: 'Your name?' })
        return answer.kind === 'accept' ? `It is ${answer.text}.` : 'Nobody answered.'
      },
    }
    const model = new ScriptedModel([{ calls: [{ tool: 'ask_name', input: {} }] }, { text: 'Thanks.' }])
    const { fetch, runtime } = await server({ model, tools: [asking], agents: [agent] })
    const answering = (async () => {
      for await (const change of runtime.sessions.watch()) {
        if (change.kind !== 'changed' || change.session.openRequests === 0) continue
        const [request] = (await json(fetch(`/v1/sessions/${change.session.sessionId}/approvals`))).approvals
        return fetch(`/v1/sessions/${change.session.sessionId}/approvals/${encodeURIComponent(request.id)}`, {
          json: { kind: 'answer', text: 'Ada' },
        })
      }
      return undefined
    })()
    expect(await json(fetch('/v1/helper', { json: { input: 'Go' } }))).toMatchObject({ status: 'completed', text: 'Thanks.' })
    expect((await answering)?.status).toBe(202)
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('It is Ada.')
  })

  test('a failed turn is an error with class, remedy and session', async () => {
    const { fetch } = await server({
      model: [{ fault: { class: 'auth', message: 'The key is wrong.' } }],
      agents: [{ ...agent, tools: [] }],
    })
    const response = await fetch('/v1/helper?q=x')
    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({ error: { code: 'turn_failed', sessionId: expect.any(String), failure: 'auth' } })
  })

  test('a client that disconnects interrupts the turn; with Prefer: respond-async the turn goes on', async () => {
    const held = gate()
    const model = new ScriptedModel([{ text: 'late', wait: held.promise }, { text: 'late' }])
    const { fetch, runtime } = await server({ model, agents: [{ ...agent, tools: [] }] })
    const leaving = new AbortController()
    const started = fetch('/v1/helper?q=x', { signal: leaving.signal }).catch(() => 'left')
    const seen = Promise.withResolvers<string>()
    void (async () => {
      for await (const change of runtime.sessions.watch()) if (change.kind === 'changed') return seen.resolve(change.session.sessionId)
    })()
    const sessionId = await seen.promise
    leaving.abort()
    expect(await started).toBe('left')
    expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ status: 'interrupted' })
    held.open()
    const detached = await fetch('/v1/helper?q=x', { headers: { prefer: 'respond-async' } })
    expect(detached.status).toBe(202)
    expect(await runtime.sessions.outcome((await json(detached)).sessionId)).toMatchObject({ status: 'completed' })
  })
})

test('a turn that goes on without its client keeps its place', async () => {
  const held = gate()
  const model = new ScriptedModel([{ text: 'late', wait: held.promise }])
  const { fetch, runtime, headends } = await server({
    model,
    agents: [{ ...agent, tools: [] }],
    server: { places: { total: 1, queue: 0 } },
  })
  const { sessionId } = await json(fetch('/v1/helper?q=x', { headers: { prefer: 'respond-async' } }))
  expect(headends.places.running).toBe(1)
  expect((await fetch('/v1/helper?q=x')).status).toBe(503)
  held.open()
  await runtime.sessions.outcome(sessionId)
  await new Promise((resolve) => setImmediate(resolve))
  expect(headends.places.running).toBe(0)
})

test('HEAD starts neither turns nor streams', async () => {
  const { fetch, runtime } = await server()
  for (const path of ['/v1/echo?q=x', '/v1/sessions', '/v1/watch'])
    expect((await fetch(path, { method: 'HEAD', headers: { accept: 'text/event-stream' } })).status).toBe(405)
  expect((await fetch('/health', { method: 'HEAD' })).status).toBe(200)
  expect(await runtime.sessions.list()).toEqual([])
})

describe('sessions', () => {
  test('start is idempotent by client id and by key; list has filters and a cursor', async () => {
    const { fetch } = await server()
    const start = async (body: object) => (await json(fetch('/v1/sessions', { json: body }))).sessionId as string
    const first = await start({ input: 'one', clientId: 'c1', labels: ['a', 'b'] })
    expect(await start({ input: 'one', clientId: 'c1' })).toBe(first)
    const keyed = await start({ input: 'two', key: 'thread-7', labels: ['b'] })
    expect(await start({ input: 'again', key: 'thread-7' })).toBe(keyed)
    const third = await start({ input: 'three' })
    const ids = async (query: string) =>
      ((await json(fetch(`/v1/sessions${query}`))) as unknown as { sessions: { sessionId: string }[] }).sessions.map(
        ({ sessionId }) => sessionId,
      )
    expect(await ids('')).toEqual([third, keyed, first])
    expect(await ids('?label=b&label=a')).toEqual([first])
    expect(await ids('?key=thread-7')).toEqual([keyed])
    expect(await ids('?text=thr')).toEqual([third])
    const page = (await json(fetch('/v1/sessions?limit=2'))) as unknown as { next: number }
    expect(await ids(`?limit=2&before=${page.next}`)).toEqual([first])
  })

  test('messages continue, titles change, forks are copies, deletion removes', async () => {
    const { fetch, runtime } = await server()
    const { sessionId } = await json(fetch('/v1/echo?q=first'))
    const sent = await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'second', clientId: 'm1' } })
    expect(sent.status).toBe(202)
    expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ report: { text: 'second' } })
    expect(
      await json(
        fetch(`/v1/sessions/${sessionId}`, {
          method: 'PATCH',
          body: '{"title":"Greetings","labels":["x"]}',
          headers: { 'content-type': 'application/json' },
        }),
      ),
    ).toMatchObject({ title: 'Greetings', labels: ['x'] })
    const copy = (await json(fetch(`/v1/sessions/${sessionId}/fork`, { json: {} }))).sessionId
    await fetch(`/v1/sessions/${copy}/messages`, { json: { input: 'third' } })
    expect(await runtime.sessions.outcome(copy)).toMatchObject({ report: { text: 'third' } })
    expect(await json(fetch(`/v1/sessions/${sessionId}`))).toMatchObject({ outcome: { text: 'second' } })
    const exported = await json(fetch(`/v1/sessions/${sessionId}/export`))
    expect(exported).toMatchObject({ format: 'troupe.session', session: { title: 'Greetings' } })
    expect((await fetch(`/v1/sessions/${sessionId}`, { method: 'DELETE' })).status).toBe(204)
    expect((await fetch(`/v1/sessions/${sessionId}`)).status).toBe(404)
  })

  test('a message that no process takes says so', async () => {
    const { fetch, store } = await server()
    const other = createAgentRuntime({
      config: { agents: [{ ...agent, tools: [] }] },
      adapter: new ScriptedModel([{ text: 'Hi.' }]),
      store,
    })
    const { sessionId } = await other.run('Hello', { principal: localPrincipal })
    await other.close()
    const sent = await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'More' } })
    const message = 'Stored, but nothing happens yet. No process runs the session.'
    expect([sent.status, await json(sent)]).toEqual([202, { clientId: expect.any(String), driven: false, message }])
    expect(await json(fetch(`/v1/sessions/${sessionId}/stop`, { method: 'POST' }))).toMatchObject({ driven: false, message })
  })

  test('a message may choose among the models of the agent', async () => {
    const models = ['test/first', 'test/second']
    const adapter = { resolve: (name: string) => echoModel(name) }
    const { fetch, runtime } = await server({
      model: adapter,
      agents: [{ name: 'helper', description: 'Helps.', prompt: 'Help.', models, tools: [] }],
    })
    const { sessionId } = await json(fetch('/v1/helper?q=first'))
    expect((await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'second', models: ['test/second'] } })).status).toBe(202)
    const { accounting } = await runtime.sessions.outcome(sessionId)
    expect(accounting).toMatchObject([{ model: 'test/second' }])
  })

  test('a reader that reconnects at any event misses nothing and sees nothing twice', async () => {
    const { fetch } = await server()
    const { sessionId } = await json(fetch('/v1/echo?q=a%20b%20c'))
    const path = `/v1/sessions/${sessionId}/events?until=turn&live=false`
    const accept = { accept: 'text/event-stream' }
    const all = await collectSse(await fetch(path, { headers: accept }))
    expect(all.length).toBeGreaterThan(8)
    for (let index = 0; index < all.length; index++) {
      const resumed = await collectSse(await fetch(path, { headers: { ...accept, 'last-event-id': all[index]?.id ?? '' } }))
      expect(resumed).toEqual(all.slice(index + 1))
    }
    const page = (await json(fetch(`/v1/sessions/${sessionId}/events?limit=3`))) as unknown as { events: object[]; next: number }
    expect([page.events.length, page.next]).toEqual([3, 3])
    // A browser that reconnects sends the address that it has, with an old cursor.
    const again = await collectSse(await fetch(`${path}&after=1`, { headers: { ...accept, 'last-event-id': all.at(-2)?.id ?? '' } }))
    expect(again.map(({ id }) => id)).toEqual([all.at(-1)?.id])
    expect((await fetch(path, { headers: { ...accept, 'last-event-id': 'seven' } })).status).toBe(400)
  })

  test('one stream follows the list and one session, over several turns', async () => {
    const { fetch } = await server()
    const { sessionId } = await json(fetch('/v1/echo?q=first'))
    const watching = await fetch(`/v1/watch?session=${sessionId}`, { headers: { accept: 'text/event-stream' } })
    const seen = new Set<string>()
    let isSent = false
    for await (const { event, data } of sseEvents(watching)) {
      seen.add(event)
      if (event === 'interaction.session.idle' && !isSent) {
        isSent = true
        await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'second' } })
      }
      if (event === 'interaction.turn.completed' && data.includes('second') && seen.has('session.changed')) break
    }
    expect([...seen]).toEqual(expect.arrayContaining(['session.changed', 'interaction.turn.started', 'interaction.item.delta']))
  })

  test('a reader that comes in the middle of a text first gets the text so far', async () => {
    const held = gate()
    const model = {
      id: 'scripted/model',
      abilities: ['tools'] as const,
      async *stream() {
        yield { type: 'text', text: 'one ' } as const
        yield { type: 'text', text: 'two ' } as const
        await held.promise
        yield { type: 'text', text: 'three' } as const
        yield { type: 'finish', reason: 'stop' } as const
      },
    }
    const { fetch, runtime } = await server({ model, agents: [{ ...agent, tools: [] }] })
    const sessionId = await runtime.sessions.start('go', { agent: 'helper', principal: { id: 'local', kind: 'local' } })
    for await (const event of runtime.sessions.events(sessionId))
      if (event.type === 'interaction.item.delta' && event.text.includes('two')) break
    const late = await fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })
    const deltas: { text: string; offset: number }[] = []
    for await (const { event, data } of sseEvents(late)) {
      if (event !== 'interaction.item.delta') continue
      deltas.push(JSON.parse(data))
      held.open()
    }
    expect(deltas.map(({ text, offset }) => [offset, text])).toEqual([
      [0, 'one two '],
      [8, 'three'],
    ])
  })
})

describe('bad input', () => {
  test.each([
    ['an unknown agent', '/v1/nobody?q=x', {}, 404, /echo/],
    ['a missing question', '/v1/echo', {}, 400, /q/],
    ['an unknown query parameter', '/v1/echo?q=x&fromat=json', {}, 400, /fromat/],
    ['an unknown field', '/v1/echo', { json: { input: 'x', hystory: [] } }, 400, /hystory/],
    ['an empty body', '/v1/echo', { method: 'POST', body: '' }, 400, /empty/],
    ['no JSON', '/v1/echo', { method: 'POST', body: '{"input":' }, 400, /not JSON/],
    ['deep JSON', '/v1/echo', { method: 'POST', body: `{"input":${'['.repeat(10_000)}${']'.repeat(10_000)}}` }, 400, /nested/],
    [
      'a form',
      '/v1/echo',
      { method: 'POST', body: 'input=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      /JSON/,
    ],
    ['a wrong limit', '/v1/echo', { json: { input: 'x', limits: { maxToolTurns: 0 } } }, 400, /limits\.maxToolTurns/],
    ['a parameter that the agent does not allow', '/v1/echo', { json: { input: 'x', parameters: { temperature: 1 } } }, 400, /temperature/],
    ['a model that the agent does not have', '/v1/echo', { json: { input: 'x', models: ['other/model'] } }, 400, /test\/echo/],
    ['a wrong method', '/v1/sessions', { method: 'PUT' }, 405, /POST or GET/],
    ['an unknown path', '/v2/echo', {}, 404, /\/docs/],
    ['an unknown session', '/v1/sessions/nothing', {}, 404, /nothing/],
    ['a wrong cursor', '/v1/sessions?before=x', {}, 400, /before/],
    [
      'history with a result without its call',
      '/v1/echo',
      { json: { input: 'x', history: [{ role: 'tool', results: [{ id: '1', name: 'a', content: 'b' }] }] } },
      400,
      /history/,
    ],
  ] as const)('%s', async (...[, path, init, status, text]) => {
    const { fetch, errors } = await server()
    const response = await fetch(path, init as RequestInit)
    const body = await response.text()
    expect([response.status, body]).toEqual([status, expect.stringMatching(text)])
    expect(JSON.parse(body).error.requestId).toBe(response.headers.get('x-request-id'))
    expect(errors).toEqual([])
  })

  test('JSON input is checked against the schema of the agent', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
    const { fetch } = await server({ agents: [{ ...agent, tools: [], input: { format: 'json', schema } }] })
    const refused = await fetch('/v1/helper', { json: { input: { town: 'Oslo' } } })
    expect([refused.status, await json(refused)]).toEqual([
      400,
      { error: expect.objectContaining({ message: expect.stringContaining('city') }) },
    ])
    expect((await fetch('/v1/helper?q=Oslo')).status).toBe(400)
    expect(await json(fetch('/v1/helper', { json: { input: { city: 'Oslo' } } }))).toMatchObject({ text: '{"city":"Oslo"}' })
  })

  test('bodies that are too large or compressed are refused before they are read', async () => {
    const { url, fetch } = await server({ server: { maxBodyBytes: 1_000 } })
    expect((await fetch('/v1/echo', { json: { input: 'x'.repeat(2_000) } })).status).toBe(413)
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const response = await request(`${url}/v1/echo`, {
      method: 'POST',
      headers: { authorization: `Bearer ${localToken}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: bomb.toString('latin1'),
    })
    expect(response.status).toBe(415)
  })

  test('more turns than allowed wait, then are refused with Retry-After', async () => {
    const held = gate()
    const clock = new FakeClock()
    const model = new ScriptedModel([{ text: '1', wait: held.promise }, { text: '2' }])
    const { fetch } = await server({
      model,
      agents: [{ ...agent, tools: [] }],
      server: { clock, places: { total: 1, queue: 1, queueMs: 1_000 } },
    })
    expect((await fetch('/v1/sessions', { json: { input: 'x' } })).status).toBe(201)
    // One of these waits; the other finds the queue full.
    const [one, other] = [fetch('/v1/helper?q=x'), fetch('/v1/helper?q=x')]
    const refused = await Promise.race([one, other])
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    held.open()
    expect((await Promise.all([one, other])).map(({ status }) => status).toSorted()).toEqual([200, 503])
  })

  test('a server that drains refuses new work, and lets people end work', async () => {
    const held = gate()
    const model = new ScriptedModel([{ text: 'late', wait: held.promise }])
    const served = await server({ model, agents: [{ ...agent, tools: [] }] })
    const { sessionId } = await json(served.fetch('/v1/sessions', { json: { input: 'x' } }))
    served.drain()
    const refused = await served.fetch('/v1/helper?q=x')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await served.fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'more' } })).status).toBe(503)
    expect((await served.fetch(`/v1/sessions/${sessionId}/interrupt`, { method: 'POST' })).status).toBe(202)
    expect(await served.runtime.sessions.outcome(sessionId)).toMatchObject({ status: 'interrupted' })
    expect((await served.fetch(`/v1/sessions/${sessionId}`, { method: 'DELETE' })).status).toBe(204)
  })

  test('a token with a rate is refused beyond it, until the next minute', async () => {
    const clock = new FakeClock(1_000)
    const served = await server({ server: { clock } })
    const token = await served.token({ name: 'slow', rates: { requestsPerMinute: 2 } })
    expect((await served.fetch('/v1/agents', { token })).status).toBe(200)
    expect((await served.fetch('/v1/agents', { token })).status).toBe(200)
    const refused = await served.fetch('/v1/agents', { token })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '59'])
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited', renewsAt: '1970-01-01T00:01:00.000Z' } })
    clock.advance(60_000)
    expect((await served.fetch('/v1/agents', { token })).status).toBe(200)
  })
})

describe('the server itself', () => {
  test('describes every route as OpenAPI and as a page, without a token', async () => {
    const { fetch, routes } = await server()
    const document = (await json(fetch('/openapi.json', { token: '' }))) as unknown as { paths: Record<string, Record<string, object>> }
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).toSorted())
    const page = await fetch('/docs', { token: '' })
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('/v1/sessions/:id/events')
    expect(await (await fetch('/', { token: '' })).text()).toContain('href="docs"')
    expect(await json(fetch('/health', { token: '' }))).toEqual({ status: 'ok' })
  })

  test('writes one access line a request, when its response has been sent', async () => {
    const { fetch, log } = await server()
    const answer = await json(fetch('/v1/echo?q=x'))
    await collectSse(await fetch('/v1/echo?q=x', { headers: { accept: 'text/event-stream' } }))
    await fetch('/v1/nobody?q=x')
    expect(log).toMatchObject([
      { method: 'GET', path: '/v1/echo', route: '/v1/:agent', status: 200, principal: 'local', sessionId: answer.sessionId },
      { status: 200, route: '/v1/:agent' },
      { status: 404, error: 'agent_unknown' },
    ])
  })
})
