import { describe, expect, it } from 'vitest'
import { bare, chat, collect, json, key, modelOn, wire } from '../../../test/fixtures/provider-wire.ts'
import type { ModelPart, ProviderKind } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import type { ProviderSettings } from '../provider-settings.ts'
import { providerModel } from './provider-model.ts'

const models: { readonly [K in ProviderKind]: string } = {
  openai: 'gpt-5-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  'openai-compatible': 'm-1',
}
const kinds = Object.keys(models) as ProviderKind[]
const hi = chat([{ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }])

const asked = async (kind: ProviderKind, settings: ProviderSettings, provider: string = kind) => {
  const line = wire(hi)
  const model = await providerModel({
    kind,
    provider,
    model: models[kind],
    settings,
    keyVariable: 'TEST_KEY',
    fetch: line.fetch,
    clock: new FakeClock(0),
  })
  return { parts: await collect(model), sent: line.sent }
}
const failureIn = (parts: readonly ModelPart[]) => parts.flatMap((part) => (part.type === 'error' ? [part.failure] : []))[0]

describe('a model by its provider', () => {
  it('is known by provider and name, with what is known about it', async () => {
    const costOf = () => 1
    const model = await modelOn(wire(hi), { kind: 'openai', model: 'gpt-5-mini', facts: { contextTokens: 400_000, costOf } })
    expect(model).toEqual({
      id: 'openai/gpt-5-mini',
      healthKey: expect.any(String),
      abilities: ['tools', 'images', 'files', 'reasoning', 'json_schema'],
      contextTokens: 400_000,
      costOf,
      stream: expect.any(Function),
    })
  })

  it.each([
    ['openai', { authorization: `Bearer ${key}` }],
    ['anthropic', { 'x-api-key': key }],
    ['google', { 'x-goog-api-key': key }],
    ['openai-compatible', { authorization: `Bearer ${key}` }],
  ] as const)('of %s sends its key and its headers, and follows no redirect', async (kind, headers) => {
    const line = wire(hi)
    await collect(await modelOn(line, { kind, model: models[kind], settings: { apiKey: ` ${key}\n`, headers: { 'X-Team': 'a' } } }))
    expect(line.sent[0]).toMatchObject({
      headers: { ...headers, 'x-team': 'a', 'user-agent': expect.stringMatching(/^troupe /) },
      redirect: 'manual',
    })
  })

  it.each(kinds.filter((kind) => kind !== 'openai-compatible'))('of %s goes to the base URL it is given', async (kind) => {
    const { sent } = await asked(kind, { apiKey: key, baseURL: 'http://127.0.0.1:9/base//' })
    expect(sent[0]!.url).toMatch(/^http:\/\/127\.0\.0\.1:9\/base\/\w/)
  })
})

describe('the environment', () => {
  const names = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'GOOGLE_GENERATIVE_AI_API_KEY']
  it('is not looked at', async () => {
    const before = { ...process.env }
    for (const name of names) process.env[name] = name.endsWith('URL') ? 'http://127.0.0.1:9/stolen' : 'stolen'
    try {
      for (const kind of kinds) {
        const given = await asked(kind, { apiKey: key, ...(kind === 'openai-compatible' && { baseURL: 'http://127.0.0.1:9/v1' }) })
        expect(JSON.stringify(given.sent)).not.toContain('stolen')
        expect(given.sent).toHaveLength(1)
        const missing = await asked(kind, kind === 'openai-compatible' ? { baseURL: 'http://127.0.0.1:9/v1' } : {})
        expect(JSON.stringify(missing.sent)).not.toContain('stolen')
      }
    } finally {
      for (const name of names) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    }
  })
})

describe('settings that cannot work', () => {
  const odd = 'TEST_KEY contains a character that is not valid in a key: a line break, a space or a typographic character.'
  it.each([
    ['openai', {}, { message: 'openai needs a key.', remedy: 'Set TEST_KEY.' }],
    ['anthropic', { apiKey: '' }, { message: 'TEST_KEY is empty.', remedy: 'Set TEST_KEY.' }],
    ['google', { apiKey: ' \n' }, { message: 'TEST_KEY is empty.', remedy: 'Set TEST_KEY.' }],
    ['openai', { apiKey: 'sk-one\nsk-two' }, { message: odd, remedy: 'Check TEST_KEY.' }],
    ['openai-compatible', { apiKey: 'sk–dash', baseURL: 'http://127.0.0.1:9/v1' }, { message: odd, remedy: 'Check TEST_KEY.' }],
  ] as const)('fail before any request: %s with %j', async (kind, settings, words) => {
    const { parts, sent } = await asked(kind, settings)
    expect(parts).toEqual([{ type: 'error', failure: { class: 'auth', ...words } }])
    expect(sent).toEqual([])
  })

  it('are a missing key for OpenRouter, but not for a server of the house', async () => {
    const baseURL = 'http://127.0.0.1:9/v1'
    expect(failureIn((await asked('openai-compatible', { baseURL }, 'openrouter')).parts)).toMatchObject({ class: 'auth' })
    const { parts, sent } = await asked('openai-compatible', { baseURL })
    expect(parts.at(-1)).toMatchObject({ type: 'finish' })
    expect(Object.keys(sent[0]!.headers)).not.toContain('authorization')
  })

  it('are not those where a header has the key', async () => {
    const { sent } = await asked('openai', { headers: { Authorization: 'Bearer of-the-gateway' } })
    expect(sent[0]!.headers.authorization).toBe('Bearer of-the-gateway')
  })

  it.each([
    [undefined, 'house has no base URL.'],
    ['localhost:1234', 'The base URL of house is not an http: or https: address.'],
    ['file:///etc', 'The base URL of house is not an http: or https: address.'],
    ['http://me:secret@127.0.0.1/v1', 'The base URL of house must have no user, query or fragment.'],
    ['http://127.0.0.1/v1?key=secret', 'The base URL of house must have no user, query or fragment.'],
  ])('are a base URL like %s', async (baseURL, message) => {
    const { parts, sent } = await asked('openai-compatible', baseURL === undefined ? {} : { baseURL }, 'house')
    expect(failureIn(parts)).toMatchObject({ class: 'config', message })
    expect(sent).toEqual([])
  })

  it('are headers that cannot be sent', async () => {
    const { parts } = await asked('openai', { apiKey: key, headers: { 'X-Team': 'a\nb' } })
    expect(failureIn(parts)).toEqual({
      class: 'config',
      message: 'The header "X-Team" of openai contains a character that is not valid in a header.',
      remedy: 'Write it again without that character.',
    })
  })
})

describe('an answer that is no answer', () => {
  const read = async (answer: () => Response) =>
    failureIn(await collect(await modelOn(wire(answer), { kind: 'openai-compatible', model: 'm-1' }), bare))
  const page = '<!doctype html><html><head><title>Sign in</title><style>a{}</style></head><body>Please sign in</body></html>'
  const remedy = 'Check the base URL of house (http://127.0.0.1:9/v1; it mostly ends in /v1).'

  it('is a redirect, wherever it points', async () => {
    const moved = () => new Response('', { status: 308, headers: { location: 'https://evil.example/v1/chat?token=1' } })
    expect(await read(moved)).toEqual({
      class: 'config',
      message:
        'The server redirects (HTTP 308) to https://evil.example/v1/chat. Troupe does not follow it: the key would be sent there, too.',
      remedy,
    })
  })

  it('is a web page, with and without a status that says so', async () => {
    const html = (status: number) => () => new Response(page, { status, headers: { 'content-type': 'text/html' } })
    expect(await read(html(200))).toEqual({
      class: 'invalid_response',
      message: 'The server answered with a web page instead of a stream of events: "Sign in Please sign in"',
      remedy,
    })
    expect(await read(html(404))).toEqual({
      class: 'config',
      message: 'The server answered with a web page (HTTP 404): "Sign in Please sign in"',
      remedy,
    })
    expect(await read(html(502))).toMatchObject({ class: 'model' })
  })

  it('is a document, even if it explains itself', async () => {
    expect(await read(json(200, { error: 'Unexpected endpoint or method. (POST /chat/completions)' }))).toEqual({
      class: 'invalid_response',
      message:
        'The server answered with application/json instead of a stream of events: "Unexpected endpoint or method. (POST /chat/completions)"',
      remedy,
    })
  })

  it('is not a stream under a wrong name', async () => {
    const plain = () => {
      const body = new ReadableStream({
        start(controller) {
          for (const part of ['da', 'ta: {"choices":[{"index":0,"delta":{"content":"Hi"},', '"finish_reason":"stop"}]}\n\n'])
            controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/plain' } })
    }
    const parts = await collect(await modelOn(wire(plain), { kind: 'openai-compatible', model: 'm-1' }))
    expect(parts).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  it('never shows the key', async () => {
    const failure = await read(json(401, { error: { message: `Incorrect API key provided: ${key}` } }))
    expect(failure).toEqual({ class: 'auth', message: 'Incorrect API key provided: [key] (HTTP 401)', remedy: 'Check TEST_KEY.' })
  })
})
