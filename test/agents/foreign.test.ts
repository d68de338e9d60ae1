import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contentHash } from '../../src/agents/config/index.ts'
import { parseOverrides } from '../../src/agents/index.ts'
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

  test('has only what looks at files until somebody trusts it, and says so', async () => {
    const { load, path } = project()
    const registry = await load('boss.ai', { tools })
    const [, agent] = agentsOf(registry)
    expect(agent).toMatchObject({ dialect: 'claude', definition: { name: 'reviewer', tools: ['read_file', 'search_files'] } })
    expect(registry.diagnostics).toMatchObject(
      [{ code: 'usage_missing' }, { code: 'agent_untrusted', remedy: expect.stringContaining('troupe trust') }].slice(1),
    )
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

  test('can be the one that is run; settings of the command line count', async () => {
    const { load } = project()
    const flags = parseOverrides({ settings: ['limits.maxToolTurns=3', 'output.format=json'], models: ['m/n'] })
    const [agent] = agentsOf(await load('.claude/agents/reviewer.md', { flags, tools }))
    expect(agent?.definition).toMatchObject({ models: ['m/n'], limits: { maxToolTurns: 3 }, output: { format: 'json' } })
  })

  test('what it says and we cannot do yet is told, and taken stricter', async () => {
    const { load, path } = folder({
      '.opencode/agent/careful.md': '---\ndescription: Careful\npermission:\n  edit: deny\n  bash: ask\n---\nGo.',
      '.claude/agents/rich.md': '---\nname: rich\ndescription: Rich\nskills: [pdf]\nmcpServers: { lab: { command: x } }\n---\nGo.',
    })
    const careful = await load('.opencode/agent/careful.md', { tools, trusted: trustIn(join(path, '.opencode/agent/careful.md')) })
    expect(agentsOf(careful)[0]?.definition.tools).not.toContain('shell')
    expect(agentsOf(careful)[0]?.definition.tools).not.toContain('write_file')
    expect(careful.diagnostics.map(({ message }) => message)).toEqual(expect.arrayContaining([expect.stringContaining('withheld')]))
    const rich = await load('.claude/agents/rich.md', { tools, trusted: trustIn(join(path, '.claude/agents/rich.md')) })
    expect(rich.diagnostics.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('servers are not started: lab'),
        expect.stringContaining('skills are not loaded: pdf'),
      ]),
    )
  })

  test('agents that it names and that are not here are told, and no error; a broken file is one', async () => {
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
})
