/* Issue 3, Deliver 4: `auto` with the loopback probe and its remedy; prices and windows; reported cost. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Cost, createAgentRuntime, type Model } from '../../src/index.ts'
import { type ModelAdapterOptions, modelAdapter } from '../../src/models/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { agent, bounded, everything, settle, troupeError, until, world } from './support.ts'
import { anthropic, lab, openAiChat, openAiResponses, openRouter, optionsFor, provider, reply, type Said, type Wire } from './wire.ts'

beforeAll(() => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-poison')
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-poison')
  return () => vi.unstubAllEnvs()
})

const models = (...ids: readonly string[]) => Response.json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })
type Answers = (url: URL) => Response | Promise<Response> | undefined
/** A machine on which the given ports answer and all others refuse. */
function machine(answers: Answers = () => undefined) {
  const asked: URL[] = []
  const fetch = (async (input: string | URL | Request, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input)
    asked.push(url)
    const answer = answers(url)
    if (!answer) throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
    return await Promise.race([
      answer,
      new Promise<never>((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
    ])
  }) as typeof globalThis.fetch
  return { asked, fetch }
}
async function resolved(options: Partial<ModelAdapterOptions>, clock = new FakeClock()): Promise<Model> {
  const work = Promise.resolve(modelAdapter({ variables: {}, clock, ...options }).resolve('auto'))
  work.catch(() => undefined)
  await settle()
  for (let i = 0; i < 20; i += 1) await clock.elapse(100)
  return bounded(work)
}

describe('auto', () => {
  test.each([
    ['ANTHROPIC_API_KEY', 'anthropic/'],
    ['OPENAI_API_KEY', 'openai/'],
    ['GEMINI_API_KEY', 'google/'],
    ['OPENROUTER_API_KEY', 'openrouter/'],
  ])('takes the provider whose key is there: %s, and probes nothing', async (name, start) => {
    const { asked, fetch } = machine()
    const model = await resolved({ variables: { [name]: 'sk-x' }, fetch })
    expect(model.id.startsWith(start)).toBe(true)
    expect(asked).toEqual([])
  })
  test('an empty key is none', async () => {
    const { fetch } = machine((url) => (url.port === '11434' ? models('qwen3') : undefined))
    expect((await resolved({ variables: { OPENAI_API_KEY: '' }, fetch })).id).toBe('ollama/qwen3')
  })
  test('the key of a configured provider is used, too', async () => {
    const { fetch } = machine()
    expect((await resolved({ providers: { openai: { kind: 'openai', apiKey: 'sk-x' } }, fetch })).id).toMatch(/^openai\//)
  })
  test.each([
    ['11434', 'ollama'],
    ['1234', 'lmstudio'],
    ['8080', 'llamacpp'],
    ['8000', 'vllm'],
  ])('finds a server on port %s of this machine', async (port, name) => {
    const { fetch } = machine((url) => (url.port === port ? models('local-1') : undefined))
    expect((await resolved({ fetch })).id).toBe(`${name}/local-1`)
  })
  test('contacts all of them in parallel, on loopback only, and sends no key', async () => {
    const never = new Promise<Response>(() => undefined)
    const { asked, fetch } = machine(() => never)
    const clock = new FakeClock()
    const work = Promise.resolve(modelAdapter({ variables: {}, clock, fetch }).resolve('auto'))
    work.catch(() => undefined)
    await until('all are asked', () => new Set(asked.map(({ port }) => port)).size >= 4)
    expect(asked.map(({ port }) => port)).toEqual(expect.arrayContaining(['11434', '1234', '8080', '8000']))
    for (const { hostname } of asked) expect(hostname).toMatch(/^(127\.0\.0\.1|localhost|\[::1\])$/)
    for (let i = 0; i < 4; i += 1) await clock.elapse(100)
    const error = await troupeError(() => work)
    expect(error.code).toBe('model_unavailable')
  })
  test('a local server that was moved to another machine is not asked unless it is named', async () => {
    const { asked, fetch } = machine((url) => (url.hostname === '10.1.2.3' ? models('m') : undefined))
    const clock = new FakeClock()
    const work = Promise.resolve(modelAdapter({ variables: { OLLAMA_HOST: 'http://10.1.2.3:11434' }, clock, fetch }).resolve('auto'))
    work.catch(() => undefined)
    await settle(20)
    await clock.elapse(400)
    expect((await troupeError(() => work)).code).toBe('model_unavailable')
    expect(asked.map(({ hostname }) => hostname)).not.toContain('10.1.2.3')
  })
  test('waits 300 ms and no longer', async () => {
    const late = Promise.withResolvers<Response>()
    const { fetch } = machine((url) => (url.port === '11434' ? late.promise : undefined))
    const clock = new FakeClock()
    const work = Promise.resolve(modelAdapter({ variables: {}, clock, fetch }).resolve('auto'))
    let ended = false
    work.catch(() => undefined).finally(() => (ended = true))
    await settle(20)
    await clock.elapse(250)
    await settle()
    expect(ended).toBe(false)
    await clock.elapse(100)
    await settle()
    expect(ended).toBe(true)
  })
  test('a server that answers within it is taken, though others are silent', async () => {
    const { fetch } = machine((url) => (url.port === '1234' ? models('m') : new Promise<Response>(() => undefined)))
    expect((await resolved({ fetch })).id).toBe('lmstudio/m')
  })
  test.each<[string, () => Response]>([
    ['a web page', () => new Response('<html>It works!</html>', { headers: { 'content-type': 'text/html' } })],
    ['no models', () => models()],
    ['an error', () => new Response('no', { status: 500 })],
    ['nonsense', () => Response.json({ data: 'x' })],
    ['models without names', () => Response.json({ data: [{}, null, 7] })],
    ['a redirect', () => new Response('', { status: 302, headers: { location: 'https://example.invalid/' } })],
  ])('a server that answers with %s is none', async (_, answer) => {
    const { asked, fetch } = machine(answer)
    const clock = new FakeClock()
    const work = Promise.resolve(modelAdapter({ variables: {}, clock, fetch }).resolve('auto'))
    work.catch(() => undefined)
    await settle(20)
    await clock.elapse(400)
    expect((await troupeError(() => work)).code).toBe('model_unavailable')
    for (const { hostname } of asked) expect(hostname).not.toContain('example')
  })
  test('if nothing is found, everything that was searched is reported, with a remedy', async () => {
    const { fetch } = machine()
    const error = await troupeError(() => resolved({ fetch }))
    expect(error).toMatchObject({ code: 'model_unavailable', remedy: expect.any(String) })
    for (const looked of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', '11434', '1234', '8080', '8000'])
      expect(everything(error)).toContain(looked)
  })
  test('never falls back to the rehearsal in silence', async () => {
    const { fetch } = machine()
    expect((await troupeError(() => resolved({ fetch }))).code).toBe('model_unavailable')
  })
  test('is what an agent without a model gets: the run names what was taken', async () => {
    const server = await provider(reply(openAiResponses, { text: 'Hello.' }))
    const runtime = createAgentRuntime({
      clock: new FakeClock(),
      adapter: modelAdapter({ variables: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1` } }),
      config: { agents: [{ ...agent, model: 'auto' }] },
    })
    onTestFinished(() => runtime.close())
    const outcome = await bounded(runtime.run('Hi'))
    expect(outcome).toMatchObject({ status: 'completed', accounting: [{ model: expect.stringMatching(/^openai\/(?!auto)/) }] })
  })
})

describe('prices and windows', () => {
  async function costs(wire: Wire, said: Said, more: (body: string) => string = (body) => body): Promise<Cost> {
    const { body = '' } = reply(wire, said)
    const server = await provider({ body: more(body) })
    const runtime = createAgentRuntime({
      clock: new FakeClock(Date.UTC(2026, 10, 15)),
      adapter: modelAdapter(optionsFor(wire, server.url)),
      config: { agents: [{ ...agent, model: wire.model }] },
    })
    onTestFinished(() => runtime.close())
    return (await bounded(runtime.run('Hi'))).cost
  }
  test('a known model has its price from the table', async () => {
    // gpt-4o-mini: 0.15 $ and 0.60 $ for a million tokens
    expect(await costs(openAiChat, { text: 'x', usage: { input: 1_000_000, output: 1_000_000 } })).toBeCloseTo(0.75, 6)
  })
  test('what comes from the cache is cheaper', async () => {
    const said = { text: 'x', usage: { input: 1_000_000, output: 0 } }
    const full = (await costs(anthropic, said)) as number
    const cached = await costs(anthropic, said, (body) =>
      body.replace('"input_tokens":1000000', '"input_tokens":0,"cache_read_input_tokens":1000000'),
    )
    expect(cached).toBeLessThan(full)
    expect(cached).toBeGreaterThan(0)
  })
  test('a model that is in no table costs unknown, never a false 0', async () => {
    const adapter = modelAdapter({ variables: { OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k', LAB_BASE_URL: 'https://lab.invalid/v1' } })
    for (const name of ['openai/gpt-unheard-of-77', 'openrouter/nobody/nothing-1', 'lab/tiny-1']) {
      const model = await adapter.resolve(name)
      expect(model.costOf?.({ input: 10, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }), name).toBeUndefined()
    }
  })
  test('so does one of a paid provider that is reached through a proxy on this machine', async () => {
    expect(await costs({ ...openAiChat, model: 'openai/gpt-unheard-of-77' }, { text: 'x' })).toBe('unknown')
    expect(await costs({ ...openRouter, model: 'openrouter/nobody/nothing-1' }, { text: 'x' })).toBe('unknown')
  })
  test('so does one behind an OpenAI-compatible address on this machine: it may pass requests on', async () => {
    expect(await costs(lab, { text: 'x' })).toBe('unknown')
  })
  test('a model of Ollama on this machine is free', async () => {
    const model = await modelAdapter({ variables: {} }).resolve('ollama/qwen3')
    expect(model.costOf?.({ input: 10, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }) ?? 'unknown').toBe(0)
  })
  test('the cost that OpenRouter reports beats the computed one', async () => {
    const reported = await costs({ ...openRouter, model: 'openrouter/openai/gpt-4o-mini' }, { text: 'x' }, (body) =>
      body.replace('"total_tokens":15', '"total_tokens":15,"cost":0.0123'),
    )
    expect(reported).toBeCloseTo(0.0123, 9)
  })
  test('a reported cost makes a model known that is in no table', async () => {
    expect(
      await costs({ ...openRouter, model: 'openrouter/nobody/nothing-1' }, { text: 'x' }, (body) =>
        body.replace('"total_tokens":15', '"total_tokens":15,"cost":0.5'),
      ),
    ).toBe(0.5)
  })
  test('one unknown part makes the whole unknown', async () => {
    const { runtime } = world({
      steps: [
        { calls: [{ tool: 'act', input: { reason: 'r' } }], usage: { input: 1, output: 1 }, costUsd: 0.25 },
        { text: 'x', usage: { input: 1, output: 1 } },
      ],
      tools: [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, execute: () => 'ok' }],
    })
    expect((await bounded(runtime.run('go'))).cost).toBe('unknown')
  })
  test('windows come from the table, and are left out where it has none', async () => {
    const adapter = modelAdapter({ variables: { OPENAI_API_KEY: 'k' } })
    expect((await adapter.resolve('openai/gpt-4o-mini')).contextTokens).toBe(128_000)
    expect((await adapter.resolve('openai/gpt-unheard-of-77')).contextTokens).toBeUndefined()
  })
})
