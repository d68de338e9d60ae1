import { expect, test } from 'vitest'
import { detectDialect } from './detect-dialect.ts'
import type { Dialect } from './foreign-agent.ts'

test.each<[path: string, expected: Dialect | undefined]>([
  ['.claude/agents/a.md', 'claude'],
  ['/home/me/.claude/agents/team/a.md', 'claude'],
  ['C:\\work\\.claude\\agents\\a.md', 'claude'],
  ['a.agent.md', 'copilot'],
  ['.github/agents/a.md', 'copilot'],
  ['.github/chatmodes/a.chatmode.md', 'copilot'],
  ['.opencode/agents/a.md', 'opencode'],
  ['.opencode/agent/deep/a.md', 'opencode'],
  ['/home/me/.config/opencode/agents/a.md', 'opencode'],
  ['.gemini/agents/a.md', 'gemini'],
  ['.codex/agents/a.toml', 'codex'],
  ['.claude/agents/a.ai', undefined],
  ['.claude/skills/a.md', undefined],
  ['notclaude/agents/a.md', undefined],
  ['README.md', undefined],
  ['.codex/config.toml', undefined],
])('by place: %s', (path, expected) => {
  expect(detectDialect(path)).toBe(expected)
})

test.each<[path: string, text: string, expected: Dialect | undefined]>([
  ['a.md', '---\nname: a\ndescription: A\n---\nx', 'claude'],
  ['a.md', '\uFEFF---\r\nname: a\r\ndescription: A\r\nmax_turns: 3\r\n---\r\nx', 'gemini'],
  ['a.md', '---\ndescription: A\nmode: subagent\n---\nx', 'opencode'],
  ['a.md', '---\ndescription: A\nhandoffs: []\n---\nx', 'copilot'],
  ['a.md', '---\ntitle: A\n---\nname: x\ndescription: y', undefined],
  ['a.md', '# A\n---\ndescription: A\nname: a\n---', undefined],
  ['a.toml', 'name = "a"\ndeveloper_instructions = "x"', 'codex'],
  ['a.toml', 'name = "a"', undefined],
  ['a.ai', '---\nname: a\ndescription: A\n---\nx', undefined],
])('by its content: %s %j', (path, text, expected) => {
  expect(detectDialect(path, text)).toBe(expected)
})
