import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentFilesOptions, agentsFromFiles } from '../../src/agents.ts'
import { defaultSandboxPolicy, type ModelRequest, type Sandbox, TroupeError } from '../../src/contracts/index.ts'
import { modelAdapter } from '../../src/models/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { findSkills } from '../../src/tools.ts'
import { resultsOf, type Script, scripted } from '../subagents/team.ts'
import { child, folder } from './folder.ts'
import { tool } from './stage.ts'

// Agent files in a program: `agentsFromFiles` of `troupe/agents`.

const agent = (settings: string, prompt = 'BOSS'): string => `---\ndescription: The boss\nmodels: a/b\n${settings}\n---\n${prompt}\n`
const sandboxWith = (more: object = {}): Sandbox => ({
  confinement: { kind: 'sandbox', name: 'of the test', policy: { ...defaultSandboxPolicy, ...more } },
})

async function problemsOf(loading: Promise<unknown>): Promise<TroupeError> {
  try {
    await loading
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
  throw new Error('it was taken as right')
}

const told = ({ problems }: TroupeError): readonly string[] =>
  problems.map(({ place, message, remedy }) => `${place} ${message} → ${remedy}`)

describe('agent files in a program', () => {
  it('are what config takes: children, templates, tools of the program, contracts', async () => {
    const project = folder({
      'trip.ai': agent(
        'tools: [timetable]\nagents: [./deep/weather.ai]\noutput: { schema: { type: object, required: [town] } }\nlimits: { maxToolTurns: 7 }',
        'BOSS {{ agent.name }}, with {{ tools | join(", ") }}',
      ),
      'deep/weather.ai': child(),
    })
    const timetable = tool('timetable', () => '9:15')
    const { config, diagnostics, sources } = await agentsFromFiles('trip.ai', {
      workingDirectory: project.path,
      tools: [timetable, tool('another')],
    })
    expect(config).toMatchObject({
      agentSelection: { agent: 'trip' },
      agents: [
        { name: 'trip', prompt: 'BOSS trip, with timetable', tools: ['timetable'], agents: ['weather'], limits: { maxToolTurns: 7 } },
        { name: 'weather', tools: [], skills: [] },
      ],
    })
    expect(diagnostics.map(({ code }) => code)).toEqual(['usage_missing'])
    expect(sources).toEqual([
      { agent: 'trip', path: join(project.path, 'trip.ai'), metadata: {} },
      { agent: 'weather', path: join(project.path, 'deep', 'weather.ai'), metadata: {} },
    ])
    const seen: ModelRequest[] = []
    const script: Script = (request, step) => {
      seen.push(request)
      return step === 1 ? { calls: [{ tool: 'timetable' }] } : { text: `{"town":"Oslo ${resultsOf(request).join('')}"}` }
    }
    const runtime = createAgentRuntime({ config, adapter: { resolve: (name) => scripted(name, script) } })
    expect(await runtime.run('Weather in a city')).toMatchObject({ report: { format: 'json', value: { town: 'Oslo 9:15' } } })
    expect(seen[0]?.tools.map(({ name }) => name)).toEqual(['agent__weather', 'timetable'])
    expect(runtime.sessions.agents()).toMatchObject([
      { name: 'trip', agents: ['weather'], template: expect.stringContaining('\nagents: [ ./deep/weather.ai ]\n') },
    ])
  })

  it('of several files the best match answers, and their children do not', async () => {
    const project = folder({
      'cook.ai': `---\ndescription: Finds recipes\nmodels: a/b\nagents: [./scout.ai]\n---\nCOOK\n`,
      'clerk.ai': `---\ndescription: Files tax returns\nmodels: a/b\n---\nCLERK\n`,
      'scout.ai': child('', 'SCOUT recipes').replace('A test', 'Finds recipes for dinner'),
    })
    const files = ['cook.ai', 'clerk.ai'].map((file) => join(project.path, file))
    const { config } = await agentsFromFiles(files)
    expect(config.agentSelection).toBeUndefined()
    const adapter = { resolve: (name: string) => scripted(name, ({ system }) => ({ text: system.slice(0, 4) })) }
    expect(await createAgentRuntime({ config, adapter }).run('recipes for dinner')).toMatchObject({ report: { text: 'COOK' } })
  })

  it('report the problems of all files together, with options instead of flags', async () => {
    const project = folder({
      'boss.ai': agent('tools: [look, read_file]\nagents: [./scout.ai, ghost]\nskills: ["*"]\nsandbox: { hosts: [] }', 'BOSS {{ nobody }}'),
      'scout.ai': '---\ndescription: x\nmodels: a/b\noutput: { schema: { type: object, $async: true } }\nmodel: y\n---\nGo.\n',
      'off.ai': agent('enabled: false\ntools: [anything]'),
    })
    const options = { workingDirectory: project.path, tools: [tool('look_up')] }
    const error = await problemsOf(agentsFromFiles(['boss.ai', 'off.ai'], options))
    expect(error).toMatchObject({ code: 'agent_file_invalid', message: expect.stringMatching(/\d problems:\n {2}/) })
    const all = told(error)
    for (const expected of [
      /^boss\.ai:\d+:\d+ there is no tool `look` → Did you mean/,
      /^boss\.ai:\d+:\d+ there is no tool `read_file` → Give it in `tools`: `workspaceTools`/,
      /^boss\.ai:\d+:\d+ there is no agent `ghost` → Name a file, such as `\.\/ghost\.ai`\.$/,
      /^boss\.ai:\d+:\d+ it lists skills, but no skills were given → Give `skills`/,
      /^boss\.ai:\d+:\d+ it has sandbox settings, but no sandbox was given → Give `sandbox`/,
      /^boss\.ai:\d+:\d+ .*nobody/,
      /^scout\.ai:\d+:\d+ .*`model`/,
      /^scout\.ai output\.schema not a valid JSON Schema/,
      /^off\.ai:\d+:\d+ the agent is disabled → Remove `enabled: false` from it\./,
    ])
      expect(all.filter((line) => expected.test(line))).toHaveLength(1)
    expect(error.message).toContain('there is no agent `ghost`')
  })

  it('get their skills, rules and sandbox from the program', async () => {
    const project = folder({
      'boss.ai': agent('tools: [look]\nskills: [pdf]\napprovals: { rules: [{ deny: look }] }\nsandbox: { hosts: [a.example, b.example] }'),
      '.agents/skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files\n---\nRead them.\n',
      '.agents/skills/tax/SKILL.md': '---\nname: tax\ndescription: Knows taxes\n---\nPay them.\n',
    })
    const { path: workingDirectory } = project
    const skills = findSkills({ workingDirectory, projectRoot: workingDirectory })
    const calls: string[] = []
    const look = tool('look', (_, { confinement }) => {
      calls.push(JSON.stringify(confinement))
      return 'seen'
    })
    const sandbox = sandboxWith({ hosts: ['a.example'] })
    const { config, diagnostics } = await agentsFromFiles('boss.ai', { workingDirectory, tools: [look], skills, sandbox })
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'agent_setting_idle `sandbox.hosts` names "b.example", which the session does not allow',
      expect.stringContaining('usage_missing'),
    ])
    expect(config.skills?.map(({ name }) => name)).toEqual(['pdf'])
    const heard: string[] = []
    const script: Script = (request, step) => {
      heard.push(request.system, ...resultsOf(request))
      return step === 1 ? { calls: [{ tool: 'look' }] } : { text: 'Done.' }
    }
    const runtime = createAgentRuntime({ config, sandbox, adapter: { resolve: (name) => scripted(name, script) } })
    expect((await runtime.run('Go')).status).toBe('completed')
    expect(heard[0]).toContain('Reads PDF files')
    expect(heard[0]).not.toContain('Knows taxes')
    expect(heard.at(-1)).toMatch(/denied|rule/)
    expect(calls).toEqual([])
    const [missing] = (
      await problemsOf(
        agentsFromFiles('boss.ai', {
          workingDirectory,
          tools: [look],
          skills: findSkills({ workingDirectory: '/nowhere', projectRoot: '/nowhere' }),
          sandbox,
        }),
      )
    ).problems
    expect(missing?.message).toBe('there is no skill `pdf`')
  })

  it('look at no configuration, trust or environment', async () => {
    const project = folder({
      'boss.ai': `---\ndescription: The boss\n---\nBOSS\n`,
      '.ai-agent.json': { defaults: { models: 'x/y', limits: { maxToolTurns: 3 } }, agents: ['*.ai'] },
    })
    const { config } = await agentsFromFiles('boss.ai', { workingDirectory: project.path })
    expect(config.agents).toMatchObject([{ models: ['auto'], limits: {} }])
  })

  it('may name what lies in their repository', async () => {
    const files = { 'in/boss.ai': agent('input: { schemaRef: ../beside.json }'), 'beside.json': { type: 'object' }, '.git/HEAD': 'ref: x' }
    const { config } = await agentsFromFiles('in/boss.ai', { workingDirectory: folder(files).path })
    expect(config.agents).toMatchObject([{ input: { format: 'json', schema: { type: 'object' } } }])
  })

  it('lead no further than their folder, and bring tools that only read, unless they are trusted', async () => {
    const project = folder({
      'in/boss.ai': agent('input: { schemaRef: ../outside.json }'),
      'outside.json': { type: 'object' },
      '.claude/agents/helper.md': '---\nname: helper\ndescription: Helps\ntools: Bash, Read\n---\nHelp.\n',
    })
    const { path: workingDirectory } = project
    expect(told(await problemsOf(agentsFromFiles('in/boss.ai', { workingDirectory })))).toEqual([
      expect.stringMatching(/outside.* → Review the agent, then: give `trusted: true`\.$/),
    ])
    const trusting = await agentsFromFiles('in/boss.ai', { workingDirectory, trusted: true })
    expect(trusting.config.agents).toMatchObject([{ input: { format: 'json', schema: { type: 'object' } } }])
    const tools = [tool('shell'), tool('read_file')]
    const helper = async (options: AgentFilesOptions) => {
      const { config, diagnostics } = await agentsFromFiles('.claude/agents/helper.md', { workingDirectory, tools, ...options })
      return {
        tools: config.agents[0]?.tools,
        codes: diagnostics.map(({ code }) => code),
        remedies: diagnostics.map(({ remedy }) => remedy),
      }
    }
    expect(await helper({})).toMatchObject({
      tools: ['read_file'],
      codes: ['agent_untrusted'],
      remedies: [expect.stringContaining('`trusted: true`')],
    })
    expect(await helper({ trusted: true })).toMatchObject({ tools: ['shell', 'read_file'], codes: [] })
  })

  it('find scripts beside themselves, wherever the program looks for models', async () => {
    const project = folder({
      'boss.ai': '---\ndescription: The boss\nmodels: script/play.yaml\n---\nBOSS\n',
      'play.yaml': 'steps:\n  - text: Played.\n',
    })
    const { config } = await agentsFromFiles(join(project.path, 'boss.ai'))
    expect(config.agents[0]?.models).toEqual([`script/${join(project.path, 'play.yaml')}`])
    const runtime = createAgentRuntime({ config, adapter: modelAdapter({ variables: {} }) })
    expect(await runtime.run('Go')).toMatchObject({ status: 'completed', report: { text: 'Played.' } })
  })

  it('are not looked for where the options are wrong', async () => {
    const wrong = { tools: [{}], skill: [], trusted: 'yes', workingDirectory: 7, sandbox: 1, skills: [] } as never
    const error = await problemsOf(agentsFromFiles([], wrong))
    expect(error.code).toBe('config_invalid')
    expect(error.problems.map(({ place }) => place)).toEqual([
      'files',
      'options.skill',
      'options.tools',
      'options.skills',
      'options.sandbox',
      'options.workingDirectory',
      'options.trusted',
    ])
    expect(error.problems[1]?.remedy).toContain('skills')
  })
})
