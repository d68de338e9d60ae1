import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ModelScene, modelScene, rightKey } from './model-scene.ts'
import { request } from './raw-request.ts'

// A key that a person pastes: tested at its provider, stored for the person, and used by the running server.

// biome-ignore lint/suspicious/noExplicitAny: JSON of the server, which the tests check.
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json()
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
const ask = (scene: ModelScene, more: object = {}) => scene.fetch('/v1/clerk', { json: { input: 'Hello', ...more } })

/** Everything that was stored or said, apart from the file for keys. */
async function everything(scene: ModelScene): Promise<string> {
  const folder = join(scene.home, '..')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
  const texts = await Promise.all(files.filter((path) => path !== scene.keys).map((path) => readFile(path, 'latin1')))
  return [...texts, ...scene.said].join('\n')
}

describe('a server without a model', () => {
  let scene: ModelScene
  beforeAll(async () => {
    scene = await modelScene()
  })

  test('says what its agents need, and turns fail with the reason', async () => {
    expect(await json(scene.fetch('/v1/status'))).toMatchObject({
      connect: { models: [], missing: ['openrouter/anthropic/claude-sonnet-5'] },
    })
    const failed = await ask(scene)
    expect([failed.status, await failed.json()]).toMatchObject([503, { error: { code: 'model_key_missing' } }])
    const { providers, file } = await json(scene.fetch('/v1/providers'))
    expect(file).toBe(scene.keys)
    expect(providers.map(({ name }: { name: string }) => name)).toEqual([
      ...['anthropic', 'openai', 'google', 'openrouter', 'ollama', 'lmstudio', 'llamacpp', 'vllm'],
    ])
    expect(providers[0]).toEqual({
      ...{ name: 'anthropic', label: 'Anthropic', access: 'key', models: [] },
      ...{ variable: 'ANTHROPIC_API_KEY', keyPage: 'https://console.anthropic.com/settings/keys' },
    })
    expect(scene.provider.requests).toEqual([])
  })

  test('uses a pasted key in the next turn, without a restart', async () => {
    const connected = await scene.connect({ key: ` export OPENROUTER_API_KEY="${rightKey}"\n` })
    expect([connected.status, await connected.json()]).toEqual([
      200,
      { provider: 'openrouter', label: 'OpenRouter', model: 'openrouter/anthropic/claude-sonnet-5', notes: [] },
    ])
    expect(scene.provider.requests).toEqual([`GET /v1/key ${rightKey}`])
    expect(await scene.readKeys()).toBe(`OPENROUTER_API_KEY=${rightKey}\n`)
    expect([await modeOf(scene.keys), await modeOf(join(scene.home, '.ai-agent'))]).toEqual([0o600, 0o700])
    expect(await json(ask(scene))).toMatchObject({ status: 'completed', text: 'Connected.' })
    expect(await json(scene.fetch('/v1/status'))).toMatchObject({
      connect: { models: [{ model: 'openrouter/anthropic/claude-sonnet-5', from: 'OPENROUTER_API_KEY' }], missing: [] },
    })
  })

  test('a key is in no answer, log, journal or other file, and who stored it is in the audit', async () => {
    expect(await (await scene.fetch('/v1/providers')).text()).not.toContain(rightKey)
    expect(await everything(scene)).not.toContain(rightKey)
    const broken = await scene.fetch('/v1/providers/key', {
      method: 'POST',
      body: `{ "key": ${rightKey} }`,
      headers: { 'content-type': 'application/json' },
    })
    expect([broken.status, await broken.text()]).toEqual([400, expect.not.stringContaining('right')])
    expect(await everything(scene)).toContain('key.store')
  })

  test('the user of this machine may choose a connected model for a turn, others may not', async () => {
    await scene.connect({ key: 'sk-right-0123456789' })
    const start = (token?: string) =>
      scene.fetch('/v1/sessions', { json: { input: 'Hello', models: ['openai/gpt-5.4-mini'] }, ...(token !== undefined && { token }) })
    expect((await start()).status).toBe(201)
    const proxied = await scene.fetch('/v1/sessions', {
      json: { input: 'Hello', models: ['openai/gpt-5.4-mini'] },
      headers: { 'x-forwarded-for': '10.0.0.1' },
    })
    expect([proxied.status, await proxied.json()]).toMatchObject([400, { error: { parameter: 'models' } }])
  })
})

describe('what is refused stores nothing', () => {
  let scene: ModelScene
  beforeAll(async () => {
    scene = await modelScene({ files: { '.ai-agent/.ai-agent.env': '# mine\nOTHER=1\n' } })
  })
  const refused = async (body: object) => {
    const answer = await scene.connect(body)
    const { error } = await json(answer)
    expect(await scene.readKeys()).toBe('# mine\nOTHER=1\n')
    return [answer.status, error.code, error.message, error.remedy, error.owner]
  }

  test.each([
    ['nothing', '', 'The key is empty.'],
    ['blanks', ' \n\t', 'The key is empty.'],
    ['quotes', '""', 'The key is empty.'],
    ['blanks inside', 'sk-ant-one two three', 'This is no key: it has blanks in it.'],
    ['two lines', 'sk-ant-one\nsk-ant-two', 'This is no key: it has several lines.'],
    ['quotes inside', 'sk-ant-"quoted"-in-the-middle', 'This is no key: it has quotes or other characters that keys do not have.'],
    ['other letters', 'sk-ant-ключ-ключ', 'This is no key: it has quotes or other characters that keys do not have.'],
    ['five characters', 'short', 'This is too short for a key.'],
    ['10 KB', 'x'.repeat(10_240), 'This is too long for a key: a key has at most 1000 characters.'],
  ])('%s', async (_name, key, message) => {
    expect(await refused({ key, provider: 'anthropic' })).toEqual([400, 'not_a_key', message, expect.any(String), undefined])
    expect(scene.provider.requests).toEqual([])
  })

  test('a key of another provider, which can be used there or here anyway', async () => {
    const openai = { name: 'openai', label: 'OpenAI' }
    const message = 'This looks like a key of OpenAI, not of Anthropic. Nothing was sent.'
    const key = 'sk-wrong-0123456789'
    expect(await refused({ key, provider: 'anthropic' })).toEqual([400, 'other_provider', message, 'Use it for OpenAI.', openai])
    expect((await refused({ key: 'sk-ant-wrong-123', provider: 'openai' })).at(-1)).toEqual({ name: 'anthropic', label: 'Anthropic' })
    expect((await refused({ key: 'AIzawrong-0123456', provider: 'openai' })).at(-1)).toEqual({ name: 'google', label: 'Google Gemini' })
    const groq = await refused({ key: 'gsk_wrong0123456789', provider: 'openai' })
    expect(groq.slice(1)).toEqual([
      'other_provider',
      'This looks like a key of Groq, not of OpenAI. Nothing was sent.',
      `Add GROQ_BASE_URL=https://api.groq.com/openai/v1 and GROQ_API_KEY to ${scene.keys}, and name its models groq/….`,
      { label: 'Groq' },
    ])
    expect((await refused({ key: 'gsk_wrong0123456789' }))[2]).toBe('This is a key of Groq.')
    expect((await refused({ key: 'something-0123456789' }))[2]).toBe('The key does not show which provider it is of.')
    expect((await refused({ key: 'something-0123456789', provider: 'ollama' }))[1]).toBe('unknown_provider')
    expect(scene.provider.requests).toEqual([])
    expect((await refused({ key, provider: 'anthropic', anyway: true }))[1]).toBe('key_rejected')
    expect(scene.provider.requests).toEqual([`GET /v1/models ${key}`])
  })

  test.each([
    ['anthropic', 'sk-ant-wrong-1', 'Anthropic'],
    ['openai', 'sk-wrong-12345', 'OpenAI'],
    ['google', 'AIzawrong-1234', 'Google Gemini'],
    ['openrouter', 'sk-or-wrong-12', 'OpenRouter'],
  ])('a wrong key of %s', async (provider, key, label) => {
    const [status, code, message] = await refused({ key })
    expect([status, code, message]).toEqual([
      400,
      'key_rejected',
      `${label} (${new URL(scene.provider.url).host}) does not accept this key. Nothing was stored.`,
    ])
    expect(scene.provider.requests.at(-1)).toBe(`GET ${provider === 'openrouter' ? '/v1/key' : '/v1/models'} ${key}`)
    expect(await everything(scene)).not.toContain(key)
  })

  test('a provider that fails or redirects', async () => {
    const at = new URL(scene.provider.url).host
    for (const [status, why] of [
      [500, 'answers with status 500'],
      [302, 'answers with status 302'],
    ] as const) {
      scene.provider.status = status
      expect((await refused({ key: 'sk-right-12345' })).slice(0, 3)).toEqual([
        503,
        'provider_unreachable',
        `The key could not be tested: ${at} ${why}. Nothing was stored.`,
      ])
    }
    scene.provider.status = undefined
  })

  test('a body of another form, or of 100 KB', async () => {
    expect((await scene.connect({})).status).toBe(400)
    expect((await scene.connect({ key: 'sk-right-12345', extra: 1 })).status).toBe(400)
    expect((await scene.connect({ key: 'x'.repeat(100_000) })).status).toBe(413)
  })
})

describe('the file for keys', () => {
  test('keeps its other lines, and gets the mode 0600', async () => {
    const before = '# mine\r\nOTHER="a b"\r\nexport OPENROUTER_API_KEY=old # comment\r\nLAST=1'
    const scene = await modelScene({ files: { '.ai-agent/.ai-agent.env': before } })
    await chmod(scene.keys, 0o644)
    await chmod(join(scene.home, '.ai-agent'), 0o755)
    const [one, two] = await Promise.all([scene.connect({ key: rightKey }), scene.connect({ key: 'sk-right-12345' })])
    expect([one.status, two.status]).toEqual([200, 200])
    expect(await scene.readKeys()).toBe(
      `# mine\r\nOTHER="a b"\r\nexport OPENROUTER_API_KEY=${rightKey}\r\nLAST=1\r\nOPENAI_API_KEY=sk-right-12345\r\n`,
    )
    expect([await modeOf(scene.keys), await modeOf(join(scene.home, '.ai-agent'))]).toEqual([0o600, 0o700])
    expect(await readdir(join(scene.home, '.ai-agent'))).toEqual(['.ai-agent.env'])
  })

  test('that has an error or cannot be written is not touched, and the answer says so', async () => {
    const scene = await modelScene()
    // It exists from the start: a command that runs while a key is stored does not see it.
    expect(await modeOf(join(scene.home, '.ai-agent'))).toBe(0o700)
    await writeFile(scene.keys, 'not a line\n')
    expect([await json(scene.connect({ key: rightKey })), await scene.readKeys()]).toMatchObject([
      { error: { code: 'file_not_writable', message: expect.stringContaining(`${scene.keys}:1:1: a line must be`) } },
      'not a line\n',
    ])
    await rm(join(scene.home, '.ai-agent'), { recursive: true })
    await writeFile(join(scene.home, '.ai-agent'), 'a file')
    const answer = await scene.connect({ key: rightKey })
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      { error: { code: 'file_not_writable', message: expect.stringMatching(/The key works, but .* cannot be written/) } },
    ])
    expect(await everything(scene)).not.toContain(rightKey)
  })
})

describe('a key that is somewhere else, too', () => {
  test('in the environment: the stored one wins, and the answer says so', async () => {
    const scene = await modelScene({ env: { OPENROUTER_API_KEY: 'sk-or-v1-old-wrong' } })
    expect((await json(scene.fetch('/v1/status'))).connect.missing).toEqual([])
    const { notes } = await json(scene.connect({ key: rightKey }))
    expect(notes).toEqual([
      'OPENROUTER_API_KEY is set in the environment of the server, too. The stored key is used from now on: files win over the environment.',
    ])
    expect(await json(ask(scene))).toMatchObject({ text: 'Connected.' })
  })

  test('in a setting that wins: nothing is stored or sent', async () => {
    const providers = { openrouter: { baseURL: 'http://127.0.0.1:9', apiKey: 'literal-key-1' } }
    const scene = await modelScene({ files: { '.ai-agent/.ai-agent.json': JSON.stringify({ providers }) } })
    const answer = await scene.connect({ key: rightKey })
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      {
        error: {
          code: 'key_overridden',
          message: 'A stored key would not be used: `providers.openrouter.apiKey` of the configuration has another one, which wins.',
        },
      },
    ])
    expect(scene.provider.requests).toEqual([])
  })
})

describe('only the user of this machine, at a loopback address', () => {
  let scene: ModelScene
  const address = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address
  beforeAll(async () => {
    scene = await modelScene()
  })
  const tries = async (url: string, headers: { readonly [name: string]: string }) => {
    const post = { ...headers, 'content-type': 'application/json' }
    const [list, store, status] = await Promise.all([
      request(`${url}/v1/providers`, { headers }),
      request(`${url}/v1/providers/key`, { method: 'POST', headers: post, body: JSON.stringify({ key: rightKey }) }),
      request(`${url}/v1/status`, { headers }),
    ])
    return [list.status, store.status, status.body.includes('"connect"')]
  }

  test('another token, a proxy and another name are refused, and are offered nothing', async () => {
    const local = { authorization: `Bearer ${scene.server.token.token}` }
    expect(await tries(scene.url, { ...local, host: 'agents.example.com' })).toEqual([403, 403, false])
    for (const header of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip', 'cf-connecting-ip'])
      expect(await tries(scene.url, { ...local, [header]: '127.0.0.1' })).toEqual([403, 403, false])
    expect(await tries(scene.url, { authorization: `Bearer ${scene.adminToken}` })).toEqual([403, 403, false])
    expect(scene.provider.requests).toEqual([])
  })

  test.runIf(address !== undefined)('another address of the machine is refused, whatever its Host says', async () => {
    const open = await modelScene({ host: '0.0.0.0', hosts: [address ?? ''] })
    const local = { authorization: `Bearer ${open.server.token.token}` }
    const { port } = new URL(open.url)
    const elsewhere = `http://${address}:${port}`
    expect(await tries(elsewhere, local)).toEqual([403, 403, false])
    expect(await tries(elsewhere, { ...local, host: '127.0.0.1' })).toEqual([403, 403, false])
    expect(open.provider.requests).toEqual([])
    expect((await tries(`http://127.0.0.1:${port}`, local)).at(0)).toBe(200)
  })
})
