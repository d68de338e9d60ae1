import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

describe('troupe init', () => {
  test('begins a project that is right, trusted, and never overwritten', async () => {
    const { path } = folder()
    const made = await troupe(path, ['init', 'trips', '--yes'])
    expect([made.code, made.stdout.split('\n')]).toEqual([
      0,
      expect.arrayContaining(['created trips/trip.ai', 'created trips/.ai-agent.json']),
    ])
    const root = join(path, 'trips')
    expect(statSync(join(root, 'trip.ai')).mode & 0o111).not.toBe(0)
    const again = await troupe(path, ['init', 'trips'])
    expect([again.code, again.stdout]).toEqual([2, ''])
    expect(again.stderr).toContain('trips/trip.ai')
    const state = { HOME: join(path, '.home'), XDG_STATE_HOME: join(path, '.state') }
    expect(await troupe(root, ['validate'], state)).toMatchObject({ code: 0, stdout: '4 agents and the configuration are valid.\n' })
    expect((await troupe(root, ['trust', '--list'], state)).stdout).toMatch(/^trusted {2}.*\.ai-agent\.json {2}trusted by troupe init on /)
    expect((await troupe(root, ['doctor', '--json'], state)).code).toBe(0)
  })

  test('keeps other files of a project unchanged, and reports it', async () => {
    const { path } = folder({ 'README.md': 'Mine.\n', '.gitignore': 'dist\n' })
    const made = await troupe(path, ['init', '--yes'])
    expect(made.code).toBe(0)
    expect(made.stdout).toContain('created trip.ai\n')
    expect(made.stdout).not.toMatch(/README|gitignore/)
    expect(made.stderr).toContain('kept README.md\n')
    expect(made.stderr).toContain('kept .gitignore; add this line to keep keys out of Git: .ai-agent.env\n')
    expect([readFileSync(join(path, 'README.md'), 'utf8'), readFileSync(join(path, '.gitignore'), 'utf8')]).toEqual(['Mine.\n', 'dist\n'])
    const again = await troupe(path, ['init', '--yes'])
    expect(again.code).toBe(2)
    expect(again.stderr.match(/This file already exists/g)).toHaveLength(5)
    expect(again.stderr.match(/→/g)).toHaveLength(1)
  })

  test('creates nothing where an agent is there, or where the folder is a file', async () => {
    const { path } = folder({ 'agents/scout.ai': child(), file: 'x' })
    expect((await troupe(path, ['init'])).code).toBe(2)
    expect(existsSync(join(path, 'trip.ai'))).toBe(false)
    expect((await troupe(path, ['init', 'file'])).stderr).toContain('is not a folder')
  })
})

describe('troupe init beside links', () => {
  const init = async (path: string, ...args: string[]) => {
    const ended = await troupe(path, ['init', ...args, '--yes'])
    expect([ended.code, ended.stdout]).toEqual([2, ''])
    return ended.stderr
  }

  test.each(['trip.ai', '.ai-agent.json', 'agents/scout.ai'])('writes nothing through a link that is a dangling link: %s', async (name) => {
    const { path, write } = folder()
    const outside = folder()
    write({ 'agents/.keep': '' })
    symlinkSync(join(outside.path, 'target'), join(path, name))
    expect(await init(path)).toContain(`${name}  This file already exists.`)
    expect([existsSync(join(path, '.ai-agent.json')), existsSync(join(path, 'agents/writer.ai'))]).toEqual([false, false])
    expect(readdirSync(outside.path)).toEqual([])
  })

  test('keeps a link in place of another file, and writes nothing through it', async () => {
    const { path } = folder()
    const outside = folder()
    symlinkSync(join(outside.path, 'target'), join(path, '.gitignore'))
    const made = await troupe(path, ['init', '--yes'])
    expect([made.code, readdirSync(outside.path)]).toEqual([0, []])
    expect(made.stderr).toContain('kept .gitignore;')
  })

  test.runIf(existsSync('/proc/self/pagemap'))('reads no link without an end', async () => {
    const { path } = folder()
    symlinkSync('/proc/self/pagemap', join(path, '.gitignore'))
    expect(await troupe(path, ['init', '--yes'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('keep keys out of Git: .ai-agent.env'),
    })
  })

  test('writes nothing into a folder that is a link, wherever it leads', async () => {
    const { path } = folder()
    const outside = folder()
    symlinkSync(outside.path, join(path, 'agents'))
    expect(await init(path)).toContain('agents  This is not a folder.')
    symlinkSync(join(outside.path, 'nowhere'), join(path, 'new'))
    expect(await init(path, 'new')).toContain('new is not a folder.')
    expect([existsSync(join(path, 'trip.ai')), readdirSync(outside.path)]).toEqual([false, []])
  })
})

test('troupe agents list without a valid file reports that, and exits with 2', async () => {
  const { path } = folder({ 'a.ai': child('limts: 1') })
  const ended = await troupe(path, ['agents', 'list'])
  expect([ended.code, ended.stdout]).toEqual([2, ''])
  expect(ended.stderr).toContain('error: None of the agent files here is valid.')
  expect(ended.stderr).toContain('a.ai:6:1  Unknown key `limts`.')
  expect(ended.stderr).not.toContain('troupe init')
  const { stdout } = await troupe(path, ['agents', 'list', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { problems: [{ place: 'a.ai:6:1' }] }, exitCode: 2 })
  const beside = folder({ 'a.ai': child('limts: 1'), 'b.ai': child() })
  expect(await troupe(beside.path, ['agents', 'list'])).toMatchObject({ code: 0, stdout: expect.stringContaining('b.ai') })
})

describe('troupe validate', () => {
  test('reports all problems of agents, models, schemas and configuration together', async () => {
    const { path } = folder({
      'a.ai': child('limts: 1'),
      'b.ai': child('agents: [./missing.ai]'),
      'c/d.ai': child('tols: x'),
      '.ai-agent.json': { agents: ['./c'], defaults: { limits: { maxRetries: 'x' } }, nonsense: 1 },
    })
    const { code, stdout, stderr } = await troupe(path, ['validate', '--json'])
    expect(code).toBe(2)
    const { ok, error, exitCode } = JSON.parse(stdout)
    expect([ok, exitCode]).toEqual([false, 2])
    const places = error.problems.map(({ place }: { place: string }) => place.replace(`${path}/`, ''))
    // The folder that only the configuration knows is not looked into while the configuration is wrong.
    expect(places).toEqual([
      expect.stringMatching(/^\.ai-agent\.json:1:/),
      expect.stringMatching(/^\.ai-agent\.json:1:/),
      'a.ai:6:1',
      'b.ai:6:10',
    ])
    expect(stderr).toContain('a.ai:6:1')
  })

  test('reports skills, hooks, templates and ineffective rules of a file with its other problems', async () => {
    const { path } = folder({
      'a.ai':
        `${child('limts: 1\ntools: [shel]\nskills: [nope]\napprovals: { rules: [{ deny: "shel(rm *)" }] }')}Go {{ agent.name\n`.replace(
          'a/b',
          'rehearsal',
        ),
      'b.ai': `${child('tools: [shel]\nskills: [none]')}Go {{ agent.nam }}\n`.replace('a/b', 'rehearsal'),
      'own.json': { hooks: [{ name: 'guard', on: ['before_call'], command: ['./none.sh'], onFailure: 'closed' }] },
    })
    const { code, stdout } = await troupe(path, ['validate', '--json', '--config', 'own.json'])
    const { problems } = JSON.parse(stdout).error as { readonly problems: readonly { place: string; message: string; remedy?: string }[] }
    expect(code).toBe(2)
    expect(problems.map(({ place, message }) => `${place.replace(`${path}/`, '')} ${message}`)).toEqual([
      'a.ai:6:1 unknown key `limts`',
      'a.ai:7:9 there is no tool `shel`',
      'b.ai:6:9 there is no tool `shel`',
      'a.ai:9:22 the rule has no effect: no tool is called `shel`',
      expect.stringMatching(/^a\.ai:\d+:\d+ the template is invalid: /),
      expect.stringMatching(/^b\.ai:\d+:\d+ there is no `agent\.nam`/),
      'a.ai:8:10 there is no skill `nope`',
      'b.ai:7:10 there is no skill `none`',
      expect.stringMatching(/^own\.json:1:\d+ the hook "guard" cannot be used/),
    ])
    expect(problems.filter(({ remedy }) => remedy === undefined)).toEqual([])
  })

  test('finds unknown models and unreadable scripts, and contacts no server', async () => {
    const { path } = folder({
      'a.ai': child().replace('a/b', '[nonsense/x, script/none.yaml, openai/gpt-5.4-mini, auto]'),
      'b.ai': child().replace('a/b', 'script/bad.yaml'),
      'bad.yaml': 'steps: 7',
    })
    const { code, stdout } = await troupe(path, ['validate', '--json'])
    const told = JSON.parse(stdout).error.problems.map(({ place, message }: { place: string; message: string }) => `${place} ${message}`)
    expect(code).toBe(2)
    expect(told).toEqual([
      expect.stringMatching(/^a\.ai:4:9 .*nonsense/i),
      expect.stringMatching(/^a\.ai:4:9 .*none\.yaml/),
      expect.stringMatching(/bad\.yaml:1/),
    ])
  })

  test('reports wrong models with the other problems of the same file', async () => {
    const { path } = folder({
      'a.ai': child('limts: 1').replace('a/b', '[nonsense/x, fsat, fast]'),
      'b.ai': child('agents: [./none.ai]').replace('a/b', 'opnai/gpt-5.4-mini'),
      'c.ai': child('enabled: false').replace('a/b', 'nobody/asks'),
      '.ai-agent.json': { models: { fast: 'rehearsal' } },
    })
    const { code, stdout } = await troupe(path, ['validate', '--json'])
    const told = JSON.parse(stdout).error.problems.map(({ place, message }: { place: string; message: string }) => `${place} ${message}`)
    expect(code).toBe(2)
    expect(told).toEqual([
      'a.ai:6:1 unknown key `limts`',
      'b.ai:6:10 there is no agent file `./none.ai`',
      expect.stringMatching(/^a\.ai:4:9 .*nonsense/),
      expect.stringMatching(/^a\.ai:4:9 .*fsat/),
      expect.stringMatching(/^b\.ai:4:9 .*opnai/),
    ])
  })

  test('takes files and folders, and accepts valid ones', async () => {
    const { path } = folder({ 'a.ai': child().replace('a/b', 'rehearsal'), 'sub/b.ai': child().replace('a/b', 'auto'), 'broken.ai': '' })
    expect(await troupe(path, ['validate', 'a.ai', 'sub'])).toMatchObject({
      code: 0,
      stdout: '2 agents and the configuration are valid.\n',
      stderr: '',
    })
    const { stdout } = await troupe(path, ['validate', 'a.ai', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, agents: [{ name: 'a', file: 'a.ai', isChild: false }], exitCode: 0 })
    expect((await troupe(path, ['validate', 'a.aj'])).stderr).toContain('Did you mean `a.ai`?')
  })
})

describe('troupe validate of a folder with projects in it', () => {
  const one = (name: string): { readonly [file: string]: string | object } => ({
    [`${name}/boss.ai`]: child('agents: [helper, ./near.ai]').replace('a/b', 'fast'),
    [`${name}/near.ai`]: child().replace('a/b', 'rehearsal'),
    [`${name}/lib/helper.ai`]: child().replace('a/b', 'rehearsal'),
    [`${name}/.ai-agent.json`]: { agents: ['./lib'], models: { fast: 'rehearsal' } },
    [`${name}/README.md`]: '# A project',
    [`${name}/rules/tone.md`]: '---\ntitle: Tone\n---\nBe kind.',
  })

  test('each is looked at with its own configuration, and files that are no agents are let alone', async () => {
    const { path } = folder({ ...one('a'), ...one('b') })
    expect(await troupe(path, ['validate', '.'])).toMatchObject({
      code: 0,
      stdout: '6 agents and the configuration are valid.\n',
      stderr: '',
    })
    const { agents } = JSON.parse((await troupe(path, ['validate', 'a', '--json'])).stdout)
    expect(agents).toHaveLength(3)
    expect(agents).toContainEqual({ name: 'near', file: 'a/near.ai', isChild: true })
  })

  test('in the repository itself, every warning is one that a new user can fix', async () => {
    const { path } = folder()
    const { stdout } = await troupe(join(import.meta.dirname, '..', '..'), ['doctor', '--json'], {
      HOME: path,
      XDG_STATE_HOME: join(path, 'state'),
    })
    const warnings: { what: string; fix?: string }[] = JSON.parse(stdout).checks.filter(
      ({ status }: { status: string }) => status === 'warning',
    )
    expect(warnings.filter(({ what }) => what === 'extension')).toEqual([])
    expect(warnings.filter(({ fix }) => fix === undefined)).toEqual([])
  })

  test('a problem that several checks find is reported once', async () => {
    const { path } = folder({
      ...one('a'),
      'a/lib/helper.ai': child('limts: 1').replace('a/b', 'nonsense/x'),
      '.ai-agent.json': { nonsense: 1 },
    })
    const told = JSON.parse((await troupe(path, ['validate', 'a', '--json'])).stdout).error.problems
    expect(told.map(({ place }: { place: string }) => place.replace(`${path}/`, ''))).toEqual(['.ai-agent.json:1:2', 'a/lib/helper.ai:6:1'])
    const named = await troupe(path, ['validate', 'a/README.md'])
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('a/README.md  This is not an agent file')])
  })
})

describe('troupe agents list', () => {
  test('shows the rules of an agent, where it has any', async () => {
    const rules = [{ ask: ['shell', 'web_fetch'] }, { deny: 'shell(rm *)', reason: 'No' }]
    const { path } = folder({ 'a.ai': child(`approvals: { rules: ${JSON.stringify(rules)} }`), 'b.ai': child() })
    const { stdout } = await troupe(path, ['agents', 'list'])
    expect(stdout.split('\n').filter((line) => line.includes('.ai'))).toEqual([
      expect.stringMatching(/a\.ai · rules: ask shell web_fetch, deny shell\(rm \*\)$/),
      expect.stringMatching(/b\.ai$/),
    ])
    const { agents } = JSON.parse((await troupe(path, ['agents', 'list', '--json'])).stdout)
    expect(agents.map(({ approvals }: { approvals?: unknown }) => approvals)).toEqual([rules, undefined])
  })

  test('lists all readable agents: own files, configured ones, and files of other programs', async () => {
    const { path } = folder({
      'a.ai': child('agents: [lib]\nmetadata: { owner: us }'),
      'lib/lib.ai': child('enabled: false\ntoolName: the.lib'),
      'broken.ai': '',
      '.claude/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews code\ntools: Read, Bash\n---\nReview.',
      '.ai-agent.json': { agents: ['./lib'] },
    })
    const { code, stdout, stderr } = await troupe(path, ['agents', 'list'])
    expect(code).toBe(0)
    expect(stdout).toContain('calls lib')
    expect(stdout).toContain('owner: "us"')
    expect(stdout).toMatch(/reviewer +Reviews code/)
    expect(stdout).toMatch(/the\.lib +A test/)
    expect(stdout).toContain('lib/lib.ai · disabled')
    expect(stderr).toContain('troupe validate')
    const { agents, problems } = JSON.parse((await troupe(path, ['agents', 'list', '--json'])).stdout)
    expect(
      agents.map(({ name, dialect, enabled }: { name: string; dialect: string; enabled: boolean }) => [name, dialect, enabled]),
    ).toEqual([
      ['reviewer', 'claude', true],
      ['a', 'troupe', true],
      ['lib', 'troupe', false],
    ])
    expect(problems).toMatchObject([{ place: 'broken.ai:1:1' }])
  })
})

describe('troupe config show', () => {
  test('says who has the last word, and hides secrets', async () => {
    const { path } = folder({
      'a.ai': child('limits: { maxRetries: 1 }'),
      '.ai-agent.json': { defaults: { limits: { maxRetries: 5, maxCalls: 6 } } },
      '.home/.ai-agent/.ai-agent.json': {
        providers: { lab: { baseURL: 'https://lab.example/v1', apiKey: 'sk-verysecret1234567890abcdef' } },
      },
      '.home/.ai-agent/.ai-agent.env': 'LAB_TOKEN=geheimgeheim',
      'given.json': { defaults: { limits: { maxCalls: 9 } } },
    })
    const env = { TROUPE_LIMITS_MAX_TOOL_TURNS: '3' }
    const { stdout, code } = await troupe(path, ['config', 'show', 'a.ai', '--origin', '--config', 'given.json'], env)
    expect(code).toBe(0)
    const lines = stdout.replaceAll(`${path}/`, '').split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'limits.maxRetries = 1  # a.ai:6:23',
        'limits.maxCalls = 9  # given.json:1',
        'limits.maxToolTurns = 3  # TROUPE_LIMITS_MAX_TOOL_TURNS',
        'limits.maxDepth = 3  # default',
        'providers.lab.baseURL = https://lab.example/v1  # .home/.ai-agent/.ai-agent.json:1',
        'variables.LAB_TOKEN = [redacted]  # .home/.ai-agent/.ai-agent.env:1',
      ]),
    )
    expect(stdout).not.toMatch(/verysecret|geheim/)
    const { settings } = JSON.parse((await troupe(path, ['config', 'show', '--json'], env)).stdout)
    expect(settings).toContainEqual({ key: 'limits.maxRetries', value: 5, origin: join(path, '.ai-agent.json:1') })
  })
})

describe('troupe doctor', () => {
  test('each failure has a fix; keys are named and never shown', async () => {
    const { path } = folder({
      'a.ai': child().replace('a/b', 'openai/gpt-5.4-mini'),
      'b.ai': child().replace('a/b', 'rehearsal'),
      '.ai-agent.json': { providers: { lab: { baseURL: 'http://evil.example/v1' } } },
    })
    const { code, stdout } = await troupe(path, ['doctor', '--json'], { LAB_API_KEY: 'geheim-geheim-1234' })
    const { ok, checks, exitCode } = JSON.parse(stdout)
    expect([code, ok, exitCode]).toEqual([1, false, 1])
    const failures = checks.filter(({ status }: { status: string }) => status === 'fail')
    expect(failures).toMatchObject([{ what: 'models', fix: expect.stringContaining('OPENAI_API_KEY') }])
    expect(checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ status: 'warning', what: 'configuration', fix: expect.stringContaining('troupe trust') }),
      ]),
    )
    expect(stdout).toContain('LAB_API_KEY')
    expect(stdout).not.toContain('geheim')
  })

  test('broken agents, a broken configuration and a journal that cannot be written fail, all of them', async () => {
    const { path } = folder({ 'a.ai': child('x: 1'), '.ai-agent.json': '{ nonsense', file: 'x' })
    const { code, stdout } = await troupe(path, ['doctor'], { XDG_STATE_HOME: join(path, 'file') })
    expect(code).toBe(1)
    expect(stdout).toMatch(/FAIL {2}configuration: .*\.ai-agent\.json:1:3/)
    expect(stdout).toMatch(/FAIL {2}agent: a\.ai:6:1/)
    expect(stdout).toMatch(/FAIL {2}journal: /)
    const lines = stdout.split('\n')
    for (const [i, line] of lines.entries()) if (line.startsWith('FAIL')) expect(lines[i + 1]).toMatch(/^ {6}→ \S/)
  })
})

describe('troupe trust', () => {
  const project = () =>
    folder({
      '.ai-agent.json': { providers: { openai: { baseURL: 'https://evil.example/v1' } } },
      '.ai-agent.env': 'OPENAI_API_KEY=theirs-1234',
      '.claude/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews code\n---\nReview.',
    })

  test('without a terminal nothing is trusted that is not named; what waits is listed', async () => {
    const { path } = project()
    const plain = await troupe(path, ['trust'])
    expect([plain.code, plain.stdout]).toEqual([2, ''])
    for (const part of [
      `${join(path, '.ai-agent.json')}  Ignored until you trust this configuration:\n    providers – choose where requests and keys are sent`,
      '    variables OPENAI_API_KEY – set keys',
      `${join(path, '.claude/agents/reviewer.md')}  Ignored until you trust this agent of another program:\n    tools that change something\n    servers\n`,
      'troupe trust --all',
    ])
      expect(plain.stderr).toContain(part)
    expect(plain.stderr).not.toContain('theirs-1234')
    expect(JSON.parse((await troupe(path, ['trust', '--json'])).stdout)).toMatchObject({ ok: false, error: { code: 'usage' }, exitCode: 2 })
    expect((await troupe(path, ['trust', '--list'])).stdout).toBe('')
    expect((await troupe(path, ['trust', '--all', '.ai-agent.env'])).code).toBe(2)
  })

  test('whatever waits here, until it changes, until it is taken back', async () => {
    const { path, write } = project()
    const shown = async () => (await troupe(path, ['config', 'show'])).stdout
    expect(await shown()).not.toContain('evil')
    const given = await troupe(path, ['trust', '--all'])
    expect(given.stdout.split('\n').filter((line) => line !== '')).toEqual(
      ['.ai-agent.json', '.ai-agent.env', '.claude/agents/reviewer.md'].map((name) => `Trusted: ${join(path, name)}`),
    )
    expect(await shown()).toContain('providers.openai.baseURL = https://evil.example/v1')
    expect((await troupe(path, ['trust'])).stderr).toContain('No untrusted files here.')
    write({ '.ai-agent.json': { providers: { openai: { baseURL: 'https://worse.example/v1' } } } })
    expect(await shown()).not.toContain('worse')
    expect((await troupe(path, ['trust', '--list'])).stdout).toMatch(/^changed {2}.*\.ai-agent\.json/m)
    expect((await troupe(path, ['trust', '--revoke', '.'])).stdout.split('\n').filter((line) => line !== '')).toHaveLength(3)
    expect((await troupe(path, ['trust', '--list'])).stdout).toBe('')
  })

  test('by name, and only what is there', async () => {
    const { path } = project()
    expect((await troupe(path, ['trust', '.ai-agent.env'])).stdout).toBe(`Trusted: ${join(path, '.ai-agent.env')}\n`)
    expect(JSON.parse(readFileSync(join(path, '.state/troupe/trust.json'), 'utf8')).trusted).toHaveLength(1)
    expect((await troupe(path, ['trust', 'missing.json'])).code).toBe(2)
    expect((await troupe(path, ['trust', '--list', '--revoke'])).code).toBe(2)
  })

  test('a list of trust that comes along with a project trusts nobody', async () => {
    const { path } = project()
    await troupe(path, ['trust', '--all'])
    const list = readFileSync(join(path, '.state/troupe/trust.json'), 'utf8')
    writeFileSync(join(path, 'trust.json'), list)
    const { stdout } = await troupe(path, ['config', 'show'], { XDG_STATE_HOME: join(path, '.elsewhere') })
    expect(stdout).not.toContain('evil')
  })
})
