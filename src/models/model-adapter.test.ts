import { expect, test } from 'vitest'
import { FakeClock } from '../testing/index.ts'
import { type ModelAdapterOptions, modelAdapter } from './model-adapter.ts'

const files: { readonly [path: string]: string } = {
  '/agents/hello.yaml': 'steps: [{ text: Hello. }]',
  '/elsewhere/b.yaml': 'steps: [{ text: Bye. }]',
  '/agents/wrong.yaml': 'steps: 7',
}
const read: string[] = []

const adapter = (options: Partial<ModelAdapterOptions> = {}) =>
  modelAdapter({
    async readFile(path) {
      read.push(path)
      const text = files[path]
      if (text === undefined) throw new Error(`ENOENT: ${path}`)
      return text
    },
    baseDir: '/agents',
    clock: new FakeClock(),
    variables: {},
    fetch: () => Promise.reject(new Error('no network here')),
    ...options,
  })

test('a script is found from the base directory and read once', async () => {
  const models = adapter()
  const model = await models.resolve('script/hello.yaml')
  expect(model.id).toBe('script/hello.yaml')
  expect(await models.resolve('script/hello.yaml')).toBe(model)
  expect(read.filter((path) => path === '/agents/hello.yaml')).toHaveLength(1)
  expect((await models.resolve('script/../elsewhere/b.yaml')).id).toBe('script/../elsewhere/b.yaml')
  expect((await models.resolve('script//elsewhere/b.yaml')).id).toBe('script//elsewhere/b.yaml')
})

test('a script that is not there says where it was looked for', async () => {
  await expect(adapter().resolve('script/none.yaml')).rejects.toMatchObject({
    code: 'model_unknown',
    message: 'the model script/none.yaml needs the script /agents/none.yaml, which cannot be read',
    remedy: 'Create it, or give the path relative to /agents.',
  })
})

test('a wrong script is read again once it is mended', async () => {
  const models = adapter()
  await expect(models.resolve('script/wrong.yaml')).rejects.toMatchObject({ code: 'script_invalid' })
  await expect(models.resolve('script/wrong.yaml')).rejects.toMatchObject({ code: 'script_invalid' })
  expect(read.filter((path) => path === '/agents/wrong.yaml')).toHaveLength(2)
})

test.each(['nope-1', 'openai/', 'script/', '', '/'])('%j is unknown, and the error says what there is', async (name) => {
  await expect(adapter().resolve(name)).rejects.toMatchObject({
    code: 'model_unknown',
    remedy: expect.stringMatching(/anthropic\/claude-sonnet-5|Did you mean|There are/),
  })
})

const found: [name: string, variables: ModelAdapterOptions['variables'], id: string][] = [
  ['openai/gpt-5.4-mini', { OPENAI_API_KEY: 'sk-1' }, 'openai/gpt-5.4-mini'],
  ['anthropic/claude-sonnet-5', { ANTHROPIC_API_KEY: ' k \n' }, 'anthropic/claude-sonnet-5'],
  ['google/gemini-3.5-flash', { GEMINI_API_KEY: 'k' }, 'google/gemini-3.5-flash'],
  ['openrouter/anthropic/claude-sonnet-5', { OPENROUTER_API_KEY: 'k' }, 'openrouter/anthropic/claude-sonnet-5'],
  ['ollama/qwen3:8b', {}, 'ollama/qwen3:8b'],
  ['lab/qwen/qwen3', { LAB_BASE_URL: 'https://models.example.org/v1' }, 'lab/qwen/qwen3'],
  ['gpt-4o-mini', { OPENAI_API_KEY: 'k' }, 'openai/gpt-4o-mini'],
  ['claude-sonnet-4-20250514', { ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude-sonnet-4-20250514'],
  ['fast', { OPENAI_API_KEY: 'k' }, 'openai/gpt-5.4-mini'],
  ['rehearsal', {}, 'rehearsal/rules'],
]
test.each(found)('%s is found', async (name, variables, id) => {
  const aliases = { fast: 'quick', quick: 'openai/gpt-5.4-mini' }
  expect((await adapter({ variables, aliases }).resolve(name)).id).toBe(id)
})

test('prices and windows come from the bundled table, and nothing is made up for a model that is not in it', async () => {
  const models = adapter({ variables: { OPENAI_API_KEY: 'k', LAB_BASE_URL: 'https://models.example.org/v1' } })
  const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const mini = await models.resolve('openai/gpt-4o-mini')
  expect(mini.contextTokens).toBe(128_000)
  expect(mini.costOf?.(usage)).toBeCloseTo(0.15)
  expect(mini.costOf?.({ ...usage, cacheRead: 1_000_000 })).toBeCloseTo(0.075)
  for (const name of ['openai/gpt-99', 'lab/gpt-4o-mini']) {
    const model = await models.resolve(name)
    expect(model.contextTokens).toBeUndefined()
    expect(model.costOf?.(usage)).toBeUndefined()
  }
})

test('a model on this machine is free, unless its server passes the request on', async () => {
  const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const models = adapter()
  expect((await models.resolve('ollama/qwen3')).costOf?.(usage)).toBe(0)
  expect((await models.resolve('ollama/qwen3:cloud')).costOf?.(usage)).toBeUndefined()
})

const refused: [name: string, options: Partial<ModelAdapterOptions>, expected: readonly [code: string, message: RegExp]][] = [
  ['openai/gpt-5', {}, ['model_key_missing', /OPENAI_API_KEY is not set/]],
  ['openai/gpt-5', { variables: { OPENAI_API_KEY: ' ' } }, ['model_key_missing', /OPENAI_API_KEY is empty/]],
  ['google/x', {}, ['model_key_missing', /GOOGLE_GENERATIVE_AI_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY is not set/]],
  ['opnai/gpt-5', {}, ['model_unknown', /no provider `opnai`/]],
  ['constructor/x', {}, ['model_unknown', /no provider `constructor`/]],
  ['lab/x', { variables: { LAB_BASE_URL: 'not an address' } }, ['config_invalid', /LAB_BASE_URL is not an address/]],
  ['lab/x', { variables: { LAB_BASE_URL: 'file:///etc' } }, ['config_invalid', /is not an address/]],
  ['a', { aliases: { a: 'b', b: 'a' } }, ['config_invalid', /a → b → a/]],
]
test.each(refused)('%s is refused with %j', async (name, options, [code, message]) => {
  const wrong = async () => adapter(options).resolve(name)
  await expect(wrong()).rejects.toMatchObject({ code, message: expect.stringMatching(message), remedy: expect.any(String) })
})

test('keys are known as secrets, whatever they are for', () => {
  const { secrets } = adapter({
    variables: { OPENAI_API_KEY: ' sk-1\n', HOME: '/x', LAB_API_KEY: '' },
    providers: { own: { apiKey: 'sk-2' } },
  })
  expect(secrets).toEqual({ OPENAI_API_KEY: 'sk-1', OWN_API_KEY: 'sk-2' })
})
