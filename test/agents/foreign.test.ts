import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtinToolNames } from '../../src/policy/builtin-tool-names.ts'
import { contentHash } from '../../src/project/config/trust/trust-records.ts'
import { agentSkills, parseOverrides } from '../../src/project/index.ts'
import { findSkills } from '../../src/tools/skills/index.ts'
import { agentsOf, child, folder, problemsOf } from './folder.ts'

const tools = ['read_file', 'search_files', 'shell', 'write_file', 'web_fetch', 'github/create_issue']
const reviewer = '---\nname: reviewer\ndescription: Reviews code\n---\nReview {{ code }}.'

const trustIn = (path: string) => {
  const sha256 = contentHash(readFileSync(path))
  return new Map([[path, { path, sha256, by: 'command' as const, at: 0 }]])
}

describe('an agent of another program in a team', () => {
  const project = () =>
    folder({
      'boss.ai': child('agents: [./.claude/agents/reviewer.md]').replace('a/b', 'x/boss'),
      '.claude/agents/reviewer.md': reviewer,
    })

  test('has only tools that read files until it is trusted, and reports it', async () => {
    const { load, path } = project()
    const registry = await load('boss.ai', { tools })
    const [, agent] = agentsOf(registry)
    expect(agent).toMatchObject({ dialect: 'claude', definition: { name: 'reviewer', tools: ['read_file', 'search_files'] } })
    expect(registry.diagnostics).toMatchObject([{ code: 'agent_untrusted', remedy: expect.stringContaining('troupe trust') }])
    expect(registry.untrusted).toMatchObject([{ path: join(path, '.claude/agents/reviewer.md') }])
  })

  test('has all tools once it is trusted, and less again when it changes', async () => {
    const { load, path, write } = project()
    const file = join(path, '.claude/agents/reviewer.md')
    const trusted = trustIn(file)
    const granted = async () => agentsOf(await load('boss.ai', { tools, trusted }))[1]?.definition.tools
    expect(await granted()).toEqual(tools)
    write({ '.claude/agents/reviewer.md': `${reviewer}\nAnd run everything.` })
    expect(await granted()).toEqual(['read_file', 'search_files'])
  })

  test('is asked with the model of its caller, and its prompt is no template', async () => {
    const { load } = project()
    const [, agent] = agentsOf(await load('boss.ai'))
    expect(agent?.definition).toMatchObject({ models: ['x/boss'], prompt: 'Review {{ code }}.' })
  })

  test('can be run directly; settings of the command line apply', async () => {
    const { load } = project()
    const flags = parseOverrides({ settings: ['limits.maxToolTurns=3', 'output.format=json'], models: ['m/n'] })
    const [agent] = agentsOf(await load('.claude/agents/reviewer.md', { flags, tools }))
    expect(agent?.definition).toMatchObject({ models: ['m/n'], limits: { maxToolTurns: 3 }, output: { format: 'json' } })
  })

  test('its servers are used once it is trusted, with all their tools', async () => {
    const { load, path } = folder({
      '.claude/agents/rich.md': '---\nname: rich\ndescription: Rich\nmcpServers: { lab: { command: x } }\n---\nGo.',
    })
    const rich = await load('.claude/agents/rich.md', { trusted: trustIn(join(path, '.claude/agents/rich.md')) })
    expect(rich.diagnostics).toEqual([])
    const [agent] = agentsOf(rich)
    expect(agent?.servers).toMatchObject([{ name: 'lab', definition: { type: 'stdio', command: 'x' }, isTrusted: true }])
    expect(agent?.definition.tools).toContain('lab/*')
    const [untrusted] = agentsOf(await load('.claude/agents/rich.md'))
    expect(untrusted).toMatchObject({ servers: [], definition: { tools: expect.not.arrayContaining(['lab/*']) } })
  })

  test('its deny and ask permissions become rules; it still has the tools it asks about', async () => {
    const file = '.opencode/agent/careful.md'
    const { load, path } = folder({
      [file]: '---\ndescription: Careful\npermission:\n  edit: deny\n  bash: ask\n  webfetch: ask\n---\nGo.',
    })
    const careful = async (isTrusted: boolean) =>
      agentsOf(await load(file, { ...(isTrusted && { trusted: trustIn(join(path, file)) }) }))[0]?.definition
    const approvals = [
      { ask: ['shell', 'web_fetch'] },
      { deny: ['write_file', 'edit_file', 'apply_patch'], reason: 'The agent file denies it.' },
    ]
    expect(await careful(true)).toMatchObject({
      tools: ['shell', 'read_file', 'list_files', 'search_files', 'web_fetch', 'update_plan', 'ask_user'],
      approvals,
    })
    expect(await careful(false)).toMatchObject({ tools: ['read_file', 'list_files', 'search_files'], approvals })
    expect((await load(file)).diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('not trusted')])
  })

  test.each(['write', 'edit', 'patch'])('an opencode agent without %s has no tool that edits', async (name) => {
    const file = '.opencode/agent/looker.md'
    const { load, path } = folder({ [file]: `---\ndescription: Looks\ntools:\n  ${name}: false\n---\nGo.` })
    const [agent] = agentsOf(await load(file, { trusted: trustIn(join(path, file)) }))
    expect(agent?.definition.tools).toEqual(['shell', 'read_file', 'list_files', 'search_files', 'web_fetch', 'update_plan', 'ask_user'])
  })

  test('what it denies holds for tools that a person gives it besides', async () => {
    const file = '.claude/agents/looker.md'
    const { load } = folder({ [file]: '---\nname: looker\ndescription: Looks\ntools: Read\ndisallowedTools: Bash\n---\nGo.' })
    const flags = parseOverrides({ settings: ['tools=[shell, read_file]'] })
    expect(agentsOf(await load(file, { flags }))[0]?.definition).toMatchObject({
      tools: ['shell', 'read_file'],
      approvals: [{ deny: ['shell'], reason: expect.any(String) }],
    })
  })

  test.each([
    ['.claude/agents/planner.md', '---\nname: planner\ndescription: Plans\npermissionMode: plan\n---\nGo.'],
    ['.codex/agents/planner.toml', 'name = "planner"\ndescription = "Plans"\nsandbox_mode = "read-only"\ndeveloper_instructions = "Go."'],
  ])('a read-only agent has no tools that change anything, and a sandbox: %s', async (file, text) => {
    const { load, path } = folder({ [file]: text })
    const [agent] = agentsOf(await load(file, { trusted: trustIn(join(path, file)) }))
    expect(agent?.definition.tools).toEqual(['read_file', 'list_files', 'search_files', 'web_fetch', 'update_plan', 'ask_user'])
    expect(agent?.definition.sandbox).toEqual({ mode: 'required', hosts: [], writable: [] })
    expect(agent?.definition.approvals).toMatchObject([{ deny: ['write_file', 'edit_file', 'apply_patch', 'shell'] }])
  })

  test('its tools are ours: all of them where it says nothing, those that it names, none where it says none', async () => {
    const toolsOf = async (settings: string) => {
      const { load, path } = folder({ '.claude/agents/x.md': `---\nname: x\ndescription: X\n${settings}---\nGo.` })
      return agentsOf(await load('.claude/agents/x.md', { trusted: trustIn(join(path, '.claude/agents/x.md')) }))[0]?.definition.tools
    }
    expect(await toolsOf('')).toEqual(builtinToolNames)
    expect(await toolsOf('tools: Read, Edit, Bash, WebFetch, TodoWrite\n')).toEqual([
      'shell',
      'read_file',
      'edit_file',
      'web_fetch',
      'update_plan',
    ])
    expect(await toolsOf('tools: []\n')).toEqual([])
    expect(await toolsOf('tools: Bash, Read\ndisallowedTools: Bash\n')).toEqual(['read_file'])
  })

  test('its skills are searched; missing ones are reported without an error', async () => {
    const { load, path } = folder({
      '.claude/agents/x.md': '---\nname: x\ndescription: X\nskills: [pdf, gone]\n---\nGo.',
      '.claude/skills/pdf/SKILL.md': '---\nname: pdf\ndescription: About PDF\n---\nDo it.',
    })
    const [agent] = agentsOf(await load('.claude/agents/x.md'))
    const found = findSkills({ workingDirectory: path, projectRoot: path })
    const { skills, problems, diagnostics } = agentSkills(agent as NonNullable<typeof agent>, found)
    expect([skills.map(({ name }) => name), problems]).toEqual([['pdf'], []])
    expect(diagnostics).toMatchObject([{ code: 'foreign_agent', place: '.claude/agents/x.md', message: 'there is no skill `gone`' }])
  })

  test('missing agents that it names are reported without an error; a broken file is an error', async () => {
    const { load } = folder({
      '.github/agents/lead.md': '---\ndescription: Leads\nagents: [helper, gone]\n---\nLead.',
      'lib/helper.ai': child(),
      '.ai-agent.json': { agents: ['./lib'] },
      '.claude/agents/bad.md': '---\nname: bad\n---\n',
    })
    const registry = await load('.github/agents/lead.md', { tools })
    expect(agentsOf(registry).map(({ definition }) => [definition.name, definition.agents])).toEqual([
      ['lead', ['helper']],
      ['helper', []],
    ])
    expect(registry.diagnostics.map(({ message }) => message)).toEqual(expect.arrayContaining(['there is no agent `gone`']))
    expect(problemsOf(await load('.claude/agents/bad.md'))).toEqual([
      expect.stringContaining('`description` is missing'),
      expect.stringContaining('prompt is empty'),
    ])
  })

  test.each([
    ['.github/agents/x.md', 'infer: false'],
    ['.github/agents/x.md', 'disable-model-invocation: true'],
    ['.opencode/agent/x.md', 'mode: primary'],
  ])('one that only people may choose is called by no agent: %s with %s', async (file, setting) => {
    const { load } = folder({
      [file]: `---\ndescription: X\n${setting}\n---\nGo.`,
      'boss.ai': child(`agents: [./${file}]`),
      'lead.agent.md': '---\ndescription: Leads\nagents: [x]\n---\nLead.',
      '.ai-agent.json': { agents: [`./${file}`] },
    })
    expect(problemsOf(await load('boss.ai'))).toEqual([
      expect.stringContaining('boss.ai:6:10 `x` cannot be called: its file allows only people to choose it'),
    ])
    expect(agentsOf(await load(file)).map(({ definition }) => definition.name)).toEqual(['x'])
    // If a file of another program names it, a diagnostic says so: there the agent may be called something else.
    const lead = await load('lead.agent.md')
    expect(agentsOf(lead).map(({ definition }) => [definition.name, definition.agents])).toEqual([['lead', []]])
    expect(lead.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'foreign_agent', message: expect.stringContaining('only people') }),
    )
  })

  test('one that says that models may choose it is called', async () => {
    const file = '.github/agents/x.md'
    const { load } = folder({ [file]: '---\ndescription: X\ninfer: true\n---\nGo.', 'boss.ai': child(`agents: [./${file}]`) })
    expect(agentsOf(await load('boss.ai'))[0]?.definition.agents).toEqual(['x'])
  })
})
