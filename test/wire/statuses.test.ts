import { describe, expect, it } from 'vitest'
import { FakeClock, type GatedReply } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, expectFailure, server, stage, turnOver } from './turn.ts'

const startsAt = Date.UTC(2026, 0, 1)
const httpDate = (msLater: number): string => new Date(startsAt + msLater).toUTCString()

function refusal({ errorBody }: WireFormat, status: number, headers: GatedReply['headers'] = {}): GatedReply {
  return {
    status,
    headers: { 'content-type': 'application/json', date: httpDate(0), ...headers },
    chunks: [JSON.stringify(errorBody(status, 'Not now.'))],
  }
}

describe.each(formats)('$name', (format) => {
  it.each([
    [400, 'config'],
    [401, 'auth'],
    [402, 'quota'],
    [403, 'auth'],
    [404, 'config'],
    [408, 'timeout'],
    [413, 'context'],
    [422, 'config'],
    [429, 'rate_limit'],
    [500, 'model'],
    [502, 'model'],
    [503, 'rate_limit'],
    [504, 'timeout'],
    [529, 'rate_limit'],
  ])('%i is a failure of class %s', async (status, kind) => {
    const result = await turnOver(format, [refusal(format, status)])
    expectFailure(result, kind)
    expect(result.outcome.failure?.message).toContain('Not now.')
  })

  it.each([
    ['7 seconds', { 'retry-after': '7' }, 7_000],
    ['0 seconds', { 'retry-after': '0' }, 0],
    ['1,500 milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
    ['a date 90 seconds ahead', { 'retry-after': httpDate(90_000) }, 90_000],
    ['a date that is past', { 'retry-after': httpDate(-90_000) }, 0],
  ])('429 that asks for %s is respected', async (_, headers, ms) => {
    const { outcome } = await turnOver(format, [refusal(format, 429, headers)])
    expect(outcome.failure).toMatchObject({ class: 'rate_limit', retryAfterMs: ms })
  })

  it.each([
    ['no delay', {}],
    ['an empty one', { 'retry-after': '' }],
    ['a word', { 'retry-after': 'soon' }],
    ['a negative one', { 'retry-after': '-5' }],
    ['infinity', { 'retry-after': 'Infinity' }],
    ['a number that is none', { 'retry-after': '1e999' }],
    ['an unknown unit', { 'retry-after': '7 apples' }],
    ['nonsense in milliseconds', { 'retry-after-ms': 'x' }],
  ])('429 that asks for %s is retried at our own pace', async (_, headers) => {
    const { outcome } = await turnOver(format, [refusal(format, 429, headers)])
    expect(outcome.failure).toMatchObject({ class: 'rate_limit' })
    expect(outcome.failure).not.toHaveProperty('retryAfterMs')
  })

  it('503 may ask for time too', async () => {
    const { outcome } = await turnOver(format, [refusal(format, 503, { 'retry-after': '3' })])
    expect(outcome.failure).toMatchObject({ retryAfterMs: 3_000 })
  })

  it('after 429 it asks again when the server wants it, not sooner', async () => {
    const { url, reply, requests, assertDone } = await server()
    const clock = new FakeClock(startsAt)
    const refused = reply(refusal(format, 429, { 'retry-after': '7' }))
    const answered = reply({ chunks: format.encode(answering) })
    const { runtime } = await stage(format, { url, clock, limits: { maxRetries: 1 } })
    const handle = runtime.stream('Weather?')
    for await (const event of handle) if (event.type === 'interaction.step.failed') break
    expect(await refused.over).toBe('whole')
    await clock.elapse(6_999)
    expect(requests).toHaveLength(1)
    await clock.elapse(1)
    await answered.arrived()
    expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'Sunny for three days.' } })
    assertDone()
  })
})

describe('what a provider says of its own', () => {
  const named = (name: string): WireFormat => formats.find((format) => format.name === name) ?? expect.unreachable()
  const body = (status: number, json: object): GatedReply => ({
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(json)],
  })

  it.each(['OpenAI chat', 'OpenAI responses'])('%s: 429 for a spent quota is no rate limit', async (name) => {
    const error = { message: 'You exceeded your current quota.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' }
    expectFailure(await turnOver(named(name), [body(429, { error })]), 'quota')
  })
  it('Anthropic: 400 for a balance that is too low is a quota', async () => {
    const message =
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.'
    const json = { type: 'error', error: { type: 'invalid_request_error', message } }
    expectFailure(await turnOver(named('Anthropic messages'), [body(400, json)]), 'quota')
  })
  it('Gemini: 400 for a key that is not valid is a matter of the key', async () => {
    const json = {
      error: {
        code: 400,
        message: 'API key not valid. Please pass a valid API key.',
        status: 'INVALID_ARGUMENT',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
      },
    }
    expectFailure(await turnOver(named('Gemini'), [body(400, json)]), 'auth')
  })
  it('Ollama: 404 for a model that is not there says which one, and how to get it', async () => {
    const error = { message: 'model "qwen3:8b" not found, try pulling it first', type: 'not_found_error', param: null, code: null }
    const result = await turnOver(named('Ollama'), [body(404, { error })])
    expectFailure(result, 'config')
    expect(result.outcome.failure?.message).toContain('qwen3:8b')
  })
  it('Gemini: a question that it blocks is a failure of the model, not of the network', async () => {
    const data = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } }
    expectFailure(await turnOver(named('Gemini'), [{ chunks: [`data: ${JSON.stringify(data)}\r\n\r\n`] }]), 'model')
  })
})
