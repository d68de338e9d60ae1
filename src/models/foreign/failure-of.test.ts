import { describe, expect, it } from 'vitest'
import { failureOf } from './failure-of.ts'

const error = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields)

describe('what an error of another framework says', () => {
  it.each<[what: string, thrown: unknown, kind: string]>([
    ['a refused key', error('401', { status: 401 }), 'auth'],
    ['a key that may not', error('403', { statusCode: 403 }), 'auth'],
    ['a refused key behind a 400', error('API key not valid. Please pass a valid one.', { status: 400 }), 'auth'],
    ['an unpaid bill', error('402', { status: 402 }), 'quota'],
    ['a spent quota behind a 429', error('429', { status: 429, code: 'insufficient_quota' }), 'quota'],
    ['a spent quota in the body', error('429', { status: 429, error: { type: 'insufficient_quota' } }), 'quota'],
    ['an empty account behind a 400', error('Your credit balance is too low.', { status: 400 }), 'quota'],
    ['too many requests', error('429', { status: 429 }), 'rate_limit'],
    ['too many requests, by axios', error('429', { response: { status: 429 } }), 'rate_limit'],
    ['too many requests, by the code of LangChain', error('slow down', { lc_error_code: 'MODEL_RATE_LIMIT' }), 'rate_limit'],
    ['an overloaded provider', error('529', { status: 529 }), 'rate_limit'],
    ['a provider that broke', error('500', { status: 500 }), 'model'],
    ['a provider that broke, by the AWS client', error('x', { $metadata: { httpStatusCode: 500 } }), 'model'],
    ['an unknown model', error('404', { status_code: 404 }), 'config'],
    ['a request that is too long', error('too long', { name: 'ContextOverflowError' }), 'config'],
    ['a gateway that waited in vain', error('504', { status: 504 }), 'timeout'],
    ['a timeout', error('late', { name: 'TimeoutError' }), 'timeout'],
    ['a timeout of the client', error('late', { name: 'APIConnectionTimeoutError' }), 'timeout'],
    ['a refused connection', error('Connection error.', { name: 'APIConnectionError' }), 'network'],
    ['a name that is unknown', new TypeError('fetch failed', { cause: error('getaddrinfo', { code: 'ENOTFOUND' }) }), 'network'],
    ['a connection that broke', new TypeError('terminated', { cause: error('other side closed', { code: 'UND_ERR_SOCKET' }) }), 'network'],
    ['a connection that broke, without a cause', new TypeError('terminated'), 'network'],
    ['a certificate', error('bad', { code: 'CERT_HAS_EXPIRED' }), 'network'],
    ['an answer that cannot be read', new SyntaxError('Unexpected token < in JSON'), 'invalid_response'],
    ['anything else', error('hm'), 'model'],
    ['a text', 'out of order', 'model'],
    ['nothing', undefined, 'model'],
  ])('%s', (_, thrown, kind) => expect(failureOf(thrown)).toMatchObject({ class: kind, message: expect.stringMatching(/\S/) }))

  it('leaves out what is not for us, and is one line', () => {
    expect(failureOf(error('bad\nkey\n\nTroubleshooting URL: https://docs.langchain.com/errors/X/\n', { status: 401 }))).toEqual({
      class: 'auth',
      message: 'bad key',
      remedy: 'Check the key that the model was built with, and what it may do.',
    })
    expect(failureOf(error('')).message).toBe('The model failed without saying why.')
    expect(failureOf(error('x'.repeat(5000))).message).toHaveLength(301)
  })

  const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
  it.each<[what: string, headers: unknown, ms: number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['parts of a second', { 'Retry-After': '0.5' }, 500],
    ['a number', { 'retry-after': 7 }, 7000],
    ['milliseconds, which are more exact', new Headers({ 'retry-after': '1', 'retry-after-ms': '250' }), 250],
    ['a date', new Headers({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT', date }), 30_000],
    ['a date that is over', { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT', date }, 0],
    ['a date without one to hold it against', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, undefined],
    ['nonsense', { 'retry-after': 'soon', date }, undefined],
    ['a negative number', { 'retry-after': '-5', date }, undefined],
    ['nothing', undefined, undefined],
  ])('the server asks to wait: %s', (_, headers, ms) => {
    expect(failureOf(error('429', { status: 429, headers })).retryAfterMs).toBe(ms)
    expect(failureOf(error('429', { status: 429, response: { headers } })).retryAfterMs).toBe(ms)
  })

  it('does not follow causes in circles', () => {
    const circle = error('round')
    circle.cause = circle
    expect(failureOf(circle)).toEqual({ class: 'model', message: 'round' })
  })
})
