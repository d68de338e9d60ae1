/* Issue 3, Deliver 6: --override, --dry-run, help and version, one registry behind all of them, and the demonstration. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { bin, documentOf, esc, place, saying } from './command.ts'
import { ran, root } from './support.ts'
import { lab, provider, reply } from './wire.ts'

describe('--override', () => {
  test('changes any setting for one run, and reaches the wire', async () => {
    const server = await provider(reply(lab, { text: 'Hello.' }))
    const { run, agent } = place()
    const file = agent('a.ai', 'models: lab/tiny-1\nparameters: { temperature: 1.5 }')
    const ran = await run(['run', file, 'Hi', '--override', 'parameters.temperature=0.25', '--override', 'parameters.maxOutputTokens=77'], {
      env: { LAB_BASE_URL: `${server.url}/v1` },
    })
    expect(ran.code, ran.stderr).toBe(0)
    expect(server.asked[0]?.body).toMatchObject({ temperature: 0.25, max_tokens: 77 })
  })
  test('reads durations, sizes, flags, words and lists as an agent file does', async () => {
    const { run, name } = saying('Hello.')
    const settings = [
      'limits.llmTimeout=30s',
      'limits.maxOutputBytes=64KB',
      'limits.parallelToolCalls=false',
      'parameters.reasoning=low',
      'parameters.cache=false',
      'output.format=text',
      'description=Another one',
      'models=[rehearsal, script/say.yaml]',
    ]
    const done = await run(['run', name, 'Hi', '--dry-run', '--json', ...settings.flatMap((each) => ['--override', each])])
    expect(documentOf(done), done.stdout).toMatchObject({
      limits: { llmTimeout: 30_000, maxOutputBytes: 65_536, parallelToolCalls: 1 },
      parameters: { reasoning: 'low', cache: false },
      output: { format: 'text' },
      agent: { description: 'Another one' },
      models: [{ name: 'rehearsal' }, { name: 'script/say.yaml' }],
    })
  })
  test('takes a schema, which makes the answer JSON', async () => {
    const { run, name } = saying('[]')
    const done = await run(['run', name, 'Hi', '--json', '--override', 'output.schema={ type: array }'])
    expect(documentOf(done)).toMatchObject({ report: { format: 'json', value: [] } })
  })
  test('each mistake is wrong usage that tells what was expected', async () => {
    const { run, name } = saying('Hello.')
    const mistakes = [
      ['limits.maxRetrys=1', /maxRetries/],
      ['limits.maxSessionTokens=-1', /whole number/],
      ['limits.maxCalls=many', /whole number/],
      ['parameters.temperature=9', /0 to 2/],
      ['limits.llmTimeout=soon', /duration|30s|500ms/],
      ['parameters.reasoning=hard', /minimal/],
    ] as const
    const done = await run(['run', name, 'Hi', ...mistakes.flatMap(([each]) => ['--override', each])])
    expect(done).toMatchObject({ code: 2, stdout: '' })
    for (const [setting, told] of mistakes) {
      expect(done.stderr).toContain(setting.split('=')[0])
      expect(done.stderr).toMatch(told)
    }
    for (const setting of ['nonsense', '=1']) expect((await run(['run', name, 'Hi', '--override', setting])).code).toBe(2)
  })
  test('all that is wrong is told at once', async () => {
    const { run, name } = saying('Hello.')
    const done = await run(['run', name, 'Hi', '--override', 'limits.maxRetries=x', '--override', 'limits.maxTokns=3', '--color', 'maybe'])
    expect(done.code).toBe(2)
    for (const part of ['limits.maxRetries', 'maxTokns', 'maybe']) expect(done.stderr).toContain(part)
  })
})

describe('--dry-run', () => {
  test('shows what would run, asks nobody and keeps nothing', async () => {
    const server = await provider(reply(lab, { text: 'Hello.' }))
    const { run, agent, cwd } = place()
    const done = await run(['run', agent('a.ai', 'models: [lab/tiny-1, rehearsal]'), 'Hi', '--dry-run', '--data-dir', 'journal'], {
      env: { LAB_BASE_URL: `${server.url}/v1` },
    })
    expect(done.code).toBe(0)
    for (const part of ['lab/tiny-1', 'rehearsal', 'maxToolTurns']) expect(done.stdout + done.stderr).toContain(part)
    expect(server.asked).toEqual([])
    expect(existsSync(path.join(cwd, 'journal'))).toBe(false)
  })
  test('with --json is one document of the published schema', async () => {
    const { run, name } = saying('Hello.')
    expect(documentOf(await run(['run', name, 'Hi', '--dry-run', '--json']))).toMatchObject({
      ok: true,
      dryRun: true,
      models: [{ name: 'script/say.yaml' }],
      exitCode: 0,
    })
  })
  test('finds what is wrong: a file, a schema, a model, a key', async () => {
    const { run, agent } = place()
    const all = [
      [agent('a.ai', 'models: rehearsal\nlimits: { maxRetries: x }'), 2],
      [agent('b.ai', 'models: rehearsal\noutput: { schema: { type: objekt } }'), 2],
      [agent('c.ai', 'models: nowhere/x'), 3],
      [agent('d.ai', 'models: openai/gpt-4o'), 3],
    ] as const
    const codes = await Promise.all(all.map(async ([file]) => (await run(['run', file, 'Hi', '--dry-run'])).code))
    expect(codes).toEqual(all.map(([, code]) => code))
  })
})

describe('a bad agent file', () => {
  test('has every error at once, with place, line and the nearest key', async () => {
    const { run, file } = place()
    file('bad.ai', '---\ndescription: d\nmodles: rehearsal\nlimits:\n  maxRetrys: 2\n  llmTimeout: soon\n---\nYou.\n')
    const done = await run(['run', 'bad.ai', 'Hi'])
    expect(done).toMatchObject({ code: 2, stdout: '' })
    for (const part of ['bad.ai:3:1', 'modles: rehearsal', '`models`', 'bad.ai:5:3', 'maxRetries', 'bad.ai:6:15'])
      expect(done.stderr).toContain(part)
  })
  test('output.schemaRef is read from beside the file, and its mistakes have a place', async () => {
    const { run, agent, file } = place()
    file('say.yaml', 'steps:\n  - text: "{\\"city\\": \\"Oslo\\"}"\n')
    file('out.json', '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}')
    const good = await run(['run', agent('a.ai', 'models: script/say.yaml\noutput: { schemaRef: ./out.json }'), 'Hi', '--json'])
    expect(documentOf(good)).toMatchObject({ report: { format: 'json', value: { city: 'Oslo' } } })
    const bad = await run(['run', agent('b.ai', 'models: script/say.yaml\noutput: { schemaRef: ./none.json }'), 'Hi'])
    expect(bad.code).toBe(2)
    expect(bad.stderr).toMatch(/b\.ai:4/)
    expect(bad.stderr).toContain('none.json')
  })
})

describe('help and version', () => {
  test('--version is the version and a newline', async () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    for (const flag of ['--version', '-V'])
      expect(await place().run([flag])).toMatchObject({ code: 0, stdout: expect.stringMatching(`^(troupe )?${version}\n$`), stderr: '' })
  })
  test('--help goes to standard output, without escape bytes, and names commands and exit codes', async () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const done = await place().run(args)
      expect(done).toMatchObject({ code: 0, stderr: '' })
      for (const part of ['run', 'demo', 'Exit codes', '130']) expect(done.stdout).toContain(part)
      expect(done.stdout).not.toContain(esc)
    }
  })
  test('help, flags and the reference page have one source: each flag is in all of them', async () => {
    const page = readFileSync(path.join(root, 'docs/reference/command-line.md'), 'utf8')
    const { stdout } = await place().run(['run', '--help'])
    const flags = [...new Set([...page.matchAll(/`(--[a-z-]+)/g)].map((match) => match[1]))]
    for (const flag of [
      '--model',
      '--override',
      '--dry-run',
      '--json',
      '--stream-json',
      '--quiet',
      '--verbose',
      '--log-format',
      '--color',
      '--data-dir',
    ]) {
      expect(stdout).toContain(flag)
      expect(flags).toContain(flag)
    }
    const settings = readFileSync(path.join(root, 'docs/reference/agent-file.md'), 'utf8')
    const topic = await place().run(['help', 'agent-file'])
    for (const [, key] of settings.matchAll(/^\| `([a-zA-Z.]+)`/gm)) expect(topic.stdout).toContain(key as string)
  })
  test('the help of an agent has a template that parses back to the same agent', async () => {
    const { run, agent, file } = place()
    const name = agent(
      'a.ai',
      'models: [rehearsal, ollama/qwen3]\nparameters: { temperature: 0.5, reasoning: low }\nlimits: { maxRetries: 1, llmTimeout: 90s }\noutput: { format: json, schema: { type: object } }',
    )
    const help = await run(['run', name, '--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('Does things')
    const template = /^---\n[\s\S]*?\n---$/m.exec(help.stdout)?.[0]
    file('b.ai', `${template}\nYou are a clerk.\n`)
    const [one, two] = await Promise.all(
      [name, 'b.ai'].map(async (each) => documentOf(await run(['run', each, 'Hi', '--dry-run', '--json']))),
    )
    for (const field of ['models', 'parameters', 'limits', 'output']) expect(two[field]).toEqual(one[field])
    expect(two.agent.description).toBe('Does things')
  })
  test('the nearest command and flag are suggested', async () => {
    const { run, name } = saying('Hello.')
    expect((await run(['rnu', name])).stderr).toMatch(/Did you mean run/)
    expect((await run(['run', name, 'Hi', '--qiet'])).stderr).toMatch(/--quiet/)
  })
  test.each([[['--version']], [['--help']], [['help', 'run']], [['run', '--help']]])(
    '%j loads nothing heavy and opens no connection',
    async (args) => {
      const { file, cwd } = place()
      file(
        'watch.mjs',
        `import { registerHooks } from 'node:module'\nimport { writeSync } from 'node:fs'\nregisterHooks({ load(url, context, next) { if (/node_modules/.test(url) || url === 'node:sqlite') writeSync(2, 'LOADED ' + url + '\\n'); return next(url, context) } })\nglobalThis.fetch = () => { writeSync(2, 'FETCHED\\n') }\n`,
      )
      const done = await ran(['--import', pathToFileURL(path.join(cwd, 'watch.mjs')).href, bin, ...args], { cwd })
      expect(done.code).toBe(0)
      expect(done.stderr).toBe('')
    },
  )
})

describe('troupe demo', () => {
  test('needs no key and no network, and ends with 0', async () => {
    const done = await place().run(['demo'])
    expect(done.code).toBe(0)
    expect(done.stdout.trim()).not.toBe('')
    expect(done.stderr).toMatch(/no LLM/)
    expect(done.stderr).toMatch(/✗|failed/)
    expect(done.stderr).not.toContain(esc)
  })
  test('has its document and keeps quiet when told to', async () => {
    const { run, cwd } = place()
    const [document, quiet] = await Promise.all([run(['demo', '--json']), run(['demo', '--quiet'])])
    expect(documentOf(document)).toMatchObject({ ok: true, exitCode: 0 })
    expect(quiet).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(path.join(cwd, '.state'))).toBe(false)
  })
})
