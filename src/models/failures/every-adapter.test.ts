import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import type { Model, ModelFailure } from '../../contracts/index.ts'
import { fromAiSdk } from '../ai-sdk/index.ts'
import { fromLangChain, type LangChainChatModel } from '../langchain/index.ts'
import { fromLlamaIndex } from '../llama-index/index.ts'

const refusing = (thrown: unknown) => () => Promise.reject(thrown)
const aiSdk = (thrown: unknown): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'acme.chat',
  modelId: 'm',
  supportedUrls: {},
  doGenerate: refusing(thrown),
  doStream: refusing(thrown),
})
const adapters: readonly (readonly [name: string, build: (thrown: unknown) => Model])[] = [
  ['the AI SDK', (thrown) => fromAiSdk(aiSdk(thrown))],
  ['LangChain', (thrown) => fromLangChain({ stream: refusing(thrown) } as LangChainChatModel)],
  ['LlamaIndex', (thrown) => fromLlamaIndex({ chat: refusing(thrown) })],
]

async function failureWith(model: Model): Promise<ModelFailure> {
  const request = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
  for await (const part of model.stream(request, { signal: new AbortController().signal })) if (part.type === 'error') return part.failure
  return expect.unreachable()
}

const error = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields)
const behind = (code: string, message = '') => new TypeError('fetch failed', { cause: error(message, { code }) })
const answered = (statusCode: number, body = '') =>
  new APICallError({ message: 'x', url: 'https://a.test', requestBodyValues: {}, statusCode, responseBody: body })

type Case = readonly [what: string, thrown: unknown, kind: ModelFailure['class']]
const statuses: readonly Case[] = [
  ['a refused key', error('401', { status: 401 }), 'auth'],
  ['a key that may not', error('403', { statusCode: 403 }), 'auth'],
  ['a refused key behind a 400', error('API key not valid. Please pass a valid one.', { status: 400 }), 'auth'],
  ['an unpaid bill', error('402', { status: 402 }), 'quota'],
  ['a spent quota behind a 429', error('429', { status: 429, code: 'insufficient_quota' }), 'quota'],
  ['a spent quota in the body', error('429', { status: 429, error: { type: 'insufficient_quota' } }), 'quota'],
  ['a spent quota in a cause', error('x', { cause: error('429', { status: 429, code: 'insufficient_quota' }) }), 'quota'],
  ['a 429 that speaks of billing', error('Please check your plan and billing details.', { status: 429 }), 'quota'],
  ['a quota of the day', error('429', { status: 429, errorDetails: [{ quotaId: 'RequestsPerDay' }] }), 'quota'],
  ['an empty account behind a 400', error('Your credit balance is too low.', { status: 400 }), 'quota'],
  ['too many requests', error('429', { status: 429 }), 'rate_limit'],
  ['too many requests, by axios', error('429', { response: { status: 429 } }), 'rate_limit'],
  ['an overloaded provider', error('529', { status: 529 }), 'rate_limit'],
  ['a provider that broke', error('500', { status: 500 }), 'model'],
  ['a provider that broke, by the AWS client', error('x', { $metadata: { httpStatusCode: 500 } }), 'model'],
  ['an unknown model', error('404', { status_code: 404 }), 'config'],
  ['a redirect', error('308', { status: 308 }), 'config'],
  ['a page of a gateway', answered(502, '<html>Bad gateway</html>'), 'model'],
  ['a gateway that waited in vain', error('504', { status: 504 }), 'timeout'],
]
const words: readonly Case[] = [
  ['overloaded_error', { message: 'Full', type: 'overloaded_error' }, 'rate_limit'],
  ['rate_limit_error', error('Slow', { error: { type: 'error', error: { type: 'rate_limit_error' } } }), 'rate_limit'],
  ['authentication_error', { message: 'No', type: 'authentication_error' }, 'auth'],
  ['a status for a code', { message: 'Gone', code: 502 }, 'model'],
  ['a status for a code, as a text', { message: 'Gone', code: '429' }, 'rate_limit'],
  ['an object that says nothing', {}, 'model'],
  ['RESOURCE_EXHAUSTED', error('Slow', { code: 'RESOURCE_EXHAUSTED' }), 'rate_limit'],
  ['anything else', error('hm'), 'model'],
  ['a text', 'out of order', 'model'],
  ['nothing', undefined, 'model'],
]
const network: readonly Case[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTDOWN', 'EPROTO', 'UND_ERR_CONNECT_TIMEOUT'].flatMap(
    (code): readonly Case[] => [
      [code, error('x', { code }), 'network'],
      [`${code} behind fetch`, behind(code), 'network'],
    ],
  ),
  ['CERT_HAS_EXPIRED', error('bad', { code: 'CERT_HAS_EXPIRED' }), 'network'],
  ['HPE_INVALID_CONSTANT', behind('HPE_INVALID_CONSTANT'), 'network'],
  ['UND_ERR_HEADERS_TIMEOUT', behind('UND_ERR_HEADERS_TIMEOUT'), 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', error('x', { code: 'UND_ERR_BODY_TIMEOUT' }), 'timeout'],
  ['ERR_INVALID_URL', error('Invalid URL', { code: 'ERR_INVALID_URL' }), 'config'],
  [
    'an error for each address',
    new TypeError('fetch failed', { cause: new AggregateError([error('', { code: 'ECONNREFUSED' })]) }),
    'network',
  ],
  ['a connection that broke', new TypeError('terminated'), 'network'],
  ['a connection of the client', error('Connection error.', { name: 'APIConnectionError' }), 'network'],
  ['a timeout', error('late', { name: 'TimeoutError' }), 'timeout'],
  ['a timeout of the client', error('late', { name: 'APIConnectionTimeoutError' }), 'timeout'],
  ['an answer that cannot be read', new SyntaxError('Unexpected token < in JSON'), 'invalid_response'],
]
const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
const waits: readonly (readonly [what: string, headers: object, ms: number | undefined])[] = [
  ['seconds', { 'Retry-After': '7' }, 7000],
  ['a number', { 'retry-after': 0.5 }, 500],
  ['milliseconds, which are more exact', new Headers({ 'retry-after': '1', 'retry-after-ms': '250' }), 250],
  ['a date', new Headers({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT', date }), 30_000],
  ['a date of old', { 'retry-after': 'Thursday, 01-Jan-26 00:00:30 GMT', date }, 30_000],
  ['a date of C', { 'retry-after': 'Thu Jan  1 00:00:30 2026', date }, 30_000],
  ['a date long past, without one to hold it against', { 'retry-after': 'Thu, 01 Jan 2015 00:00:30 GMT' }, 0],
  ['nonsense', { 'retry-after': 'soon', date }, undefined],
]

describe.each(adapters)('an error behind %s', (_, build) => {
  it.each([...statuses, ...words, ...network])('%s', async (_what, thrown, kind) => {
    expect(await failureWith(build(thrown))).toMatchObject({ class: kind, message: expect.stringMatching(/\S/) })
  })

  it.each(waits)('that asks to wait: %s', async (_what, headers, ms) => {
    for (const fields of [{ headers }, { responseHeaders: headers }, { response: { headers } }])
      expect((await failureWith(build(error('429', { status: 429, ...fields })))).retryAfterMs).toBe(ms)
    expect(await failureWith(build(error('401', { status: 401, headers })))).not.toHaveProperty('retryAfterMs')
  })

  it('is reported in one short line', async () => {
    const hint = '\n\nTroubleshooting URL: https://docs.langchain.com/errors/X/\n'
    expect(await failureWith(build(error(`bad\nkey${hint}`, { status: 401 })))).toEqual({
      class: 'auth',
      message: 'bad key',
      remedy: 'Check the key that the model was built with, and what it may do.',
    })
    expect(await failureWith(build(error('')))).toEqual({ class: 'model', message: 'The provider failed without an error message.' })
    expect((await failureWith(build(error('x'.repeat(5000))))).message).toHaveLength(301)
  })

  it('that cannot be looked at is still one', async () => {
    const trap = new Proxy(
      {},
      {
        get() {
          throw new Error('looked at')
        },
      },
    )
    expect(await failureWith(build(error('x', { cause: trap })))).toMatchObject({ class: 'model' })
  })

  it('with circular causes is reported once', async () => {
    const circle = error('round')
    circle.cause = circle
    expect(await failureWith(build(circle))).toEqual({ class: 'model', message: 'round' })
  })
})

describe('the names of LangChain', () => {
  it.each([
    ['MODEL_RATE_LIMIT', 'rate_limit'],
    ['MODEL_AUTHENTICATION', 'auth'],
    ['MODEL_NOT_FOUND', 'config'],
    ['CONTEXT_OVERFLOW', 'context'],
    ['INVALID_TOOL_RESULTS', 'config'],
    ['OUTPUT_PARSING_FAILURE', 'invalid_response'],
  ])('%s', async (lc_error_code, kind) => {
    const model = fromLangChain({ stream: refusing(error('x', { lc_error_code })) } as LangChainChatModel)
    expect(await failureWith(model)).toMatchObject({ class: kind })
  })
})
