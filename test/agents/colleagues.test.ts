import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { agentsOf, child, folder } from './folder.ts'

// Agents by the names that `agents list` shows.

const reviewer = '---\nname: code-reviewer\ndescription: Reviews\n---\nReview.\n'
const files = { '.claude/agents/reviews.md': reviewer, 'scout.ai': '---\ndescription: A scout\n---\nLook.\n' }
const callers = {
  '.claude/agents/lead.md': '---\nname: lead\ndescription: Leads\ntools: Read, Agent(code-reviewer)\n---\nLead.\n',
  '.github/agents/planner.agent.md': '---\ndescription: Plans\nagents: [code-reviewer, scout]\n---\nPlan.\n',
}

describe('a file of another program', () => {
  test.each(Object.entries(callers))('finds its colleagues by name: %s', async (file, text) => {
    const { load } = folder({ ...files, [file]: text })
    const registry = await load(file, { trusted: 'everything' })
    const [caller] = agentsOf(registry)
    expect(caller?.definition.agents).toEqual(file.includes('planner') ? ['code-reviewer', 'scout'] : ['code-reviewer'])
    expect(registry.untrusted).toEqual([])
  })

  test('omits agents that would call back, are broken or are missing, and reports it', async () => {
    const { load } = folder({
      'a.agent.md': '',
      '.github/agents/a.agent.md': '---\ndescription: A\nagents: [a, b, broken, nobody]\n---\nA.\n',
      '.github/agents/b.agent.md': '---\ndescription: B\nagents: [a]\n---\nB.\n',
      'broken.ai': '---\ndescription: 3\nnonsense: yes\n---\nX.\n',
    })
    const registry = await load('.github/agents/a.agent.md', { trusted: 'everything' })
    expect(agentsOf(registry).map(({ definition: { name, agents } }) => [name, agents])).toEqual([
      ['a', ['b']],
      ['b', []],
    ])
    const told = registry.diagnostics.map(({ message }) => message).join('\n')
    for (const words of [
      'no agent `a`',
      '`broken` is left out',
      'no agent `nobody`',
      '`a` is left out: agents would call each other in a cycle',
    ])
      expect(told).toContain(words)
  })

  test('and if one is missing, validate reports it', async () => {
    const { path } = folder({ '.github/agents/planner.agent.md': callers['.github/agents/planner.agent.md'] })
    const { code, stdout, stderr } = await troupe(path, ['validate'])
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('There is no agent `code-reviewer`')])
  })
})

test('run with a name says which file is called so', async () => {
  const { path } = folder(files)
  const { code, stderr } = await troupe(path, ['run', 'code-reviewer', 'Hi'])
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('→ .claude/agents/reviews.md has this name: troupe run .claude/agents/reviews.md'),
  ])
})

test('one of Troupe’s own files gets the name of the file to use', async () => {
  const { load } = folder({ ...files, 'boss.ai': child('agents: [code-reviewer]') })
  const registry = await load('boss.ai')
  expect(registry.ok ? [] : registry.problems.map(({ remedy }) => remedy)).toEqual(['Name the file: `./.claude/agents/reviews.md`.'])
})
