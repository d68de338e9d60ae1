import { expect, test } from 'vitest'
import { foreignRules } from './granted-tools.ts'
import { parseForeignAgent } from './parse-foreign-agent.ts'

const reason = 'The agent file denies it.'
const rulesOf = (permission: string) =>
  foreignRules(parseForeignAgent(`---\ndescription: A\npermission:\n${permission}\n---\nGo.`, '.opencode/agent/a.md', 'opencode'))

test.each([
  ['  read: allow', undefined],
  ['  bash: ask', [{ ask: ['shell'] }]],
  ['  webfetch: deny', [{ deny: ['web_fetch'], reason }]],
  ['  "*": ask', [{ ask: ['*'] }, { allow: ['read_output'] }]],
  ['  "*": ask\n  read: allow\n  bash: deny', [{ ask: ['*'] }, { allow: ['read_file', 'read_output'] }, { deny: ['shell'], reason }]],
  ['  bash:\n    "*": allow\n    "rm *": deny', [{ deny: ['shell(rm)', 'shell(rm *)'], reason }]],
  [
    '  "*": ask\n  bash:\n    "*": deny\n    "git log*": allow',
    [{ ask: ['*'] }, { allow: ['shell', 'read_output'] }, { deny: ['shell'], reason }, { allow: ['shell(git log*)'] }],
  ],
])('%s', (permission, expected) => {
  expect(rulesOf(permission)).toEqual(expected)
})

test('an invalid tool name makes no rule, and no rule that a runtime would refuse', () => {
  expect(foreignRules({ deniedTools: ['agent__a b', 'shell'], askTools: ['x y'] })).toEqual([{ deny: ['shell'], reason }])
  expect(foreignRules({ deniedTools: [], askTools: [], exemptTools: ['read_file'] })).toBeUndefined()
})
