import { expect, test } from 'vitest'
import { troupe } from './command.ts'
import { agentsOf, child, folder } from './folder.ts'

const foreign = (name?: string): string => `---\n${name === undefined ? '' : `name: ${name}\n`}description: Reviews\n---\nReview.\n`
const everywhere = {
  '.claude/agents/reviewer.md': foreign('reviewer'),
  '.opencode/agent/reviewer.md': foreign(),
  '.github/agents/reviewer.agent.md': foreign(),
}

test('the same agent for several programs, and a copy of our own beside them, is right', async () => {
  const { path } = folder({ ...everywhere, 'reviewer.ai': child('toolName: reviewer').replace('a/b', 'rehearsal') })
  expect(await troupe(path, ['validate'])).toMatchObject({ code: 0 })
  const { stdout, stderr } = await troupe(path, ['doctor'])
  expect(stdout + stderr).not.toMatch(/already|fail {2}agents/)
})

test.each([
  ['./own.ai, ./.claude/agents/reviewer.md', 'own.ai', 'Give it another `toolName`.'],
  ['./.claude/agents/reviewer.md, ./own.ai', 'own.ai', 'Give it another `toolName`.'],
  [
    './.opencode/agent/reviewer.md, ./.claude/agents/reviewer.md',
    '.claude/agents/reviewer.md',
    'Give one of them another `name`, or call only one of them.',
  ],
  [
    './.claude/agents/reviewer.md, ./.opencode/agent/reviewer.md',
    '.opencode/agent/reviewer.md',
    'Rename one of the files, or call only one of them.',
  ],
])('where one agent could call %s, what helps is named', async (children, place, remedy) => {
  const { load } = folder({ ...everywhere, 'own.ai': child('toolName: reviewer'), 'boss.ai': child(`agents: [${children}]`) })
  const registry = await load('boss.ai')
  const problems = registry.ok ? [] : registry.problems.map((problem) => [problem.place.split(':')[0], problem.remedy])
  expect(problems).toEqual([[place, remedy]])
})

test('those that are merely found have names of their own', async () => {
  const { load } = folder(everywhere)
  const names = agentsOf(await load(Object.keys(everywhere), { scope: 'everything' })).map(({ definition }) => definition.name)
  expect(names).toEqual(['reviewer', 'reviewer-2', 'reviewer-3'])
})
