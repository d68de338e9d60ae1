/* Issue 3: every exit code on purpose; no model and its remedy; keys, models and faults through the command line. */
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
async function labRun(replies: readonly Reply[], settings = 'limits: { maxRetries: 0 }', more: readonly string[] = []) {
  const server = await provider(...replies)
  const where = place()
  const file = where.agent('a.ai', `models: lab/tiny-1\n${settings}`)
  return {
    ...(await where.run(['run', file, 'Hi', ...more], { env: { LAB_BASE_URL: `${server.url}/v1`, LAB_API_KEY: 'sk-lab-secret' } })),
    server,
    where,
  }
}
const failing = (status: number, headers = {}): Reply => ({
  status,
  headers: { ...json, ...headers },
  body: lab.error(status, `status ${status}`),
})

describe('exit code', () => {
  test('0: done', async () => {
    expect(await labRun([reply(lab, { text: 'Hello.' })])).toMatchObject({ code: 0, stdout: 'Hello.\n' })
  })
  test('1: the run failed, though the model works: an answer that never fits', async () => {
    const settings = 'limits: { maxRetries: 1 }\noutput: { schema: { type: object, required: [city] } }'
    const ran = await labRun([reply(lab, { text: 'no' })], settings, ['--json'])
    expect(ran.code).toBe(1)
    expect(documentOf(ran)).toMatchObject({ ok: false, reason: 'invalid_output', exitCode: 1, report: { text: 'no' } })
    expect(ran.server.asked).toHaveLength(2)
  })
  test('2: usage and configuration', async () => {
    const { run, agent, file } = place()
    const fine = agent('a.ai', 'models: rehearsal')
    file('broken.ai', '---\ndescription: [\n---\n')
    const all = await Promise.all(
      [
        ['nonsense'],
        ['run'],
        ['run', 'missing.ai', 'x'],
        ['run', 'broken.ai', 'x'],
        ['run', fine, 'x', '--nope'],
        ['run', fine, 'x', '--model'],
      ].map((args) => run(args)),
    )
    for (const ran of all) {
      expect(ran, ran.stderr).toMatchObject({ code: 2, stdout: '' })
      expect(ran.stderr).toMatch(/→|error/)
      expect(ran.stderr).not.toMatch(/\n\s+at /)
    }
  })
  test('3: the key is refused', async () => {
    for (const ran of await Promise.all([401, 403].map((status) => labRun([failing(status)], '')))) {
      expect(ran).toMatchObject({ code: 3, stdout: '' })
      expect(ran.stderr).toContain('LAB_API_KEY')
      expect(ran.server.asked).toHaveLength(1)
    }
  })
  test.each([
    ['500', [failing(500)]],
    ['529', [failing(529)]],
    ['429', [failing(429, { 'retry-after': '1' })]],
    ['a web page', [{ headers: { 'content-type': 'text/html' }, body: '<html><body>Sign in</body></html>' }]],
    ['a cut stream', [{ body: 'data: {"id":"1","choices":[{"index":0,"delta":{"content":"Ha"}}]}\n\n', cut: true }]],
  ] as [string, Reply[]][])('4: provider or network: %s', async (_, replies) => {
    const ran = await labRun(replies)
    expect(ran).toMatchObject({ code: 4, stdout: '' })
    expect(ran.stderr).toMatch(/→ \w+/)
  })
  test('2 or 4: a redirect, which is not followed: the address is wrong, or the provider is', async () => {
    const ran = await labRun([{ status: 302, headers: { location: 'http://127.0.0.1:9/' } }])
    expect([2, 4]).toContain(ran.code)
    expect(ran.stderr).toMatch(/→ \w+/)
  })
  test('4: nobody listens', async () => {
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', 'models: lab/tiny-1\nlimits: { maxRetries: 0 }'), 'Hi'], {
      env: { LAB_BASE_URL: 'http://127.0.0.1:1098/v1' },
    })
    expect(ran).toMatchObject({ code: 4, stdout: '' })
    expect(ran.stderr).toContain('127.0.0.1:1098')
  })
  test('4: nobody listens where Ollama should be, and the remedy names the variable that moves it', async () => {
    const { run, agent } = place()
    const file = agent('a.ai', 'models: ollama/qwen3\nlimits: { maxRetries: 0 }')
    const ran = await run(['run', file, 'Hi'], { env: { OLLAMA_HOST: '127.0.0.1:1098' } })
    expect(ran).toMatchObject({ code: 4, stdout: '' })
    expect(ran.stderr).toMatch(/OLLAMA_(HOST|BASE_URL)/)
  })
  test('5: steps ran out, and the last answer is still printed', async () => {
    const call = reply(lab, { calls: [{ id: 'c1', name: 'nothing', input: { reason: 'r' } }] })
    const ran = await labRun([call, reply(lab, { text: 'What I have.' })], 'limits: { maxToolTurns: 1 }')
    expect(ran).toMatchObject({ code: 5, stdout: 'What I have.\n' })
    expect(ran.stderr).toMatch(/steps/)
  })
  test('5: tokens ran out', async () => {
    const tokens = await labRun([reply(lab, { text: 'Hello.' })], 'limits: { maxTokens: 1 }', ['--json'])
    expect(documentOf(tokens)).toMatchObject({ ok: false, reason: 'tokens', exitCode: 5 })
  })
  test.each([0, 2])('5: time ran out while the model was silent, with maxRetries %i', async (maxRetries) => {
    const time = await labRun([() => undefined], `limits: { timeBudget: 100ms, maxRetries: ${maxRetries} }`, ['--json'])
    expect(documentOf(time)).toMatchObject({ ok: false, reason: 'time', exitCode: 5 })
  })
  test('an attempt that takes too long is the provider’s: 4', async () => {
    const ran = await labRun([() => undefined], 'limits: { llmTimeout: 100ms, maxRetries: 0 }', ['--json'])
    expect(documentOf(ran)).toMatchObject({ exitCode: 4, failure: { class: 'timeout' } })
  })
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
  test('a script that is missing or wrong is told with its place', async () => {
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
