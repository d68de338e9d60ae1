import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtinToolNames } from '../../src/policy/builtin-tool-names.ts'
import { parseOverrides, type Registry } from '../../src/project/index.ts'
import { agentsOf, child, folder, problemsOf } from './folder.ts'

const remediesOf = (registry: Registry) => (registry.ok ? [] : registry.problems.map(({ remedy }) => remedy))

describe('a team', () => {
  test('is an agent with its children and theirs, each once, by name', async () => {
    const { load, path } = folder({
      'boss.ai': child('agents: [./team/scout.ai, team/writer.ai]'),
      'team/scout.ai': child('toolName: research.scout\nagents: [./helper.ai]'),
      'team/writer.ai': child('agents: [../team/helper.ai]'),
      'team/helper.ai': child('metadata: { owner: us }'),
    })
    const registry = await load('boss.ai')
    const agents = agentsOf(registry)
    expect(
      agents.map(({ definition, place, isChild, metadata }) => [
        definition.name,
        definition.toolName,
        definition.agents,
        place,
        isChild,
        metadata,
      ]),
    ).toEqual([
      ['boss', 'boss', ['scout', 'writer'], 'boss.ai', false, {}],
      ['scout', 'research.scout', ['helper'], 'team/scout.ai', true, {}],
      ['writer', 'writer', ['helper'], 'team/writer.ai', true, {}],
      ['helper', 'helper', [], 'team/helper.ai', true, { owner: 'us' }],
    ])
    expect(registry).toMatchObject({ roots: ['boss'], files: agents.map(({ place }) => place) })
    expect(agents[3]?.path).toBe(join(path, 'team/helper.ai'))
  })

  test('names of scripts belong to the file that names them', async () => {
    const { load, path, write } = folder({
      'boss.ai': child('agents: [./beside.ai, ./team/scout.ai, ./team/plain.ai]').replace('a/b', 'script/boss.yaml'),
      'beside.ai': child().replace('a/b', 'script/beside.yaml'),
      'team/plain.ai': child().replace('models: a/b\n', ''),
    })
    write({ 'team/scout.ai': child().replace('a/b', `[script/s.yaml, openai/x, script/${path}/team/abs.yaml]`) })
    const models = async (more = {}) => agentsOf(await load('boss.ai', more)).map(({ definition }) => definition.models)
    const scout = [`script/${path}/team/s.yaml`, 'openai/x', `script/${path}/team/abs.yaml`]
    expect(await models()).toEqual([['script/boss.yaml'], ['script/beside.yaml'], scout, ['auto']])
    // A model for the run is also that of children which name none.
    const flags = parseOverrides({ settings: [], models: ['rehearsal'] })
    expect(await models({ flags })).toEqual([['rehearsal'], ['script/beside.yaml'], scout, ['rehearsal']])
    const variables = new Map([['models' as const, { value: ['v/w'], place: 'TROUPE_MODELS' }]])
    expect(await models({ variables })).toEqual([['v/w'], ['v/w'], ['v/w'], ['v/w']])
    write({ '.user/.ai-agent.json': { defaults: { models: 'script/default.yaml', limits: { maxToolTurns: 3 } } } })
    expect(await models()).toEqual([['script/boss.yaml'], ['script/beside.yaml'], scout, [`script/${path}/.user/default.yaml`]])
  })

  test('the configuration speaks where a file is silent, a variable before it, a flag before that for the root alone', async () => {
    const { load } = folder({
      'boss.ai': child('agents: [./scout.ai]\nlimits: { maxRetries: 1 }'),
      'scout.ai': child('limits: { maxCalls: 5 }'),
      '.ai-agent.json': { defaults: { limits: { maxRetries: 7, maxCalls: 7, maxToolTurns: 7 }, output: { format: 'json' } } },
    })
    const variables = new Map([['limits.maxToolTurns' as const, { value: 4, place: 'TROUPE_LIMITS_MAX_TOOL_TURNS' }]])
    const flags = parseOverrides({ settings: ['limits.maxRetries=0', 'limits.maxToolTurns=2'] })
    const agents = agentsOf(await load('boss.ai', { variables, flags }))
    expect(agents.map(({ definition }) => definition.limits)).toEqual([
      { maxRetries: 0, maxCalls: 7, maxToolTurns: 2 },
      { maxRetries: 7, maxCalls: 5, maxToolTurns: 4 },
    ])
    expect(agents.map(({ definition }) => definition.output)).toEqual([{ format: 'text' }, { format: 'text' }])
  })

  test('an agent that the configuration lists is called by its name or its tool name', async () => {
    const { load, write } = folder({
      'boss.ai': child('agents: [scout, research.icp]'),
      'lib/scout.ai': child(),
      'lib/deep/icp.ai': child('toolName: research.icp'),
      'lib/README.md': '# Not an agent',
      'lib/broken.ai': 'nothing',
      '.ai-agent.json': { agents: ['./lib'] },
    })
    const registry = await load('boss.ai')
    expect(agentsOf(registry).map(({ place }) => place)).toEqual(['boss.ai', 'lib/scout.ai', 'lib/deep/icp.ai'])
    // What nobody asked for and is broken is told, and stops nothing here.
    expect(registry.diagnostics).toMatchObject([{ code: 'agent_broken', place: 'lib/broken.ai:1:1' }])
    expect(problemsOf(await load([], { scope: 'everything' }))).toEqual([expect.stringContaining('lib/broken.ai:1:1')])
    write({ '.ai-agent.json': { agents: ['./lib/*.ai', './missing.ai'] } })
    expect(problemsOf(await load('boss.ai'))).toEqual(['boss.ai:6:17 there is no agent `research.icp`'])
  })

  test('a file is one agent, by whichever way it is reached', async () => {
    const { load, path } = folder({ 'boss.ai': child('agents: [./scout.ai, ./link.ai]'), 'scout.ai': child() })
    symlinkSync(join(path, 'scout.ai'), join(path, 'link.ai'))
    expect(agentsOf(await load('boss.ai')).map(({ definition }) => definition)).toMatchObject([{ agents: ['scout'] }, { name: 'scout' }])
  })

  test('two files of the same name are distinguished by their tool names', async () => {
    const { load } = folder({
      'boss.ai': child('agents: [./a/scout.ai, ./b/scout.ai]'),
      'a/scout.ai': child(),
      'b/scout.ai': child('toolName: other.scout'),
    })
    expect(agentsOf(await load('boss.ai')).map(({ definition }) => definition.name)).toEqual(['boss', 'scout', 'other-scout'])
  })

  test('a disabled agent calls no agent and is not called', async () => {
    const { load } = folder({
      'boss.ai': child('agents: [./off.ai, ./on.ai]'),
      'off.ai': child('enabled: false\nagents: [./missing.ai]'),
      'on.ai': child(),
    })
    const registry = await load('boss.ai')
    expect(agentsOf(registry).map(({ definition }) => [definition.name, definition.agents])).toEqual([
      ['boss', ['on']],
      ['on', []],
    ])
    expect(registry.diagnostics).toMatchObject([{ code: 'agent_disabled', place: 'off.ai:6:10' }])
    expect(problemsOf(await load('off.ai'))).toEqual(['off.ai:6:10 the agent is disabled'])
    const flags = parseOverrides({ settings: ['enabled=true', 'agents=[]'] })
    expect(agentsOf(await load('off.ai', { flags }))).toHaveLength(1)
  })

  test('prompts are filled in, from the folder of their file', async () => {
    const { load } = folder({
      'boss.ai': child('agents: [./team/scout.ai]', 'You are {{ agent.name }}: {{ agent.description }}.'),
      'team/scout.ai': child('limits: { maxToolTurns: 6 }', '{% include "rules.md" %}'),
      'team/rules.md': 'At most {{ limits.maxToolTurns }} steps, as {{ output.format }}.',
    })
    expect(agentsOf(await load('boss.ai')).map(({ definition }) => definition.prompt)).toEqual([
      'You are boss: A test.',
      'At most 6 steps, as text.',
    ])
  })

  test('tools are the available ones', async () => {
    const { load } = folder({ 'a.ai': child('tools: [web_fetch, "git*", "kv/*", web_fech]') })
    const tools = ['web_fetch', 'github/create_issue', 'kv/get']
    const registry = await load('a.ai', { tools })
    expect(registry).toMatchObject({ ok: false, problems: [{ place: 'a.ai:6:36', remedy: 'Did you mean `web_fetch`?' }] })
    // As models are offered them, too; the runtime knows them by both.
    expect((await folder({ 'a.ai': child('tools: [github__create_issue, "kv__*"]') }).load('a.ai', { tools })).ok).toBe(true)
  })

  test('built-in tools are available; later tools, and agents used as tools, are distinguished', async () => {
    const named = 'tools: [shell, "read_*", "*", shel, github/create_issue, "kv/*", ext.tool, read_output, load_skill, agent__scout, zzz]'
    const registry = await folder({ 'a.ai': child(named) }).load('a.ai')
    const problems = registry.ok ? [] : registry.problems.map(({ place, message, remedy = '' }) => [place, message, remedy.slice(0, 20)])
    expect(problems).toEqual([
      ['a.ai:6:31', 'there is no tool `shel`', 'Did you mean `shell`'],
      ['a.ai:6:37', '`github/create_issue` matches nothing: no server or extension `github` is configured', 'Remove it, or config'],
      ['a.ai:6:58', '`kv/*` matches nothing: no server or extension `kv` is configured', 'Remove it, or config'],
      ['a.ai:6:66', '`ext.tool` matches nothing: no server or extension `ext` is configured', 'Remove it, or config'],
      ['a.ai:6:76', '`read_output` is not named', 'Remove it: every age'],
      ['a.ai:6:89', '`load_skill` is not named', 'Remove it: every age'],
      ['a.ai:6:101', 'there is no tool `agent__scout`', 'List agents that it '],
      ['a.ai:6:115', 'there is no tool `zzz`', 'There are `apply_pat'],
    ])
    const faulty = await folder({ 'a.ai': child('tools: [shel]\nlimits: { maxRetries: x }') }).load('a.ai')
    expect(problemsOf(faulty)).toEqual([expect.stringContaining('a.ai:7:23 '), 'a.ai:6:9 there is no tool `shel`'])
    const every = folder({ 'a.ai': child(`tools: [${builtinToolNames.join(', ')}]`) })
    expect(agentsOf(await every.load('a.ai'))[0]?.definition.tools).toEqual(builtinToolNames)
  })
})

describe('an invalid team', () => {
  test('the problems of all files are reported together, and nothing is loaded', async () => {
    const { load, write } = folder({
      'boss.ai': child('agents: [./scout.ai, ./writer.ai, ./scot.ai, scout, ./sub]'),
      'scout.ai': '---\ndescription: x\nmodels: a/b\n---\nGo {{ agent.nam }}.',
      'writer.ai': child('limits: { maxRetries: x }'),
      'sub/x.ai': child(),
    })
    const registry = await load('boss.ai')
    expect(problemsOf(registry)).toEqual([
      'writer.ai:6:23 `limits.maxRetries` must be an integer of at least 0, not "x"',
      'boss.ai:6:35 there is no agent file `./scot.ai`',
      'boss.ai:6:46 there is no agent `scout`',
      'boss.ai:6:53 the agent `./sub` cannot be read: it is a folder',
      'scout.ai:1:1 `usage` is missing: `boss` calls this agent',
      'scout.ai:1:1 `output` is missing: `boss` calls this agent',
      expect.stringMatching(/^scout\.ai:5:\d+ .*agent\.nam/),
    ])
    expect(registry).toMatchObject({
      problems: [
        {},
        { remedy: 'Did you mean `./scout.ai`?', line: 'agents: [./scout.ai, ./writer.ai, ./scot.ai, scout, ./sub]' },
        { remedy: 'Did you mean the file `./scout.ai`?' },
        { remedy: 'Name one of the files in it.' },
        {},
        {},
        {},
      ],
    })
    // A file with faults of its own still leads to those of others.
    write({ 'boss.ai': child('agents: [./scout.ai, ./writer.ai]\nlimts: {}') })
    expect(problemsOf(await load('boss.ai'))).toEqual([
      'boss.ai:7:1 unknown key `limts`',
      'writer.ai:6:23 `limits.maxRetries` must be an integer of at least 0, not "x"',
      'scout.ai:1:1 `usage` is missing: `boss` calls this agent',
      'scout.ai:1:1 `output` is missing: `boss` calls this agent',
      expect.stringMatching(/^scout\.ai:5:\d+ .*agent\.nam/),
    ])
  })

  test('cycles through files with other errors are reported, too', async () => {
    const { load } = folder({
      'a.ai': child('agents: [./b.ai]\nlimts: 1'),
      'b.ai': child('agents: [./c.ai]'),
      'c.ai': child('agents: [./a.ai]\ntols: x'),
    })
    expect(problemsOf(await load('a.ai'))).toEqual([
      'a.ai:7:1 unknown key `limts`',
      'c.ai:7:1 unknown key `tols`',
      'c.ai:6:10 agents call each other in a cycle: a → b → c → a',
    ])
  })

  test('agents that would call themselves, at the entry that closes the circle', async () => {
    const { load } = folder({
      'a.ai': child('agents: [./b.ai, ./a.ai]'),
      'b.ai': child('agents:\n  - ./c.ai'),
      'c.ai': child('agents: [./b.ai, ./a.ai]'),
    })
    expect(problemsOf(await load('a.ai'))).toEqual([
      'c.ai:6:10 agents call each other in a cycle: b → c → b',
      'c.ai:6:18 agents call each other in a cycle: a → b → c → a',
      'a.ai:6:18 agents call each other in a cycle: a → a',
    ])
  })

  test('a chain of a thousand agents and a web of many ways end soon', async () => {
    const files: Record<string, string> = {}
    for (let i = 0; i < 1000; i++) files[`c${i}.ai`] = child(i < 999 ? `agents: [./c${i + 1}.ai]` : '')
    for (let layer = 0; layer < 40; layer++) {
      const next = layer < 39 ? `agents: [./w${layer + 1}-0.ai, ./w${layer + 1}-1.ai]` : ''
      for (const side of [0, 1]) files[`w${layer}-${side}.ai`] = child(next)
    }
    const { load } = folder(files)
    expect(agentsOf(await load('c0.ai'))).toHaveLength(1000)
    expect(agentsOf(await load('w0-0.ai'))).toHaveLength(79)
  })

  test('tool names that two agents have, or that models cannot distinguish apart', async () => {
    const { load } = folder({
      'boss.ai': child('agents: [./a.ai, ./b.ai, ./c.ai]'),
      'a.ai': child('toolName: x.y'),
      'b.ai': child('toolName: x.y'),
      'c.ai': child('toolName: x__y'),
    })
    expect(problemsOf(await load('boss.ai'))).toEqual([
      "b.ai:6:11 the tool name `x.y` is a.ai's already",
      'c.ai:6:11 models cannot distinguish `x__y` from `x.y` of a.ai',
    ])
  })

  test('a missing file or a folder as argument lists the available agents', async () => {
    const { load, path } = folder({ 'boss.ai': child(), 'sub/kid.ai': child(), 'bare/x.txt': '' })
    const remedyOf = async (root: string) => {
      const registry = await load(root)
      return registry.ok ? [] : registry.problems.map(({ remedy }) => remedy)
    }
    for (const root of ['zzzzzz.ai', 'nowhere/x.ai']) expect(await remedyOf(root)).toEqual([`Agents in ${path}: \`boss.ai\`.`])
    expect(await remedyOf('.')).toEqual(['Name an agent in it: `boss.ai`.'])
    expect(await remedyOf('sub')).toEqual(['Name an agent in it: `sub/kid.ai`.'])
    expect(await remedyOf('nowhere/boss.ai')).toEqual(['It is in this folder: troupe run boss.ai'])
    expect(await remedyOf('bare')).toEqual([expect.stringContaining('troupe init')])
  })

  test.each([
    ['missing.ai', 'There is no such file or folder.'],
    ['sub', 'It is a folder.'],
    ['a.txt', 'this is not an agent file'],
    ['huge.ai', 'It has 1048577 bytes; the maximum is 1048576.'],
    ['binary.ai', 'the file is binary'],
    ['latin.ai', 'the file is not UTF-8'],
    ['empty.ai', 'an agent file must begin with settings'],
  ])('a file that cannot be an agent: %s', async (file, message) => {
    const { load, path } = folder({
      'a.txt': 'hello',
      'huge.ai': 'x'.repeat(1_048_577),
      'binary.ai': new Uint8Array([45, 45, 45, 10, 0, 1]),
      'latin.ai': new Uint8Array([45, 45, 45, 10, 0xe9, 10]),
      'empty.ai': '',
    })
    mkdirSync(join(path, 'sub'))
    const alone = await load(file)
    expect(problemsOf(alone)).toEqual([expect.stringContaining(message)])
    expect(remediesOf(alone)).toEqual([expect.any(String)])
    // And as a child, at the entry or in the file.
    const { load: asChild, path: other } = folder({
      'boss.ai': child(`agents: [./${file}]`),
      'a.txt': 'hello',
      'huge.ai': 'x'.repeat(1_048_577),
      'binary.ai': new Uint8Array([45, 45, 45, 10, 0, 1]),
      'latin.ai': new Uint8Array([45, 45, 45, 10, 0xe9, 10]),
      'empty.ai': '',
    })
    mkdirSync(join(other, 'sub'))
    const called = await asChild('boss.ai')
    expect(problemsOf(called)).toHaveLength(1)
    expect(remediesOf(called)).toEqual([expect.any(String)])
  })

  test('a device in place of an agent, as a root, as a child and in the configuration: each with a remedy', async () => {
    const { load } = folder({ 'boss.ai': child('agents: [/dev/null]'), '.ai-agent.json': { agents: ['/dev/null'] } })
    const remedy = 'Use a regular file.'
    expect(await load('/dev/null')).toMatchObject({ problems: [{ message: 'It is not a regular file.', remedy }] })
    expect(await load('boss.ai', { trusted: 'everything' })).toMatchObject({
      problems: [{ message: expect.stringContaining('`/dev/null` cannot be read'), remedy }],
    })
  })

  test.runIf(existsSync('/proc/self/pagemap'))('an agent that says it is empty and has no end', async () => {
    const { load, path } = folder({})
    symlinkSync('/proc/self/pagemap', join(path, 'endless.ai'))
    const message = 'It has more than 1048576 bytes, which is the maximum.'
    expect(await load('endless.ai')).toMatchObject({ problems: [{ message, remedy: expect.any(String) }] })
  })
})
