import { setImmediate as macrotask } from 'node:timers/promises'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { type Model, noUsage } from '../../src/contracts/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { revokeToken } from '../../src/server/http/index.ts'
import { mcpRoutes } from '../../src/server/mcp/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { sceneDependencies } from './mcp-agents.ts'
import { connect } from './mcp-clients.ts'
import { serveOpenAi } from './openai-support.ts'
import { serve } from './support.ts'

// What the sessions of a token may use in a day.

const model: Model = {
  id: 'test/echo',
  abilities: ['tools'],
  costOf: ({ input, output }) => (input + output) / 1000,
  async *stream() {
    yield { type: 'text', text: 'Done.' }
    yield { type: 'finish', reason: 'stop', usage: { input: 20, output: 180, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }
  },
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of the server, which the tests check.
const json = async (response: Promise<Response>): Promise<any> => (await response).json()

/** Every protocol. */
async function serveAll(asked: Model) {
  const [clock, store] = [new FakeClock(), memoryStore()]
  const ids = { next: () => crypto.randomUUID() }
  const served = await serve({
    clock,
    store,
    model: asked,
    routes: () => [
      ...mcpRoutes(sceneDependencies(clock)),
      ...openaiRoutes({ clock, ids, records: store.records }),
      ...anthropicRoutes({ clock }),
    ],
  })
  onTestFinished(() => served.close())
  return { clock, served }
}

/** Says that it has used what the input names, whatever it may use. */
const spender: Model = {
  ...model,
  async *stream({ messages }) {
    const [, input = 0, output = 0] = [...JSON.stringify(messages).matchAll(/USE (\d+) (\d+)/g)].at(-1) ?? []
    yield { type: 'text', text: 'Done.' }
    yield { type: 'finish', reason: 'stop', usage: { ...noUsage, input: Number(input), output: Number(output) } }
  },
}

test('a token that has used its budget of the day gets 429 until midnight, and sees what is left', async () => {
  const clock = new FakeClock()
  const { fetch, token, clientOf } = await serveOpenAi({ clock, model })
  const ci = await token({ name: 'ci', budget: { tokensPerDay: 400, costUsdPerDay: 2 } })
  const status = async () => (await json(fetch('/v1/status', { token: ci }))).budget
  const limits = { tokensPerDay: 400, costUsdPerDay: 2, renewsAt: '2026-01-02T00:00:00.000Z' }
  expect(await status()).toEqual({ ...limits, used: { tokens: 0, costUsd: 0 }, remaining: { tokens: 400, costUsd: 2 } })
  expect((await fetch('/v1/echo?q=One', { token: ci })).status).toBe(200)
  expect(await status()).toEqual({ ...limits, used: { tokens: 200, costUsd: 0.2 }, remaining: { tokens: 200, costUsd: 1.8 } })
  expect((await fetch('/v1/echo?q=Two', { token: ci })).status).toBe(200)
  clock.advance(3_600_000)
  const refused = await fetch('/v1/echo?q=Three', { token: ci })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(23 * 3_600)])
  expect(await refused.json()).toEqual({
    error: {
      code: 'budget_exhausted',
      message: 'The budget of today is exhausted: the budget of token:ci is 400 tokens a day, renewed at 2026-01-02T00:00:00.000Z.',
      remedy: 'Wait until then, or raise tokensPerDay of token:ci.',
      renewsAt: '2026-01-02T00:00:00.000Z',
      requestId: expect.any(String),
    },
  })
  const chat = { model: 'echo', messages: [{ role: 'user' as const, content: 'Four' }] }
  await expect(clientOf(ci).chat.completions.create(chat, { maxRetries: 0 })).rejects.toBeInstanceOf(OpenAI.RateLimitError)
  // Others have their own budgets, or none.
  expect((await fetch('/v1/echo?q=Five')).status).toBe(200)
  expect((await json(fetch('/v1/status'))).budget).toBeUndefined()
  clock.advance(23 * 3_600_000)
  expect((await fetch('/v1/echo?q=Six', { token: ci })).status).toBe(200)
})

test('a session of a token that was revoked gets no further turn', async () => {
  const { fetch, token, store, runtime } = await serveOpenAi({ model })
  const ci = await token({ name: 'ci' })
  const { sessionId } = await json(fetch('/v1/echo?q=One', { token: ci }))
  await revokeToken(store.records, 'ci')
  // An administrator sees all sessions.
  const refused = await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'Again' } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null])
  expect(await refused.json()).toMatchObject({ error: { code: 'budget_exhausted', remedy: 'Raise tokensPerDay of token:ci.' } })
  expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ status: 'completed' })
})

// Eight answers for 0.1 dollars cost less than 0.8 in floating point: a rest that pays nothing, and is not nothing.
test('a cost budget is used up to the nano-dollar: every protocol then answers 429 in its own form, and no session begins', async () => {
  const { clock, served } = await serveAll({ ...model, costOf: ({ input, output }) => (input + output) / 2_000 })
  const { url, fetch } = served
  const ci = await served.token({ name: 'ci', budget: { costUsdPerDay: 0.8 } })
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ci, maxRetries: 0 })
  const first = await openai.responses.create({ model: 'echo', input: 'One' })
  for (let i = 0; i < 7; i++) expect(await json(fetch('/v1/echo?q=Go', { token: ci }))).toMatchObject({ text: 'Done.', cost: 0.1 })
  const { budget } = await json(fetch('/v1/status', { token: ci }))
  expect(budget).toMatchObject({ used: { tokens: 1_600, costUsd: 0.8 }, remaining: { costUsd: 0 } })
  const before = await json(fetch('/v1/sessions', { token: ci }))
  clock.advance(3_600_000)

  const renewal = '2026-01-02T00:00:00.000Z'
  const message = `The budget of today is exhausted: the budget of token:ci is 0.8 US dollars a day, renewed at ${renewal}.`
  const remedy = 'Wait until then, or raise costUsdPerDay of token:ci.'
  const headers = expect.objectContaining({ get: expect.any(Function) })
  const thrownBy = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => error)
  const messages = [{ role: 'user' as const, content: 'More' }]
  for (const asked of [
    openai.chat.completions.create({ model: 'echo', messages }),
    openai.chat.completions.create({ model: 'echo', messages, stream: true }),
    openai.responses.create({ model: 'echo', input: 'More' }),
    openai.responses.create({ model: 'echo', input: 'More', previous_response_id: first.id }),
  ]) {
    const error = await thrownBy(asked)
    expect(error).toBeInstanceOf(OpenAI.RateLimitError)
    expect(error).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'insufficient_quota', headers })
    const { error: body, headers: sent } = error as InstanceType<typeof OpenAI.APIError>
    expect([body, sent?.get('retry-after')]).toMatchObject([{ message: `${message} ${remedy}`, renews_at: renewal }, String(23 * 3_600)])
  }
  const anthropic = new Anthropic({ baseURL: url, apiKey: ci, maxRetries: 0 })
  const limited = await thrownBy(anthropic.messages.create({ model: 'echo', max_tokens: 100, messages }))
  expect(limited).toBeInstanceOf(Anthropic.RateLimitError)
  const { error: body, headers: sent } = limited as InstanceType<typeof Anthropic.APIError>
  const details = { error_code: 'budget_exhausted', renews_at: renewal }
  expect([body, sent?.get('retry-after')]).toMatchObject([
    { type: 'error', error: { type: 'rate_limit_error', message: `${message} ${remedy}`, details } },
    String(23 * 3_600),
  ])
  const mcp = await connect({ kind: 'client 2.4, 2026-07-28', transport: 'http', url, token: ci })
  expect(await mcp.callTool('echo', { prompt: 'More' })).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: `${message}\n${remedy}` }],
    _meta: { code: 'budget_exhausted', renewsAt: renewal },
  })
  const [{ sessionId }] = before.sessions
  for (const [path, body] of [
    ['/v1/sessions', { agent: 'echo', input: 'More' }],
    [`/v1/sessions/${sessionId}/messages`, { input: 'More' }],
    [`/v1/sessions/${sessionId}/fork`, {}],
  ] as const) {
    const refused = await fetch(path, { token: ci, json: body })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(23 * 3_600)])
    expect(await refused.json()).toEqual({
      error: { code: 'budget_exhausted', message, remedy, renewsAt: renewal, requestId: expect.any(String) },
    })
  }
  expect(await json(fetch('/v1/sessions', { token: ci }))).toEqual(before)
  expect(served.errors).toEqual([])
})

test('a rest that pays no answer begins no turn: new sessions, messages, copies and continued responses are 429', async () => {
  const { clock, served } = await serveAll(spender)
  const { fetch, url } = served
  const ci = await served.token({ name: 'ci', budget: { tokensPerDay: 2_000 } })
  const first = await json(fetch('/v1/responses', { token: ci, json: { model: 'echo', input: 'USE 900 1050' } }))
  const before = await json(fetch('/v1/sessions', { token: ci }))
  const [{ sessionId }] = before.sessions
  const more = { model: 'echo', input: 'More', previous_response_id: first.id }
  const messages = [{ role: 'user', content: 'More' }]
  const asked: readonly (readonly [string, object])[] = [
    ['/v1/responses', more],
    ['/v1/responses', { ...more, stream: true }],
    ['/v1/responses', { ...more, background: true }],
    // A copy.
    ['/v1/responses', { ...more, store: false }],
    ['/v1/chat/completions', { model: 'echo', messages }],
    ['/v1/messages', { model: 'echo', max_tokens: 100, messages }],
    ['/v1/echo', { input: 'More' }],
    [`/v1/sessions/${sessionId}/messages`, { input: 'More' }],
    [`/v1/sessions/${sessionId}/fork`, {}],
  ]
  for (const [path, body] of asked) {
    const refused = await fetch(path, { token: ci, json: body })
    expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 429, String(24 * 3_600)])
    expect(await refused.text()).toContain('The rest of the budget of today is too little for an answer')
  }
  const mcp = await connect({ kind: 'client 2.4, 2026-07-28', transport: 'http', url, token: ci })
  expect(await mcp.callTool('echo', { prompt: 'More' })).toMatchObject({ isError: true, _meta: { code: 'budget_exhausted' } })
  expect(await json(fetch('/v1/sessions', { token: ci }))).toEqual(before)

  // What was refused has left nothing: the next response continues the session, not a copy.
  clock.advance(24 * 3_600_000)
  const next = await json(fetch('/v1/responses', { token: ci, json: { ...more, input: 'USE 900 1050' } }))
  expect(next).toMatchObject({ status: 'completed', id: expect.stringContaining(sessionId) })
  const { sessions } = await json(fetch('/v1/sessions', { token: ci }))
  expect(sessions).toMatchObject([{ sessionId, status: 'completed' }])
})

test('parallel requests at the end of a budget are answered or 429: none begins a session that fails', async () => {
  const { served } = await serveAll({
    ...spender,
    costOf: ({ input, output }) => (input * 0.3 + output * 0.7) / 1e6,
    async *stream(...given) {
      // Meanwhile the other requests arrive.
      for (let i = 0; i < 200; i++) await macrotask()
      yield* spender.stream(...given)
    },
  })
  const { fetch } = served
  const ci = await served.token({ name: 'ci', budget: { costUsdPerDay: 0.001 } })
  const body = { model: 'echo', messages: [{ role: 'user', content: 'USE 300 500' }] }
  const answers = await Promise.all(Array.from({ length: 8 }, () => fetch('/v1/chat/completions', { token: ci, json: body })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
  for (const { status, headers } of answers) expect(headers.get('retry-after')).toBe(status === 429 ? String(24 * 3_600) : null)
  const { sessions } = await json(fetch('/v1/sessions', { token: ci }))
  expect(sessions.map(({ status }: { status: string }) => status)).not.toContain('failed')
  expect(sessions).toHaveLength(3)
})

test('a request that needs more than a whole budget is 429 without Retry-After, which clients do not repeat', async () => {
  const { served } = await serveAll(spender)
  const { fetch, url } = served
  const [big, tiny] = [
    await served.token({ name: 'big', budget: { tokensPerDay: 20_000 } }),
    await served.token({ name: 'tiny', budget: { tokensPerDay: 60 } }),
  ]
  for (const [token, content] of [
    [big, 'word '.repeat(20_000)],
    [tiny, 'hi'],
  ] as const) {
    let requests = 0
    const counted: typeof globalThis.fetch = (...given) => {
      requests++
      return globalThis.fetch(...given)
    }
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, fetch: counted })
    const error = await openai.chat.completions
      .create({ model: 'echo', messages: [{ role: 'user', content }] })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 429, message: expect.stringContaining('needs more than the whole budget of a day') })
    expect([(error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after'), requests]).toEqual([null, 1])
    expect((await json(fetch('/v1/sessions', { token }))).sessions).toEqual([])
  }
})
