import {
  APICallError,
  EmptyResponseBodyError,
  JSONParseError,
  LoadAPIKeyError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import type { Json, ModelFailure } from '../../contracts/index.ts'
import { FailureError } from './failure.ts'
import { changeRequest as change } from './http-failure.ts'
import { type FailureRules, modelFailure } from './model-failure.ts'

const rules: FailureRules = {
  remedies: { auth: 'AUTH', network: 'NETWORK', baseUrl: 'BASE' },
  secrets: ['sk-secret-123'],
  names: {
    AI_LoadAPIKeyError: 'auth',
    AI_UnsupportedFunctionalityError: 'config',
    AI_EmptyResponseBodyError: 'invalid_response',
    AI_JSONParseError: 'invalid_response',
    AI_TypeValidationError: 'invalid_response',
  },
  now: () => 0,
}
const url = 'https://api.example.com/v1/chat?key=hidden'
const answered = (statusCode: number, body: Json | string, headers: { [name: string]: string } = {}) =>
  new APICallError({
    message: 'from the status',
    url,
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
  })
const said = (message: string, more: { readonly [key: string]: Json } = {}): Json => ({ error: { message, ...more } })
const again = 'Try again. If it fails again, check the network and any proxy.'
const read = (error: unknown): ModelFailure => modelFailure(error, rules)

describe('the status of an answer', () => {
  it.each<[unknown, ModelFailure]>([
    [answered(401, said('No.')), { class: 'auth', message: 'No. (HTTP 401)', remedy: 'AUTH' }],
    [answered(403, said('No.')), { class: 'auth', message: 'No. (HTTP 403)', remedy: 'AUTH' }],
    [answered(402, said('Pay.')), { class: 'quota', message: 'Pay. (HTTP 402)' }],
    [answered(429, said('Slow.')), { class: 'rate_limit', message: 'Slow. (HTTP 429)' }],
    [answered(429, said('Slow.'), { 'retry-after': '2' }), { class: 'rate_limit', message: 'Slow. (HTTP 429)', retryAfterMs: 2000 }],
    [answered(429, said('Slow.'), { 'Retry-After': 'nonsense' }), { class: 'rate_limit', message: 'Slow. (HTTP 429)' }],
    [
      answered(429, said('You exceeded your current quota, please check your plan and billing details.', { code: 'insufficient_quota' })),
      {
        class: 'quota',
        message: 'You exceeded your current quota, please check your plan and billing details. (HTTP 429)',
      },
    ],
    [answered(408, said('Late.')), { class: 'timeout', message: 'Late. (HTTP 408)' }],
    [answered(504, said('Late.')), { class: 'timeout', message: 'Late. (HTTP 504)' }],
    [answered(500, said('Broken.')), { class: 'model', message: 'Broken. (HTTP 500)' }],
    [answered(500, ''), { class: 'model', message: 'from the status (HTTP 500)' }],
    [answered(503, said('Full.')), { class: 'rate_limit', message: 'The provider is overloaded: Full. (HTTP 503)' }],
    [answered(529, said('Full.')), { class: 'rate_limit', message: 'The provider is overloaded: Full. (HTTP 529)' }],
    [
      answered(404, said('The model x does not exist.')),
      {
        class: 'config',
        message: 'The model x does not exist. (HTTP 404)',
        remedy: 'Check the name of the model, and the base URL if you have set one.',
      },
    ],
    [answered(400, said('Bad.')), { class: 'config', message: 'Bad. (HTTP 400)', remedy: change }],
    [answered(422, { detail: [{ msg: 'Field required' }] }), { class: 'config', message: 'Field required (HTTP 422)', remedy: change }],
    [
      answered(400, said('This model has a maximum context length of 8192 tokens.', { code: 'context_length_exceeded' })),
      {
        class: 'context',
        message: 'The request is too long for this model: This model has a maximum context length of 8192 tokens. (HTTP 400)',
      },
    ],
    [
      answered(400, said('prompt is too long: 300000 tokens > 200000 maximum')),
      {
        class: 'context',
        message: 'The request is too long for this model: prompt is too long: 300000 tokens > 200000 maximum (HTTP 400)',
      },
    ],
    [answered(404, { error: 'model "x" not found' }), expect.objectContaining({ message: 'model "x" not found (HTTP 404)' })],
    [
      answered(400, said('Provider returned error', { metadata: { raw: '{"error":{"message":"upstream says no"}}' } })),
      { class: 'config', message: 'Provider returned error: upstream says no (HTTP 400)', remedy: change },
    ],
    [answered(301, ''), { class: 'config', message: 'The server redirects (HTTP 301).', remedy: 'BASE' }],
    [
      answered(404, '<html><body>nginx</body></html>'),
      { class: 'config', message: 'The server answered with a web page (HTTP 404): "nginx"', remedy: 'BASE' },
    ],
  ])('decides: %#', (error, expected) => {
    expect(read(error)).toEqual(expected)
  })
})

describe('a connection that fails', () => {
  const failed = (code: string, message = '') =>
    new APICallError({
      message: `Cannot connect to API: ${message}`,
      url,
      requestBodyValues: {},
      cause: Object.assign(new Error(message), { code }),
    })
  const where = 'https://api.example.com'
  it.each<[string, ModelFailure]>([
    ['ECONNREFUSED', { class: 'network', message: `Nothing answers at ${where} (ECONNREFUSED).`, remedy: 'NETWORK', unsent: true }],
    [
      'ENOTFOUND',
      {
        class: 'network',
        message: `The name of ${where} cannot be resolved (ENOTFOUND).`,
        remedy: 'Check the network. BASE',
        unsent: true,
      },
    ],
    [
      'EAI_AGAIN',
      {
        class: 'network',
        message: `The name of ${where} cannot be resolved (EAI_AGAIN).`,
        remedy: 'Check the network. BASE',
        unsent: true,
      },
    ],
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      {
        class: 'network',
        message: `The certificate of ${where} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).`,
        remedy: 'Check the base URL and the clock; name the certificate of your own authority in NODE_EXTRA_CA_CERTS.',
        unsent: true,
      },
    ],
    [
      'ECONNRESET',
      { class: 'network', message: `The connection to ${where} was closed before the answer was complete (ECONNRESET).`, remedy: again },
    ],
    [
      'UND_ERR_SOCKET',
      {
        class: 'network',
        message: `The connection to ${where} was closed before the answer was complete (UND_ERR_SOCKET).`,
        remedy: again,
      },
    ],
    [
      'UND_ERR_CONNECT_TIMEOUT',
      { class: 'network', message: `${where} cannot be reached in time (UND_ERR_CONNECT_TIMEOUT).`, remedy: 'NETWORK', unsent: true },
    ],
    ['UND_ERR_BODY_TIMEOUT', { class: 'timeout', message: `${where} stopped responding (UND_ERR_BODY_TIMEOUT).` }],
    ['HPE_INVALID_CONSTANT', { class: 'network', message: `The server at ${where} does not speak HTTP.`, remedy: 'BASE' }],
  ])('with %s', (code, expected) => {
    expect(read(failed(code))).toEqual(expected)
  })

  it('because the server speaks no TLS', () => {
    expect(read(failed('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number'))).toEqual({
      class: 'network',
      message: `${where} does not speak TLS.`,
      remedy: 'If it has none, its address begins with http:. BASE',
      unsent: true,
    })
  })

  it('in the middle of a good answer', () => {
    const cause = new TypeError('terminated', { cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }) })
    const error = new APICallError({ message: 'Failed to process successful response', url, requestBodyValues: {}, statusCode: 200, cause })
    expect(read(error)).toMatchObject({
      class: 'network',
      message: `The connection to ${where} was closed before the answer was complete (UND_ERR_SOCKET).`,
    })
  })

  it('on every address that was tried', () => {
    const cause = Object.assign(new AggregateError([Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })], ''), {})
    expect(read(new TypeError('fetch failed', { cause }))).toMatchObject({
      class: 'network',
      message: 'Nothing answers at the provider (ECONNREFUSED).',
    })
  })
})

describe('an answer that cannot be read', () => {
  it.each<[unknown, ModelFailure]>([
    [
      new JSONParseError({ text: '<!doctype html><p>Hello', cause: new Error('x') }),
      { class: 'invalid_response', message: 'The response does not have the format of this provider: Hello', remedy: 'BASE' },
    ],
    [
      new TypeValidationError({ value: { a: 1 }, cause: new Error('x') }),
      { class: 'invalid_response', message: `The response does not have the format of this provider: {"a":1}`, remedy: 'BASE' },
    ],
    [new EmptyResponseBodyError(), { class: 'invalid_response', message: 'The response of the server is empty.', remedy: 'BASE' }],
    [
      new APICallError({ message: 'x', url, requestBodyValues: {}, statusCode: 200, cause: new EmptyResponseBodyError() }),
      { class: 'invalid_response', message: 'The response of the server is empty.', remedy: 'BASE' },
    ],
  ])('%#', (error, expected) => {
    expect(read(error)).toEqual(expected)
  })

  it('stays short', () => {
    const { message } = read(new TypeValidationError({ value: 'x'.repeat(100_000), cause: new Error('x') }))
    expect(message.length).toBeLessThan(350)
    expect(read(new Error('y'.repeat(100_000))).message.length).toBeLessThan(350)
  })
})

describe('a request that cannot be made', () => {
  it.each<[unknown, ModelFailure]>([
    [new LoadAPIKeyError({ message: 'The key is missing.' }), { class: 'auth', message: 'The key is missing.', remedy: 'AUTH' }],
    [
      new UnsupportedFunctionalityError({ functionality: 'media type: audio/ogg' }),
      { class: 'config', message: "'media type: audio/ogg' functionality not supported.", remedy: change },
    ],
    [
      new APICallError({
        message: 'x',
        url,
        requestBodyValues: {},
        statusCode: 200,
        cause: new FailureError({ class: 'invalid_response', message: 'Ours, wrapped.' }),
      }),
      { class: 'invalid_response', message: 'Ours, wrapped.' },
    ],
    [new FailureError({ class: 'config', message: 'Ours.', remedy: 'Do.' }), { class: 'config', message: 'Ours.', remedy: 'Do.' }],
  ])('%#', (error, expected) => {
    expect(read(error)).toEqual(expected)
  })

  it('because of its key, which is not shown', () => {
    let thrown: unknown
    try {
      new Headers({ authorization: 'Bearer sk-other\nsecret' })
    } catch (error) {
      thrown = error
    }
    expect(String(thrown)).toContain('sk-other')
    expect(read(thrown)).toEqual({
      class: 'auth',
      message: 'The key or a header contains a character that is not valid in an HTTP header.',
      remedy: 'Check it for line breaks and typographic characters. AUTH',
    })
  })
})

it('keeps keys out of whatever it says', () => {
  expect(read(answered(500, said('You sent sk-secret-123, really: sk-secret-123')))).toEqual({
    class: 'model',
    message: 'You sent [key], really: [key] (HTTP 500)',
  })
})
