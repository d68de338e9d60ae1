// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

describe('troupe run', () => {
  test('flag, variable, file, --config, project, user: the first applies; a looser project once it is trusted', async () => {
    const limits = (maxRetries: number) => ({ defaults: { limits: { maxRetries } } })
    const { path, write } = folder({ 'a.ai': child().replace('a/b', 'rehearsal'), '.home/.ai-agent/.ai-agent.json': limits(1) })
    const retries = async (args: readonly string[] = [], env = {}) => {
      const { stdout } = await troupe(path, ['run', 'a.ai', 'Hi', '--dry-run', '--json', ...args], env)
      return JSON.parse(stdout).limits.maxRetries
    }
    const found = [await retries()]
    write({ '.ai-agent.json': limits(2) })
    found.push(await retries())
    await troupe(path, ['trust', '.ai-agent.json'])
    found.push(await retries())
    write({ 'given.json': limits(4) })
    found.push(await retries(['--config', 'given.json']))
    write({ 'a.ai': child('limits: { maxRetries: 5 }').replace('a/b', 'rehearsal') })
    found.push(await retries(['--config', 'given.json']))
    found.push(await retries(['--config', 'given.json'], { TROUPE_LIMITS_MAX_RETRIES: '6' }))
    found.push(await retries(['--override', 'limits.maxRetries=7'], { TROUPE_LIMITS_MAX_RETRIES: '6' }))
    expect(found).toEqual([1, 1, 2, 4, 5, 6, 7])
  })

  test('the folder of the agent has a configuration, too; below that of the working directory', async () => {
    const { path } = folder({
      'sub/a.ai': child().replace('a/b', 'rehearsal'),
      'sub/.ai-agent.json': { defaults: { limits: { maxRetries: 1, maxCalls: 1 } } },
      '.ai-agent.json': { defaults: { limits: { maxCalls: 2 } } },
    })
    const { stdout } = await troupe(path, ['run', 'sub/a.ai', 'Hi', '--dry-run', '--json'])
    expect(JSON.parse(stdout).limits).toMatchObject({ maxRetries: 1, maxCalls: 2 })
  })

  test('a variable that is missing: which, who needs it, and every file that was looked into', async () => {
    const { path } = folder({
      'a.ai': child().replace('a/b', 'lab/large'),
      '.home/.ai-agent/.ai-agent.json': {
        providers: { lab: { baseURL: 'https://lab.invalid/v1', apiKey: '${LAB_KEY}' }, other: { apiKey: '${NOT_NEEDED}' } },
      },
    })
    const { code, stderr } = await troupe(path, ['run', 'a.ai', 'Hi'])
    expect(code).toBe(2)
    expect(stderr).toContain('LAB_KEY')
    expect(stderr).toContain('providers.lab.apiKey')
    expect(stderr).toContain(join(path, '.home/.ai-agent/.ai-agent.env'))
    expect(stderr).not.toContain('NOT_NEEDED')
    expect((await troupe(path, ['run', 'a.ai', 'Hi', '--dry-run'], { LAB_KEY: 'geheim-1234567' })).code).toBe(0)
  })

  test('all problems of flags, configuration and the whole team are reported together', async () => {
    const { path } = folder({
      'a.ai': child('agents: [./b.ai, ./c.ai]').replace('a/b', 'rehearsal'),
      'b.ai': child('x: 1'),
      'c.ai': '---\ndescription: x\n---\nGo.',
      '.ai-agent.json': '{ "nonsense": 1 }',
    })
    const { code, stdout } = await troupe(path, ['run', 'a.ai', 'Hi', '--override', 'limits.maxRetries=x', '--json'])
    expect(code).toBe(2)
    const places = JSON.parse(stdout).error.problems.map(({ place }: { place: string }) => place.replace(`${path}/`, ''))
    expect(places).toEqual(['--override limits.maxRetries', '.ai-agent.json:1:3', 'b.ai:6:1', 'c.ai:1:1', 'c.ai:1:1'])
  })

  test('the journal goes where a trusted configuration says, and a flag goes before it', async () => {
    const { path } = folder({
      'a.ai': child().replace('a/b', 'rehearsal'),
      '.home/.ai-agent/.ai-agent.json': { store: { path: '../journals' } },
    })
    const journal = async (...args: string[]) =>
      JSON.parse((await troupe(path, ['run', 'a.ai', 'Hi', '--dry-run', '--json', ...args])).stdout).journal
    expect([await journal(), await journal('--data-dir', 'here')]).toEqual([join(path, '.home/journals'), join(path, 'here')])
  })

  test('help about an agent: its template makes the same agent again, children included', async () => {
    const { path, write } = folder({
      'boss.ai': child(
        'agents: [./scout.ai]\nmetadata: { owner: us }\nlimits: { maxCostUsd: 0.5, timeBudget: 90s }\nparameters: { timeout: 5s }',
      ).replace('a/b', 'rehearsal'),
      'scout.ai': child().replace('a/b', 'rehearsal'),
      '.ai-agent.json': { defaults: { limits: { maxCalls: 3 } } },
    })
    const help = await troupe(path, ['run', 'boss.ai', '--help'])
    expect([help.code, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toMatch(
      /^boss: A test\n\nUsage\n {2}troupe run boss\.ai PROMPT \[options\]\n {2}PROMPT is anything\n\nAgents that it can call\n {2}scout {2}A test\n/,
    )
    const [template] = /^---\n[\s\S]*?\n---$/m.exec(help.stdout) ?? []
    expect(template).toContain('maxCalls: 3')
    expect(template).toContain('llmTimeout: 5s')
    write({ 'again/boss.ai': `${template}\nDo it.\n`, 'again/scout.ai': child().replace('a/b', 'rehearsal') })
    const shown = async (folder: string) => {
      const { stdout } = await troupe(join(path, folder), ['agents', 'list', '--json'], { HOME: join(path, '.home') })
      const run = await troupe(join(path, folder), ['run', 'boss.ai', 'Hi', '--dry-run', '--json', '--override', 'limits.maxCostUsd=1'])
      const { journal: _, ...plan } = JSON.parse(run.stdout)
      return { agents: JSON.parse(stdout).agents, plan }
    }
    const [before, after] = [await shown('.'), await shown('again')]
    expect(after).toEqual(before)
  })
})

describe('troupe run of an agent that takes JSON', () => {
  const schema = '{ type: object, properties: { city: { type: string } }, required: [city], additionalProperties: false }'

  test('holds the prompt to its schema, as it does what other agents give it', async () => {
    const { path } = folder({ 'a b.ai': child(`input: { format: json, schema: ${schema} }`).replace('a/b', 'rehearsal') })
    const run = (prompt: string) => troupe(path, ['run', 'a b.ai', prompt, '--dry-run', '--json'])
    const [text, wrong, right] = await Promise.all([run('not json at all'), run('{ "town": "Bern" }'), run('{ "city": "Bern" }')])
    const problemOf = ({ stdout }: typeof text) => JSON.parse(stdout).error.problems
    expect([text.code, wrong.code, right.code]).toEqual([2, 2, 0])
    expect(problemOf(text)).toEqual([
      {
        place: 'PROMPT',
        message: 'The prompt is not JSON; this agent requires JSON.',
        remedy: "Pass JSON that matches its schema; to see the schema: troupe run 'a b.ai' --help",
      },
    ])
    expect(problemOf(wrong)).toMatchObject([{ place: 'PROMPT', message: expect.stringMatching(/does not match .*city/) }])
  })

  test('a schema that cannot be compiled is reported with its file, before the prompt is read', async () => {
    const { path } = folder({
      'a.ai': child('output: { format: json, schema: { properties: { a: { $id: x }, b: { $id: x, type: string } } } }')
        .replace('output: { format: text }\n', '')
        .replace('a/b', 'rehearsal'),
    })
    const [run, validate] = await Promise.all(
      [
        ['run', 'a.ai', 'Hi', '--json'],
        ['validate', 'a.ai', '--json'],
      ].map(async (args) => JSON.parse((await troupe(path, args)).stdout).error.problems),
    )
    expect(run).toMatchObject([{ place: 'a.ai output.schema' }])
    expect(validate).toEqual(run)
  })
})
