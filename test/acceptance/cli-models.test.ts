/* No model and its remedy; keys and models through the command line. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { documentOf, place } from './command.ts'
import {
  anthropic,
  gemini,
  lab,
  ollama,
  openAiResponses,
  openRouter,
  type Provider,
  provider,
  type Reply,
  reply,
  type Wire,
} from './wire.ts'

const json = { 'content-type': 'application/json' }
const failing = (status: number, headers = {}): Reply => ({
  status,
  headers: { ...json, ...headers },
  body: lab.error(status, `status ${status}`),
})

describe('no model', () => {
  const nothing = async () => {
    const { run, agent } = place()
    return { ran: await run(['run', agent('a.ai', ''), 'Hi']), run }
  }
  test('is exit 3, and everything that was looked at is named', async () => {
    const { ran } = await nothing()
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    for (const looked of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', '11434', '1234', '8080', '8000'])
      expect(ran.stderr).toContain(looked)
    expect(ran.stderr).toMatch(/rehearsal/)
  })
  test('the remedy names one command that exists', async () => {
    const { ran, run } = await nothing()
    const command = /\btroupe (\w+)/.exec(ran.stderr)?.[1]
    expect(command, ran.stderr).toBeDefined()
    expect(await run([command as string, '--help'])).toMatchObject({ code: 0 })
  })
  test('a server on this machine is found, asked, and named on stderr', async () => {
    const server = await provider((asked) =>
      asked.method === 'GET'
        ? { headers: json, body: '{"object":"list","data":[{"id":"qwen3:4b","object":"model"}]}' }
        : reply(ollama, { text: 'Hello from here.' }),
    )
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', ''), 'Hi'], { env: { OLLAMA_HOST: server.url } })
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'Hello from here.\n' })
    expect(ran.stderr).toContain('ollama/qwen3:4b')
    expect(server.asked.map(({ method, path: at }) => `${method} ${at}`)).toEqual(['GET /v1/models', 'POST /v1/chat/completions'])
  })
  test('a key in the environment is enough, and stderr says what was taken', async () => {
    const server = await provider(reply(openAiResponses, { text: 'Hello.' }))
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', ''), 'Hi'], {
      env: { OPENAI_API_KEY: 'sk-environment', OPENAI_BASE_URL: `${server.url}/v1` },
    })
    expect(ran).toMatchObject({ code: 0, stdout: 'Hello.\n' })
    expect(ran.stderr).toMatch(/openai\/\S+/)
    expect(ran.stderr).not.toContain('sk-environment')
  })
})

describe('models through the command line', () => {
  const moved: Partial<Record<string, (server: Provider) => NodeJS.ProcessEnv>> = {
    Ollama: (server) => ({ OLLAMA_HOST: server.url }),
    Gemini: (server) => ({ GEMINI_API_KEY: 'sk-handed', GOOGLE_BASE_URL: `${server.url}/v1beta`, GEMINI_BASE_URL: `${server.url}/v1beta` }),
  }
  test.each([openAiResponses, anthropic, gemini, openRouter, ollama, lab].map((wire) => [wire.name, wire] as [string, Wire]))(
    '%s by its name, with its key from the environment',
    async (_, wire) => {
      const server = await provider(reply(wire, { text: 'Hello.' }))
      const { run, agent } = place()
      const env = moved[wire.name]?.(server) ?? { [wire.keyVariable]: 'sk-handed', [wire.urlVariable]: `${server.url}${wire.base}` }
      const ran = await run(['run', agent('a.ai', `models: ${wire.model}\nlimits: { maxRetries: 0 }`), 'Hi'], { env })
      expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'Hello.\n' })
      if (wire !== ollama) expect(wire.key(server.asked[0] as never)).toBe('sk-handed')
    },
  )
  test('--model goes before the file, and again for the next to try', async () => {
    const [first, second] = [await provider(failing(401)), await provider(reply(lab, { text: 'From b.' }))]
    const { run, agent } = place()
    const ran = await run(
      ['run', agent('a.ai', 'models: anthropic/claude-sonnet-5'), 'Hi', '--model', 'laba/x', '--model', 'labb/y', '--json'],
      {
        env: { LABA_BASE_URL: `${first.url}/v1`, LABB_BASE_URL: `${second.url}/v1` },
      },
    )
    expect(ran.code).toBe(0)
    expect(documentOf(ran).accounting).toMatchObject([
      { model: 'laba/x', status: 'failed' },
      { model: 'labb/y', status: 'completed' },
    ])
    expect(first.asked).toHaveLength(1)
  })
  test('a model whose key is missing is left out with a word, as long as another can be asked', async () => {
    const server = await provider(reply(lab, { text: 'Hello.' }))
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', 'models: [openai/gpt-4o, lab/tiny-1]'), 'Hi'], {
      env: { LAB_BASE_URL: `${server.url}/v1` },
    })
    expect(ran).toMatchObject({ code: 0, stdout: 'Hello.\n' })
    expect(ran.stderr).toContain('OPENAI_API_KEY')
  })
  test('where every key is missing it is exit 3 with all of the variables', async () => {
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', 'models: [openai/gpt-4o, anthropic/claude-sonnet-5]'), 'Hi'], {
      env: { OPENAI_API_KEY: '' },
    })
    expect(ran.code).toBe(3)
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']) expect(ran.stderr).toContain(name)
  })
  test('a key never shows: not in answers, errors, logs, documents or the journal', async () => {
    const secret = 'sk-very-secret-0123456789'
    const server = await provider(
      { status: 500, headers: json, body: lab.error(500, `bad key ${secret}`) },
      { status: 401, headers: json, body: lab.error(401, `bad key ${secret}`) },
    )
    for (const flags of [['--json'], ['--stream-json', '--verbose'], ['--log-format', 'json', '--verbose'], ['--verbose']]) {
      const { run, agent, cwd } = place()
      const file = agent('a.ai', 'models: lab/tiny-1\nlimits: { maxRetries: 1 }')
      const ran = await run(['run', file, 'Hi', ...flags, '--data-dir', 'journal'], {
        env: { LAB_BASE_URL: `${server.url}/v1`, LAB_API_KEY: secret },
      })
      expect(ran.code).toBe(3)
      expect(ran.stdout + ran.stderr, flags.join(' ')).not.toContain(secret)
      const folder = path.join(cwd, 'journal')
      for (const name of readdirSync(folder, { recursive: true, withFileTypes: true }))
        if (name.isFile()) expect(readFileSync(path.join(name.parentPath, name.name)).includes(secret), name.name).toBe(false)
    }
  })
  test('the rehearsal is asked for by name and says what it is', async () => {
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', 'models: openai/gpt-4o'), 'Hello there', '--model', 'rehearsal'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toMatch(/no LLM/)
  })
  test('a missing or wrong script is reported with its place', async () => {
    const { run, agent, file } = place()
    file('s.yaml', 'steps:\n  - txet: Hello\n')
    const [missing, wrong] = await Promise.all(
      ['none.yaml', 's.yaml'].map((name) => run(['run', agent(`${name}.ai`, `models: script/${name}`), 'Hi'])),
    )
    expect([2, 3], 'configuration, or no model').toContain(missing?.code)
    expect(missing?.stderr).toContain('none.yaml')
    expect(missing?.stderr, 'the folder is named as it is, not as its parent').not.toMatch(/ \.\.$/m)
    expect(wrong?.code).toBe(2)
    expect(wrong?.stderr).toMatch(/s\.yaml:2:5/)
    expect(wrong?.stderr).toMatch(/text/)
  })
})
