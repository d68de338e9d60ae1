import { expect, test } from 'vitest'
import { builtinToolNames } from '../../policy/builtin-tool-names.ts'
import type { ForeignAgent, ForeignTools } from './foreign-agent.ts'
import { covers, restrictedTools, untrusted } from './granted-tools.ts'
import { parseForeignAgent } from './parse-foreign-agent.ts'

const only = (...names: readonly string[]): ForeignTools => ({ kind: 'only', names })

test.each<[tools: ForeignTools, denied: readonly string[], left: readonly string[]]>([
  [{ kind: 'all' }, [], ['read_file', 'list_files', 'search_files']],
  [{ kind: 'all' }, ['read_file'], ['list_files', 'search_files']],
  [only('shell', 'read_file', 'write_file', 'web_fetch', 'github/*', 'agent__*'), [], ['read_file']],
  [only('*'), ['search_*'], ['read_file', 'list_files']],
  [only(), [], []],
])('nobody has trusted %j without %j: %j', (tools, deniedTools, names) => {
  expect(restrictedTools({ tools, deniedTools })).toEqual({ kind: 'only', names })
})

test('servers are not started, and withheld settings are reported', () => {
  const file = '---\nname: a\ndescription: A\ntools: Bash, Read\nmcpServers:\n  evil: { command: ./evil }\n---\nDo it.'
  const agent: ForeignAgent = parseForeignAgent(file, '.claude/agents/a.md', 'claude')
  const { mcpServers, ...rest } = agent
  expect(mcpServers).toHaveLength(1)
  expect(untrusted(agent, '.claude/agents/a.md', builtinToolNames)).toEqual({
    ...rest,
    tools: only('read_file'),
    warnings: [
      {
        place: '.claude/agents/a.md',
        message: 'the file is not trusted, so its agent has only `read_file`',
        remedy: 'Review the file, then: troupe trust .claude/agents/a.md',
      },
      {
        place: '.claude/agents/a.md',
        message: 'the file is not trusted, so it starts no server: `evil`',
        remedy: 'Review the file, then: troupe trust .claude/agents/a.md',
      },
    ],
  })
})

test('an agent that only looks is used as it is', () => {
  const agent = parseForeignAgent('---\nname: a\ndescription: A\ntools: Read\n---\nDo it.', 'a.md', 'claude')
  expect(untrusted(agent, 'a.md', builtinToolNames)).toEqual(agent)
})

test('patterns', () => {
  const pairs = [
    ['*', 'shell', true],
    ['read_*', 'read_file', true],
    ['github/*', 'github/a', true],
    ['github/*', 'githubs/a', false],
    ['*/*', 'github/a', true],
    ['*/*', 'shell', false],
    ['read_file', 'read_files', false],
  ] as const
  expect(pairs.map(([pattern, name]) => covers(pattern, name))).toEqual(pairs.map(([, , expected]) => expected))
})
