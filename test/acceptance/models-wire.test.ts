/* Issue 3, Deliver 1: providers by name over real HTTP; what is sent, whole; keys handed over, never found. */
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AgentDefinition, createAgentRuntime, type Tool } from '../../src/index.ts'
import { type ModelAdapterOptions, modelAdapter } from '../../src/models/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { bounded, collect, everything, inProcess, ofType, troupeError } from './support.ts'
import {
  anthropic,
  gemini,
  lab,
  named,
  ollama,
  openAiChat,
  openAiResponses,
  openRouter,
  optionsFor,
  provider,
  reply,
  type Wire,
} from './wire.ts'

const poison = 'sk-poison-from-the-environment'
beforeAll(() => {
  // Whatever is below the command line must not look here.
  for (const name of ['OPENAI', 'ANTHROPIC', 'GEMINI', 'GOOGLE', 'GOOGLE_GENERATIVE_AI', 'OPENROUTER', 'OLLAMA', 'LAB']) {
    vi.stubEnv(`${name}_API_KEY`, poison)
    vi.stubEnv(`${name}_BASE_URL`, 'http://127.0.0.1:9/poison')
  }
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', poison)
  vi.stubEnv('OPENAI_ORGANIZATION', poison)
  vi.stubEnv('OPENAI_PROJECT', poison)
  vi.stubEnv('OLLAMA_HOST', '127.0.0.1:9')
  return () => vi.unstubAllEnvs()
})

const runs: unknown[] = []
const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  effect: 'read',
  execute: (input) => {
    runs.push(input)
    return 'a capital'
  },
}
const reason = { type: 'string', description: expect.any(String) }
const offered = { type: 'object', properties: { word: { type: 'string' }, reason }, required: ['word', 'reason'] }

function clerk(options: ModelAdapterOptions, definition: Partial<AgentDefinition> & { model: string }, tools: readonly Tool[] = []) {
  const runtime = createAgentRuntime({
    clock: new FakeClock(),
    adapter: modelAdapter(options),
    config: { agents: [{ name: 'clerk', description: 'd', prompt: 'You are a clerk.', ...definition }], tools },
  })
  onTestFinished(() => runtime.close())
  return runtime
}

describe.each(named.map((wire) => [wire.name, wire] as const))('%s', (_, wire) => {
  test('answers, and the text comes as it is streamed', async () => {
    const server = await provider(reply(wire, { text: 'Oslo is the capital.', usage: { input: 12, output: 6 } }))
    const handle = clerk(optionsFor(wire, server.url), { model: wire.model }).stream('Where?')
    const events = await bounded(collect(handle))
    const outcome = await handle.outcome
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Oslo is the capital.' }, usage: { input: 12, output: 6 } })
    expect(outcome.usage.estimated).toBeUndefined()
    expect(ofType(events, 'interaction.item.delta').map(({ text }) => text)).toEqual(['Oslo is th', 'e capital.'])
    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST ${wire.path}`])
  })

  test('takes its calls, and is told their results under their own ids', async () => {
    const calls = [
      { id: 'call_a', name: 'look_up', input: { word: 'oslo', reason: 'why' } },
      { id: 'call_b', name: 'look_up', input: { word: 'riga', reason: 'why' } },
    ]
    const server = await provider(reply(wire, { text: 'Looking.', calls }), reply(wire, { text: 'Done.' }))
    runs.length = 0
    const outcome = await bounded(clerk(optionsFor(wire, server.url), { model: wire.model }, [lookUp]).run('Where?'))
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(runs).toEqual([{ word: 'oslo' }, { word: 'riga' }])
    const history = wire.history(server.asked[1]?.body)
    expect(history.calls).toMatchObject(calls.map(({ name, input }) => ({ name, input })))
    expect(history.results).toHaveLength(2)
    for (const result of history.results) expect(result).toContain('a capital')
    if (wire !== gemini) {
      expect(history.calls).toMatchObject(calls)
      expect(history.results[1]).toContain('call_b')
    }
  })

  test('is let in with the key that was handed over, whatever the environment says', async () => {
    const server = await provider(reply(wire, { text: 'Hello.' }))
    await bounded(clerk(optionsFor(wire, server.url, 'sk-handed-over'), { model: wire.model }).run('Hi'))
    expect(wire.key(server.asked[0] as never)).toBe('sk-handed-over')
    expect(JSON.stringify(server.asked)).not.toContain(poison)
  })

  test('the accounting names the provider and the model', async () => {
    const server = await provider(reply(wire, { text: 'Hello.' }))
    const outcome = await bounded(clerk(optionsFor(wire, server.url), { model: wire.model }).run('Hi'))
    expect(outcome.accounting).toMatchObject([{ kind: 'model', model: wire.model, status: 'completed' }])
  })
})

describe('request bodies, whole', () => {
  const parameters = { temperature: 0.5, maxOutputTokens: 300 }
  const bodyOf = async (wire: Wire, more: Partial<AgentDefinition> = {}) => {
    const server = await provider(reply(wire, { text: 'Hello.' }))
    await bounded(clerk(optionsFor(wire, server.url), { model: wire.model, parameters, ...more }, [lookUp]).run('Where is Oslo?'))
    return server.asked[0]
  }
  const chat = {
    max_tokens: 300,
    temperature: 0.5,
    messages: [
      { role: 'system', content: 'You are a clerk.' },
      { role: 'user', content: 'Where is Oslo?' },
    ],
    tools: [{ type: 'function', function: { name: 'look_up', description: 'Looks a word up.', parameters: offered } }],
    tool_choice: 'auto',
    stream: true,
    stream_options: { include_usage: true },
  }
  test('OpenAI chat', async () => {
    expect((await bodyOf(openAiChat))?.body).toEqual({ model: 'gpt-4o-mini', ...chat })
  })
  test('Ollama speaks the format of OpenAI', async () => {
    expect((await bodyOf(ollama))?.body).toEqual({ model: 'qwen3', ...chat })
  })
  test('OpenRouter speaks it too, and is asked for what a request costs', async () => {
    expect((await bodyOf(openRouter))?.body).toEqual({
      model: 'meta-llama/llama-3.3-70b-instruct',
      ...chat,
      usage: { include: true },
    })
  })
  test('any compatible server', async () => {
    expect((await bodyOf(lab))?.body).toEqual({ model: 'tiny-1', ...chat })
  })
  test('OpenAI responses, which keeps nothing on its side', async () => {
    expect((await bodyOf(openAiResponses))?.body).toEqual({
      model: 'gpt-4o-mini',
      input: [
        { role: 'system', content: 'You are a clerk.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Where is Oslo?' }] },
      ],
      temperature: 0.5,
      max_output_tokens: 300,
      store: false,
      tools: [{ type: 'function', name: 'look_up', description: 'Looks a word up.', parameters: offered, strict: false }],
      tool_choice: 'auto',
      stream: true,
    })
  })
  test('Anthropic messages, with the version of the interface', async () => {
    const asked = await bodyOf(anthropic)
    const cache_control = { type: 'ephemeral' }
    expect(asked?.body).toMatchObject({
      model: 'claude-sonnet-4-5',
      max_tokens: 300,
      temperature: 0.5,
      system: [{ type: 'text', text: 'You are a clerk.', cache_control }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Where is Oslo?', cache_control }] }],
      tools: [{ name: 'look_up', description: 'Looks a word up.', input_schema: offered }],
      tool_choice: { type: 'auto' },
      stream: true,
    })
    expect(Object.keys(asked?.body).sort()).toEqual(
      ['max_tokens', 'messages', 'model', 'stream', 'system', 'temperature', 'tool_choice', 'tools'].sort(),
    )
    expect(asked?.headers['anthropic-version']).toBe('2023-06-01')
  })
  test('Gemini', async () => {
    expect((await bodyOf(gemini))?.body).toEqual({
      generationConfig: { maxOutputTokens: 300, temperature: 0.5 },
      contents: [{ role: 'user', parts: [{ text: 'Where is Oslo?' }] }],
      systemInstruction: { parts: [{ text: 'You are a clerk.' }] },
      tools: [{ functionDeclarations: [{ name: 'look_up', description: 'Looks a word up.', parametersJsonSchema: offered }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    })
  })
  test('nothing is set that nobody has asked for', async () => {
    const asked = await bodyOf(openAiChat, { parameters: {} })
    for (const field of ['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'seed', 'reasoning_effort', 'response_format'])
      expect(asked?.body).not.toHaveProperty(field)
  })
  test('top-p and seed reach those that take them', async () => {
    const set = { parameters: { topP: 0.25, seed: 11 } }
    expect((await bodyOf(openAiChat, set))?.body).toMatchObject({ top_p: 0.25, seed: 11 })
    expect((await bodyOf(lab, set))?.body).toMatchObject({ top_p: 0.25, seed: 11 })
    expect((await bodyOf(gemini, set))?.body.generationConfig).toEqual({ topP: 0.25, seed: 11 })
  })
  test('a setting that the provider does not take is told, not dropped in silence', async () => {
    const server = await provider(reply(openAiResponses, { text: 'Hello.' }))
    const outcome = await clerk(optionsFor(openAiResponses, server.url), { model: openAiResponses.model, parameters: { seed: 3 } }).run(
      'Hi',
    )
    expect(outcome).toMatchObject({ status: 'completed', diagnostics: [{ code: 'model_notice', message: expect.stringMatching(/seed/) }] })
  })
  test('further headers of a provider are sent along', async () => {
    const server = await provider(reply(lab, { text: 'Hello.' }))
    const providers = { lab: { baseURL: `${server.url}/v1`, headers: { 'X-Team': 'blue' } } }
    await bounded(clerk({ variables: {}, providers }, { model: 'lab/tiny-1' }).run('Hi'))
    expect(server.asked[0]?.headers).toMatchObject({ 'x-team': 'blue' })
    expect(server.asked[0]?.headers.authorization ?? '').not.toContain(poison)
  })
})

describe('keys', () => {
  const keyed = [openAiChat, anthropic, gemini, openRouter]
  test.each(keyed.map((wire) => [wire.keyVariable, wire] as const))(
    'without %s nothing is sent, and the variable is named',
    async (_, wire) => {
      for (const variables of [{}, { [wire.keyVariable]: '' }]) {
        const fetch = vi.fn()
        const adapter = modelAdapter({ variables, fetch })
        const error = await troupeError(() => adapter.resolve(wire.model))
        expect(error.code).toBe('model_key_missing')
        expect(everything(error)).toContain(wire.keyVariable)
        expect(error.remedy).toBeTruthy()
        expect(fetch).not.toHaveBeenCalled()
      }
    },
  )
  test('a key that cannot stand in a header is a typed failure with a remedy, and is not shown', async () => {
    const server = await provider(reply(openAiChat, { text: 'Hello.' }))
    const outcome = await bounded(
      clerk(optionsFor(openAiChat, server.url, 'sk-broken\nkey'), { model: openAiChat.model, limits: { maxRetries: 0 } }).run('Hi'),
    )
    // Found when the model is looked for, so that --dry-run tells it too.
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'config',
      message: expect.stringContaining('no key has'),
      remedy: expect.any(String),
    })
    expect(JSON.stringify(outcome)).not.toContain('sk-broken')
    expect(server.asked).toEqual([])
  })
  test('a wrong key is class auth, its remedy names the variable, and the key is never shown', async () => {
    for (const wire of keyed) {
      const server = await provider({
        status: 401,
        headers: { 'content-type': 'application/json' },
        body: wire.error(401, 'Incorrect API key provided: sk-wrong-key-1234567'),
      })
      const outcome = await bounded(clerk(optionsFor(wire, server.url, 'sk-wrong-key-1234567'), { model: wire.model }).run('Hi'))
      expect(outcome).toMatchObject({
        status: 'failed',
        reason: 'model',
        failure: { class: 'auth', remedy: expect.stringContaining(wire.keyVariable) },
      })
      expect(JSON.stringify(outcome)).not.toContain('sk-wrong-key-1234567')
      expect(server.asked, 'asked once').toHaveLength(1)
    }
  })
  test('the keys are the adapter’s secrets, by the name of their variable', () => {
    const adapter = modelAdapter({ variables: { OPENAI_API_KEY: 'sk-one', LAB_API_KEY: 'sk-two', EDITOR: 'vi' } })
    expect(adapter.secrets).toMatchObject({ OPENAI_API_KEY: 'sk-one', LAB_API_KEY: 'sk-two' })
    expect(Object.values(adapter.secrets ?? {})).not.toContain('vi')
  })
  test('a key that a tool prints does not get into the journal or to the model', async () => {
    const server = await provider(
      reply(openAiChat, { calls: [{ id: 'c1', name: 'show', input: { reason: 'r' } }] }),
      reply(openAiChat, { text: 'Done.' }),
    )
    const show: Tool = {
      ...lookUp,
      name: 'show',
      inputSchema: { type: 'object', properties: {} },
      execute: () => 'the key is sk-acceptance-key.',
    }
    const outcome = await bounded(clerk(optionsFor(openAiChat, server.url), { model: openAiChat.model }, [show]).run('Show'))
    expect(outcome.status).toBe('completed')
    expect(JSON.stringify(outcome)).not.toContain('sk-acceptance-key')
    expect(JSON.stringify(server.asked[1]?.body)).not.toContain('sk-acceptance-key')
  })
})

describe('names', () => {
  test('an alias stands for a model', async () => {
    const server = await provider(reply(lab, { text: 'Hello.' }))
    const options = { ...optionsFor(lab, server.url), aliases: { fast: 'lab/tiny-1' } }
    const outcome = await bounded(clerk(options, { model: 'fast' }).run('Hi'))
    expect(outcome).toMatchObject({ status: 'completed', accounting: [{ model: 'lab/tiny-1' }] })
  })
  test('an alias goes before the bundled table', async () => {
    const server = await provider(reply(lab, { text: 'Hello.' }))
    const options = { ...optionsFor(lab, server.url), aliases: { 'gpt-4o-mini': 'lab/tiny-1' } }
    const outcome = await bounded(clerk(options, { model: 'gpt-4o-mini' }).run('Hi'))
    expect(outcome.accounting).toMatchObject([{ model: 'lab/tiny-1' }])
  })
  test('aliases that lead to each other are an error, not an endless search', async () => {
    const adapter = modelAdapter({ variables: {}, aliases: { a: 'b', b: 'a' } })
    const error = await troupeError(() => adapter.resolve('a'))
    expect(error.code).toMatch(/model_unknown|config_invalid/)
  })
  test.each([
    ['gpt-4o-mini', 'openai/gpt-4o-mini'],
    ['claude-sonnet-4-20250514', 'anthropic/claude-sonnet-4-20250514'],
    ['gemini-2.5-flash', 'google/gemini-2.5-flash'],
  ])('the bare name %s is found in the bundled table', async (bare, whole) => {
    const adapter = modelAdapter({ variables: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' } })
    expect((await adapter.resolve(bare)).id).toBe(whole)
  })
  test('a name that nobody knows is an error that lists what is configured', async () => {
    const adapter = modelAdapter({
      variables: { OPENAI_API_KEY: 'k' },
      aliases: { fast: 'openai/gpt-4o-mini' },
      providers: { lab: { baseURL: 'http://127.0.0.1:9/v1' } },
    })
    const error = await troupeError(() => adapter.resolve('no-such-model-9000'))
    expect(error.code).toBe('model_unknown')
    expect(everything(error)).toContain('no-such-model-9000')
    for (const known of ['fast', 'lab', 'openai']) expect(everything(error)).toContain(known)
  })
  test('an unknown provider is told how one is given', async () => {
    const error = await troupeError(() => modelAdapter({ variables: {} }).resolve('nowhere/model'))
    expect(error.code).toBe('model_unknown')
    expect(everything(error)).toContain('NOWHERE_BASE_URL')
  })
  test('a model name may itself have slashes', async () => {
    const model = await modelAdapter({ variables: { OPENROUTER_API_KEY: 'k' } }).resolve('openrouter/a/b:free')
    expect(model.id).toBe('openrouter/a/b:free')
  })
  test.each(['', '/', 'openai/', '/gpt-4o', ' '])('%j is no name, and is said to be none', async (name) => {
    const error = await troupeError(() => modelAdapter({ variables: { OPENAI_API_KEY: 'k' } }).resolve(name))
    expect(error.code).toMatch(/model_unknown|config_invalid/)
  })
  test('an address that is none is wrong configuration', async () => {
    const error = await troupeError(() => modelAdapter({ variables: { LAB_BASE_URL: 'not an address' } }).resolve('lab/tiny-1'))
    expect(error.code).toBe('config_invalid')
    expect(everything(error)).toContain('LAB_BASE_URL')
  })
})

test('no provider is loaded before one of its models is asked for, and then only that one', async () => {
  const { answer } = await inProcess(`
import { registerHooks } from 'node:module'
const loaded: string[] = []
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
const heavy = () => ['@ai-sdk/openai/', '@ai-sdk/openai-compatible/', '@ai-sdk/anthropic/', '@ai-sdk/google/', 'node_modules/zod/', 'genai-prices'].filter((name) => loaded.some((url) => url.includes(name)))
const { modelAdapter } = await import(${JSON.stringify(new URL('../../src/models/index.ts', import.meta.url).href)})
const adapter = modelAdapter({ variables: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' } })
await adapter.resolve('rehearsal')
const before = heavy()
await adapter.resolve('anthropic/claude-sonnet-4-5')
done({ before, after: heavy().filter((name) => name.startsWith('@ai-sdk')) })`)
  expect(answer).toEqual({ before: [], after: ['@ai-sdk/anthropic/'] })
})
