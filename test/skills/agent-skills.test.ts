import { expect, it } from 'vitest'
import { agentSkills } from '../../src/project/index.ts'
import { findSkills } from '../../src/tools/skills/index.ts'
import { agentsOf, folder } from '../agents/folder.ts'
import { skill } from './place.ts'

it('a pattern of an agent file that matches no skill is reported with its place, and is no error', async () => {
  const { load, path } = folder({
    'clerk.ai': '---\ndescription: Looks\nskills: [pdf, "git-*"]\n---\nGo.',
    '.agents/skills/pdf/SKILL.md': skill('pdf'),
  })
  const [agent] = agentsOf(await load('clerk.ai'))
  const chosen = agentSkills(agent as NonNullable<typeof agent>, findSkills({ workingDirectory: path, projectRoot: path }))
  expect([chosen.skills.map(({ name }) => name), chosen.problems]).toEqual([['pdf'], []])
  expect(chosen.diagnostics).toEqual([
    {
      code: 'agent_setting_idle',
      severity: 'warning',
      place: 'clerk.ai:3:15',
      message: 'no skill fits `git-*`',
      remedy: 'Available: pdf.',
    },
  ])
})
