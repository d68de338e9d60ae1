import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { knownProviders } from '../known-providers.ts'
import type { ProviderConfig } from './adapter-options.ts'
import { findAllModels, findModel } from './find-model.ts'
import { bundledFacts } from './prices.ts'

type Servers = { readonly [url: string]: unknown }

/** Answers for the servers named, and never for any other. */
function search(
  variables: { readonly [name: string]: string },
  servers: Servers = {},
  providers: { readonly [name: string]: ProviderConfig } = {},
) {
  const clock = new FakeClock()
  const asked: string[] = []
  const fetcher: typeof fetch = (url, init) => {
    asked.push(String(url))
    const body = servers[String(url)]
    if (body !== undefined) return Promise.resolve(Response.json(body))
    return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  }
  const options = { variables, providers, clock, fetch: fetcher }
  return { clock, asked, options, found: findModel(options) }
}
const listing = (...ids: readonly string[]) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })

test('a key decides, in the order of the table, and no server is contacted', async () => {
  const { asked, found } = search({ OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' })
  expect(await found).toBe('openai/gpt-5.4-mini')
  expect(asked).toEqual([])
  expect(await search({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }).found).toBe('anthropic/claude-sonnet-5')
})

test('what `auto` takes has a price and a window', async () => {
  for (const [provider, { defaultModel }] of Object.entries(knownProviders)) {
    if (defaultModel === undefined) continue
    expect(await bundledFacts(provider, defaultModel, () => 0), provider).toEqual({
      contextTokens: expect.any(Number),
      costOf: expect.any(Function),
    })
  }
})

test('else a server on this machine, with the first model that talks', async () => {
  const { clock, asked, found } = search({}, { 'http://127.0.0.1:1234/v1/models': listing('text-embedding-nomic', 'qwen3-8b') })
  await clock.elapse(300)
  expect(await found).toBe('lmstudio/qwen3-8b')
  expect(asked).toEqual([11_434, 1_234, 8_080, 8_000].map((port) => `http://127.0.0.1:${port}/v1/models`))
})

test.each(['127.0.0.1:4711', 'http://localhost:4711/', '0.0.0.0:4711', 'http://127.0.0.1:4711/v1'])(
  'OLLAMA_HOST=%s is respected',
  async (host) => {
    const port = { 'http://127.0.0.1:4711/v1/models': listing('a'), 'http://localhost:4711/v1/models': listing('a') }
    const { clock, found } = search({ OLLAMA_HOST: host }, port)
    await clock.elapse(300)
    expect(await found).toBe('ollama/a')
  },
)

test('nothing is sent to another machine, and the error lists everything that was searched', async () => {
  const { clock, asked, found } = search(
    { OLLAMA_HOST: 'http://10.1.2.3:11434', OPENAI_API_KEY: '' },
    { 'http://127.0.0.1:8000/v1/models': listing('bge-embed'), 'http://127.0.0.1:8080/v1/models': 'no list' },
  )
  const failure = expect(found).rejects.toMatchObject({
    code: 'model_unavailable',
    remedy: expect.stringContaining('`rehearsal`'),
    problems: [
      { place: expect.stringContaining('ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY') },
      { place: 'http://10.1.2.3:11434/v1 (Ollama)', message: 'It is not a local address, so it was not probed.' },
      { place: 'http://127.0.0.1:1234/v1 (LM Studio)', message: 'No server answers there.' },
      { place: 'http://127.0.0.1:8080/v1 (llama.cpp)', message: 'No server answers there.' },
      { place: 'http://127.0.0.1:8000/v1 (vLLM)', message: 'The server has no chat model.' },
    ],
  })
  await clock.elapse(300)
  await failure
  expect(asked.some((url) => url.includes('10.1.2.3'))).toBe(false)
})

test('configured models come first, whatever authorises them', async () => {
  const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }
  expect(await search(keys, {}, { openai: { baseURL: 'https://proxy.example.org/v1' } }).found).toBe('openai/gpt-5.4-mini')
  const header = { google: { headers: { 'X-Goog-Api-Key': 'k' } } }
  expect(await search(keys, {}, header).found).toBe('google/gemini-3.5-flash')
  expect(await search(keys, {}, { anthropic: { apiKey: ' ' } }).found).toBe('openai/gpt-5.4-mini')
})

test('a configured server on this machine is asked before those that are known', async () => {
  const servers = { 'http://127.0.0.1:9000/v1/models': listing('mine'), 'http://127.0.0.1:8000/v1/models': listing('other') }
  const { clock, asked, found } = search({}, servers, { lab: { baseURL: 'http://127.0.0.1:9000/v1/' } })
  await clock.elapse(300)
  expect(await found).toBe('lab/mine')
  expect(asked[0]).toBe('http://127.0.0.1:9000/v1/models')
})

test('a server that wants a key is asked with it', async () => {
  const sent: unknown[] = []
  const answer: typeof fetch = async (url, init) => {
    sent.push([String(url), new Headers(init?.headers).get('authorization')])
    return Response.json(listing('a'))
  }
  expect(await findModel({ variables: { VLLM_API_KEY: 'k' }, clock: new FakeClock(), fetch: answer })).toBe('ollama/a')
  expect(sent).toContainEqual(['http://127.0.0.1:8000/v1/models', 'Bearer k'])
  expect(sent).toContainEqual(['http://127.0.0.1:11434/v1/models', null])
})

test('an invalid address is reported, and the other servers are still contacted', async () => {
  const wrong = { OLLAMA_HOST: 'ftp://x y', VLLM_BASE_URL: 'nowhere' }
  const { clock, found } = search(wrong, { 'http://127.0.0.1:8080/v1/models': listing('a') })
  await clock.elapse(300)
  expect(await found).toBe('llamacpp/a')
  const failing = search(wrong)
  const failure = expect(failing.found).rejects.toMatchObject({
    code: 'model_unavailable',
    problems: expect.arrayContaining([
      { place: 'vLLM', message: 'VLLM_BASE_URL is not an http: or https: address.', remedy: expect.any(String) },
      { place: 'Ollama', message: 'OLLAMA_HOST is not an http: or https: address.', remedy: expect.any(String) },
    ]),
  })
  await failing.clock.elapse(300)
  await failure
})

test('all models that are found: of each key and each local server, with the reason', async () => {
  const servers = { 'http://127.0.0.1:11434/v1/models': listing('qwen3:8b') }
  const providers = { openai: { kind: 'openai', apiKey: 'k' }, wrong: { baseURL: 'nonsense' } } as const
  const { clock, options } = search({ ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' }, servers, providers)
  const found = findAllModels(options)
  await clock.elapse(300)
  expect(await found).toEqual([
    { model: 'openai/gpt-5.4-mini', from: 'providers.openai' },
    { model: 'anthropic/claude-sonnet-5', from: 'ANTHROPIC_API_KEY' },
    { model: 'google/gemini-3.5-flash', from: 'GEMINI_API_KEY' },
    { model: 'ollama/qwen3:8b', from: 'Ollama on this machine' },
  ])
})
