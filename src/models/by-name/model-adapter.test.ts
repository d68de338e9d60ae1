import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { reservedModelNames, type TroupeError } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import { redactor } from '../../util/redact.ts'
import { knownProviders } from '../known-providers.ts'
import { type ModelAdapterOptions, modelAdapter } from './index.ts'
import { modelSources } from './model-sources.ts'

const files: { readonly [path: string]: string } = {
  '/agents/hello.yaml': 'steps: [{ text: Hello. }]',
  '/elsewhere/b.yaml': 'steps: [{ text: Bye. }]',
  '/agents/slow.yaml': 'pace: 1\nsteps: [{ text: One two three four. }]',
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

test('the pace of scripts can be switched off', async () => {
  const model = await adapter({ pacesScripts: false }).resolve('script/slow.yaml')
  const request = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
  const parts = []
  for await (const part of model.stream(request, { signal: new AbortController().signal })) parts.push(part)
  expect(parts).toHaveLength(5)
  expect(() => adapter({ pacesScripts: 'no' as never })).toThrow(/options\.pacesScripts: expected true or false/)
})

test('a script that is not there says where it was looked for', async () => {
  await expect(adapter().resolve('script/none.yaml')).rejects.toMatchObject({
    code: 'model_unknown',
    message: 'The model script/none.yaml needs the script /agents/none.yaml, which cannot be read.',
    remedy: 'Create it, or give its path relative to /agents.',
  })
})

test('a script that is larger than any can be is not read on', async () => {
  const remedy = expect.stringContaining('Name a file with steps')
  const models = adapter({ readFile: async () => 'steps:\n'.padEnd(4_194_305, '- text: a\n') })
  await expect(models.resolve('script/huge.yaml')).rejects.toMatchObject({
    message: expect.stringContaining('which is the maximum'),
    remedy,
  })
  const folder = mkdtempSync(join(tmpdir(), 'troupe-script-'))
  try {
    writeFileSync(join(folder, 'huge.yaml'), '')
    truncateSync(join(folder, 'huge.yaml'), 400_000_000)
    const here = modelAdapter({ variables: {}, baseDir: folder })
    await expect(here.resolve('script/huge.yaml')).rejects.toMatchObject({
      code: 'model_unknown',
      message: `The model script/huge.yaml needs the script ${folder}/huge.yaml, which cannot be read: it has 400000000 bytes; the maximum is 4194304.`,
      remedy,
    })
    await expect(here.resolve('script/.')).rejects.toMatchObject({ message: expect.stringContaining('it is a folder'), remedy })
    await expect(here.resolve('script//dev/zero')).rejects.toMatchObject({ message: expect.stringContaining('not a regular file'), remedy })
    writeFileSync(join(folder, 'small.yaml'), 'steps: [{ text: Hello. }]')
    expect((await here.resolve('script/small.yaml')).id).toBe('script/small.yaml')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a wrong script is read again after it is fixed', async () => {
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

test('configured names are among the suggestions', async () => {
  const options = { aliases: { fast: 'openai/gpt-5.4-mini' }, providers: { lab: { baseURL: 'http://127.0.0.1:9/v1' } } }
  for (const name of ['no-such-model-9000', 'nowhere/model'])
    await expect(adapter(options).resolve(name)).rejects.toMatchObject({
      remedy: expect.stringMatching(/`fast`.*`lab\/<model>`.*`openai\/<model>`/),
    })
  const near = adapter({ variables: { GARAGE_BASE_URL: 'http://127.0.0.1:9/v1' } }).resolve('garge/model')
  await expect(near).rejects.toMatchObject({ remedy: expect.stringContaining('Did you mean `garage`?') })
})

test('an incomplete name is reported with how to complete it', async () => {
  await expect(adapter().resolve('script')).rejects.toMatchObject({ remedy: expect.stringContaining('Did you mean `script/<file>`?') })
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

const someUsage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

test.each(['ollama/qwen3', 'lmstudio/qwen3', 'llamacpp/qwen3', 'vllm/qwen3'])('%s on this machine is free', async (name) => {
  expect((await adapter().resolve(name)).costOf?.(someUsage)).toBe(0)
})

// A false 0 would hide what somebody is billed for.
test.each([
  ['ollama/qwen3:cloud', {}],
  ['ollama/gpt-oss:120b-cloud', {}],
  ['ollama/qwen3', { OLLAMA_HOST: 'http://10.1.2.3:11434' }],
  ['lab/gpt-4o', { LAB_BASE_URL: 'http://localhost:4000/v1', LAB_API_KEY: 'k' }],
  ['openai/unknown', { OPENAI_BASE_URL: 'http://127.0.0.1:4000/v1', OPENAI_API_KEY: 'k' }],
  ['openrouter/x', { OPENROUTER_BASE_URL: 'http://[::1]:4000/v1', OPENROUTER_API_KEY: 'k' }],
])('%s with %j has no price', async (name, variables) => {
  expect((await adapter({ variables }).resolve(name)).costOf?.(someUsage)).toBeUndefined()
})

const refused: [name: string, options: Partial<ModelAdapterOptions>, expected: readonly [code: string, message: RegExp]][] = [
  ['openai/gpt-5', {}, ['model_key_missing', /OPENAI_API_KEY is not set/]],
  ['openai/gpt-5', { variables: { OPENAI_API_KEY: ' ' } }, ['model_key_missing', /OPENAI_API_KEY is empty/]],
  [
    'openai/gpt-5',
    { variables: { OPENAI_API_KEY: 'sk\n1' } },
    ['model_key_missing', /OPENAI_API_KEY\) contains a character that is not valid in a key/],
  ],
  ['openai/gpt-5', { variables: { OPENAI_API_KEY: 'k' }, providers: { openai: { apiKey: '' } } }, ['model_key_missing', /apiKey is empty/]],
  ['lab/x', { providers: { lab: { apiKey: 'k' } } }, ['config_invalid', /providers\.lab\.baseURL is not set/]],
  ['google/x', {}, ['model_key_missing', /GOOGLE_GENERATIVE_AI_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY is not set/]],
  ['opnai/gpt-5', {}, ['model_unknown', /Unknown provider `opnai`/]],
  ['constructor/x', {}, ['model_unknown', /Unknown provider `constructor`/]],
  ['lab/x', { variables: { LAB_BASE_URL: 'not an address' } }, ['config_invalid', /LAB_BASE_URL is not an http: or https: address/]],
  ['lab/x', { variables: { LAB_BASE_URL: 'file:///etc' } }, ['config_invalid', /is not an http: or https: address/]],
  [
    'lab/x',
    { variables: { LAB_BASE_URL: 'http://evil.example\\@lab.example/v1' } },
    ['config_invalid', /is ambiguous: requests would go to http:\/\/evil\.example\./],
  ],
  ['a', { aliases: { a: 'b', b: 'a' } }, ['config_invalid', /a → b → a/]],
]
test.each(refused)('%s is refused with %j', async (name, options, [code, message]) => {
  const wrong = async () => adapter(options).resolve(name)
  await expect(wrong()).rejects.toMatchObject({ code, message: expect.stringMatching(message), remedy: expect.any(String) })
})

test('keys are known as secrets, whatever their use and place', () => {
  const { secrets } = adapter({
    variables: { OPENAI_API_KEY: ' sk-1\n', HOME: '/x', LAB_API_KEY: '' },
    providers: {
      own: { apiKey: ' sk-2 ' },
      openai: { kind: 'openai', apiKey: 'sk-3' },
      lab: { headers: { Authorization: 'Bearer sk-4', 'X-Team': 'a' } },
    },
  })
  expect(secrets).toEqual({ OPENAI_API_KEY: 'sk-1', OPENAI_API_KEY_OF_ITS_OWN: 'sk-3', OWN_API_KEY: 'sk-2', LAB_AUTHORIZATION: 'sk-4' })
  // What is not known as the name of a secret is not taken out.
  for (const [name, value] of Object.entries(secrets ?? {}))
    expect(redactor({ [name]: `${value}-0123` }).text(`${value}-0123`)).toBe(`[redacted:${name}]`)
})

test('a header that has the key is one, and then no variable is', async () => {
  const sent: Headers[] = []
  const models = adapter({
    variables: { OPENAI_API_KEY: 'of-openai' },
    providers: { openai: { kind: 'openai', baseURL: 'https://proxy.example.org/v1', headers: { Authorization: 'Bearer of-the-proxy' } } },
    fetch: async (_url, init) => {
      sent.push(new Headers(init?.headers))
      return new Response('', { status: 500 })
    },
  })
  const model = await models.resolve('openai/gpt-5.4-mini')
  const request = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
  for await (const part of model.stream(request, { signal: new AbortController().signal })) expect(part.type).toBe('error')
  expect(sent.map((headers) => headers.get('authorization'))).toEqual(['Bearer of-the-proxy'])
})

describe('options that are wrong', () => {
  const told = (options: unknown): readonly string[] => {
    try {
      modelAdapter(options as ModelAdapterOptions)
    } catch (error) {
      expect(error).toMatchObject({ code: 'config_invalid' })
      return (error as TroupeError).problems.map(({ place, message, remedy = '' }) => `${place}: ${message} ${remedy}`.trim())
    }
    return expect.unreachable()
  }
  const variables = {}

  test.each([undefined, null, 7, []])('are reported: %j', (options) => {
    expect(told(options)).toEqual([expect.stringMatching(/^options: expected an object, found /)])
  })

  test('are reported together, with suggestions', () => {
    expect(
      told({
        alias: {},
        aliases: { fast: 7 },
        clock: {},
        fetch: 'x',
        providers: {
          lab: { base_url: 'x', kind: 'bogus', apiKey: 7, headers: { a: 1 } },
          anthropic: { api: 'chat' },
          openai: { api: 'chats', baseURL: 'https://me:secret@example.org' },
          none: null,
        },
      }),
    ).toEqual([
      'options.alias: unknown key Did you mean "aliases"?',
      'options.variables: expected an object of strings, found a value of type undefined Give the variables that contain API keys, or {}.',
      'options.aliases: expected an object of model names, found a value of type object',
      'options.clock: expected a clock with now(), monotonic() and after(), found {}',
      'options.fetch: expected a function, found "x"',
      'options.providers.lab.base_url: unknown key Did you mean "baseURL"?',
      'options.providers.lab.kind: expected one of openai, anthropic, google, openai-compatible, found "bogus"',
      'options.providers.lab.apiKey: expected a string, found a value of type number',
      'options.providers.lab.headers: expected an object of strings, found a value of type object',
      'options.providers.anthropic.api: only a provider of the kind "openai" has this option Leave it out.',
      'options.providers.openai.api: expected one of chat, responses, found "chats"',
      'options.providers.openai.baseURL: it must have no user, query or fragment Give credentials as the key or as headers.',
      'options.providers.none: expected an object, found a value of type null',
    ])
  })

  test.each(['auto', 'rehearsal', 'script', 'script/x.yaml', 'openai/gpt-5.4-mini', 'a b', ''])(
    'are aliases and providers called %j',
    (name) => {
      expect(told({ variables, aliases: { [name]: 'lab/m', fast: 'lab/m' }, providers: { [name]: {}, lab: {} } })).toEqual([
        `options.aliases.${name}: an alias must be one word without "/", and none of the reserved names auto, rehearsal, script Choose another name, such as "fast".`,
        `options.providers.${name}: a provider name must be one word without "/", and none of the reserved names auto, rehearsal, script Choose another name, such as "lab".`,
      ])
    },
  )

  test('are so for every model of no provider', () => {
    expect(Object.keys(modelSources).filter((name) => !Object.hasOwn(knownProviders, name))).toEqual(reservedModelNames)
  })

  test('are refused by the compiler where it can', () => {
    const providers: ModelAdapterOptions['providers'] = {
      openai: { kind: 'openai', api: 'chat' },
      // @ts-expect-error: only OpenAI has two interfaces
      claude: { kind: 'anthropic', api: 'chat' },
    }
    expect(told({ variables, providers })).toEqual([expect.stringMatching(/^options\.providers\.claude\.api: /)])
  })

  test('are not those that are left out or undefined', async () => {
    const options = { variables: { OPENAI_API_KEY: undefined }, aliases: undefined, providers: { ollama: { baseURL: '127.0.0.1:9' } } }
    const models = modelAdapter({ ...options, clock: undefined } as unknown as ModelAdapterOptions)
    expect((await models.resolve('ollama/a')).id).toBe('ollama/a')
    expect(told({ variables, baseDir: 7 })).toEqual(['options.baseDir: expected a string, found 7'])
  })
})
