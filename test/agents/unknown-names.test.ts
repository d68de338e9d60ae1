import { describe, expect, test } from 'vitest'
import type { ApprovalRule } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { troupe } from './command.ts'
import { child, folder, problemsOf } from './folder.ts'

// A rule, a filter or a disable list that names nothing protects nothing: an error where it is trusted, else a warning.

const wrong: readonly (readonly [pattern: string, remedy: string])[] = [
  ['Bash(rm *)', 'Here, write `shell(rm *)`.'],
  ['Bash(rm:*)', 'Here, write `shell(rm *)`.'],
  ['bash', 'Here, write `shell`.'],
  ['Write(secret/)', 'Here, write `write_file(secret/*)` and `apply_patch(secret/*)`.'],
  ['Edit', 'Here, write `edit_file` and `apply_patch`.'],
  ['Read', 'Here, write `read_file`.'],
  ['shell(rm:*)', 'Write `shell(rm *)`.'],
  ['shell( rm *)', 'Write `shell(rm *)`.'],
  ['shell()', 'Write `shell`.'],
  ['write_file(secret/)', 'Write `write_file(secret/*)`.'],
  ['read_file(~/.ssh/*)', 'Write an absolute path, or a path from the root of the workspace without `~` and `..`.'],
  ['web_fetch(https://Example.com/*)', 'Write `web_fetch(example.com)`.'],
  ['shel(rm *)', 'Did you mean `shell`?'],
  ['zz*', 'The tools are '],
  ['github/*', 'Remove it, or configure `github` first.'],
  ['mcp__github__push', 'Remove it, or configure `github` first.'],
  ['ext.tool', 'Remove it, or configure `ext` first.'],
  ['agent__nobody', 'Remove it, or add the agent to the team.'],
]
const right = [
  'shell',
  'shell(rm *)',
  'write_*',
  '*',
  '*/delete_*',
  'agent__a',
  'agent__*',
  'write_file(./secret/*)',
  'read_output',
  'unsandboxed',
]

const remediesOf = (build: () => unknown): readonly string[] => {
  try {
    build()
    return []
  } catch (error) {
    return (error as { readonly problems: readonly { readonly remedy?: string }[] }).problems.map(({ remedy = '' }) => remedy)
  }
}
const program = (rules: readonly ApprovalRule[]) => () =>
  createAgentRuntime({
    config: { agents: [{ name: 'a', description: 'x', prompt: 'x', model: 'any', approvals: rules }], approvals: { rules } },
    adapter: new ScriptedModel([]),
  })

describe('a rule about nothing', () => {
  test.each(wrong)('%s is refused in a program and in an agent file: %s', async (pattern, remedy) => {
    expect(remediesOf(program([{ deny: pattern }]))).toEqual([expect.stringContaining(remedy), expect.stringContaining(remedy)])
    const registry = await folder({ 'a.ai': child(`approvals: { rules: [{ deny: [shell, "${pattern}"] }] }`) }).load('a.ai')
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^a\.ai:6:22 the rule has no effect: /)])
    expect(registry).toMatchObject({ problems: [{ remedy: expect.stringContaining(remedy) }] })
  })

  test('what can match is taken, and every tool of a program by its name', async () => {
    expect(remediesOf(program(right.map((deny) => ({ deny }))))).toEqual([])
    const registry = await folder({ 'a.ai': child(`approvals: { rules: [{ deny: ${JSON.stringify(right)} }] }`) }).load('a.ai')
    expect(registry.ok).toBe(true)
    const tools = [tool('Bash'), tool('kv/get')]
    expect(() =>
      runtimeWith(new ScriptedModel([]), { tools, config: { approvals: { rules: [{ deny: ['Bash', 'kv/*'] }] } } }),
    ).not.toThrow()
  })

  test('is an error in a flag and in trusted configuration, and a warning in what nobody has trusted', async () => {
    const rules = { approvals: { rules: [{ deny: 'Bash(rm *)' }] } }
    const { path } = folder({
      'a.ai': child('', 'x').replace('a/b', 'rehearsal'),
      'mine.json': rules,
      'p/.ai-agent.json': rules,
      'p/a.ai': child('', 'x').replace('a/b', 'rehearsal'),
    })
    const [flag, own, project] = await Promise.all([
      troupe(path, ['run', 'a.ai', 'x', '--deny', 'Bash(rm *)']),
      troupe(path, ['run', 'a.ai', 'x', '--config', 'mine.json']),
      troupe(`${path}/p`, ['run', 'a.ai', 'x']),
    ])
    for (const { code, stderr } of [flag, own]) expect([code, stderr]).toEqual([2, expect.stringContaining('Here, write `shell(rm *)`.')])
    expect([project.code, project.stderr]).toEqual([0, expect.stringContaining('`Bash` is a tool of another program')])
  })

  test('in a person’s own files stops no other project for its servers and agents', async () => {
    const { path } = folder({
      'a.ai': child('', 'x').replace('a/b', 'rehearsal'),
      '.home/.ai-agent/.ai-agent.json': { approvals: { rules: [{ deny: ['github/*', 'agent__scout'] }] } },
    })
    const { code, stderr } = await troupe(path, ['run', 'a.ai', 'x'])
    expect(code).toBe(0)
    expect(stderr).toContain('no server or extension `github` is configured')
    expect(stderr).toContain('no agent is called `scout` here')
  })

  test('with spaces around it is the same rule in a flag, an agent file and configuration', async () => {
    const rule = ' write_file(a.txt) '
    const agent = (more: string): string => `---\ndescription: x\nmodels: script/s.yaml\ntools: [write_file]\n${more}---\nWork.\n`
    const { path } = folder({
      's.yaml': JSON.stringify({
        steps: [{ calls: [{ tool: 'write_file', input: { path: 'a.txt', content: 'x' } }] }, { text: 'Done.' }],
      }),
      'a.ai': agent(''),
      'b.ai': agent(`approvals: { rules: [{ deny: "${rule}" }] }\n`),
      'c.json': { approvals: { rules: [{ deny: rule }] } },
    })
    const runs = await Promise.all([
      troupe(path, ['run', 'a.ai', 'x']),
      troupe(path, ['run', 'a.ai', 'x', '--deny', rule]),
      troupe(path, ['run', 'b.ai', 'x']),
      troupe(path, ['run', 'a.ai', 'x', '--config', 'c.json']),
    ])
    // Without the rule, the call waits for an approval.
    expect(runs.map(({ code }) => code)).toEqual([6, 0, 0, 0])
  })
})

describe('a hook for tools', () => {
  const block = () => ({ kind: 'block', reason: 'no' }) as const
  const hooked = (...tools: readonly string[]) => ({ hooks: [{ name: 'g', onFailure: 'closed', tools, beforeCall: block } as const] })

  test('that do not exist are refused', async () => {
    expect(remediesOf(() => runtimeWith(new ScriptedModel([]), hooked('Bash', 'shel', 'shell')))).toEqual([
      'Here, write `shell`.',
      'Did you mean `shell`?',
    ])
    expect(remediesOf(() => runtimeWith(new ScriptedModel([]), hooked()))).toEqual(['Omit it for all tools.'])
    const hooks = [{ name: 'guard', on: ['before_call'], tools: ['Bash'], command: ['./guard.sh'], onFailure: 'closed' }]
    const { path } = folder({ 'a.ai': child('', 'x').replace('a/b', 'rehearsal'), 'mine.json': { hooks } })
    const { code, stderr } = await troupe(path, ['run', 'a.ai', 'x', '--config', 'mine.json'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('`tools` of the hook "guard" is wrong: `Bash` is a tool of another program'),
    ])
  })

  test.each([
    [
      ['look', 'github/*'],
      ['look', 'github__push'],
    ],
    [['*o*k'], ['look']],
    [['*'], ['look', 'looks', 'github__push']],
  ])('%j is asked only about calls of those', async (tools, blocked) => {
    const names = ['look', 'looks', 'github__push']
    const model = new ScriptedModel([{ calls: names.map((name) => ({ tool: name, input: {} })) }, { text: 'Done.' }])
    const given = [tool('look'), tool('looks'), tool('github/push')]
    const { accounting } = await runtimeWith(model, { tools: given, ...hooked(...tools) }).run('Go.')
    const failed = accounting.flatMap((entry) => (entry.kind === 'call' && entry.status === 'failed' ? [entry.tool] : []))
    expect(failed).toEqual(blocked)
  })
})

test('a skill that is disabled and is not there is refused; in a person’s own files it is reported', async () => {
  const skill = '---\nname: pdf\ndescription: x\n---\nDo it.\n'
  const agent = (settings: string) => child(`skills: [pdf]${settings}`, 'x').replace('a/b', 'rehearsal')
  const { path } = folder({
    'a.ai': agent('\ndisabledSkills: [pdff]'),
    'b.ai': agent(''),
    'mine.json': { skills: { disabled: ['pdff'] } },
    '.agents/skills/pdf/SKILL.md': skill,
    'home/.ai-agent/.ai-agent.json': { skills: { disabled: ['pdff'] } },
  })
  const [file, config, own] = await Promise.all([
    troupe(path, ['run', 'a.ai', 'x']),
    troupe(path, ['run', 'b.ai', 'x', '--config', 'mine.json']),
    troupe(path, ['run', 'b.ai', 'x'], { HOME: `${path}/home` }),
  ])
  expect([file.code, file.stderr]).toEqual([2, expect.stringMatching(/a\.ai:7:18 .*no skill `pdff`[\s\S]*Did you mean "pdf"/)])
  expect([config.code, config.stderr]).toEqual([2, expect.stringMatching(/no skill `pdff`[\s\S]*Did you mean ["`]pdf["`]/)])
  expect([own.code, own.stderr]).toEqual([0, expect.stringContaining('there is no skill `pdff`')])
})

test('a file of another program says which tools it cannot have, and `write: false` leaves none that edits', async () => {
  const { load } = folder({
    '.claude/agents/a.md':
      '---\nname: a\ndescription: x\ntools: Read, mcp__github__push, Frobnicate\ndisallowedTools: mcp__kv\n---\nDo it.',
    '.opencode/agent/b.md': '---\ndescription: x\ntools:\n  write: false\n  github_*: false\n---\nDo it.',
  })
  const claude = await load('.claude/agents/a.md', { trusted: 'everything' })
  expect(claude.diagnostics.map(({ message }) => message)).toEqual([
    '"Frobnicate" is left out: there is no such tool',
    'no MCP server `github` is configured',
  ])
  const opencode = await load('.opencode/agent/b.md', { trusted: 'everything' })
  const [agent] = opencode.ok ? opencode.agents : []
  expect(agent?.definition.tools).toEqual(['shell', 'read_file', 'list_files', 'search_files', 'web_fetch', 'update_plan', 'ask_user'])
  expect(agent?.definition.approvals).toEqual([{ deny: ['write_file', 'edit_file', 'apply_patch'], reason: 'The agent file denies it.' }])
  expect(opencode.diagnostics.map(({ message }) => message)).toEqual(['the rule for `github_*` has no effect: there is no such tool'])
})
