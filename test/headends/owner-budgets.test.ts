import OpenAI from 'openai'
import { expect, test } from 'vitest'
import type { Model } from '../../src/contracts/index.ts'
import { revokeToken } from '../../src/headends/server/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { serveOpenAi } from './openai-support.ts'

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
      message: 'The budget of today is exhausted: the budget of token:ci is 400 tokens a day.',
      remedy: 'Wait until it is renewed (2026-01-02T00:00:00.000Z), or raise tokensPerDay of token:ci.',
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
  await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'Again' } })
  expect(await runtime.sessions.outcome(sessionId)).toMatchObject({
    status: 'failed',
    reason: 'tokens',
    remedy: 'Raise tokensPerDay of token:ci.',
  })
})
