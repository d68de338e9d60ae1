import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resumeSkills } from '../../src/agents/skills/index.ts'
import { place, skill } from './place.ts'

describe('the skills of a session that goes on', () => {
  it('are those that are still there, with what has changed', () => {
    const names = ['changed', 'gone', 'moved', 'off', 'off-here', 'same']
    const here = place(Object.fromEntries(names.map((name) => [`project/.agents/skills/${name}/SKILL.md`, skill(name)])))
    const kept = here.find().skills
    here.write({
      'project/.agents/skills/changed/SKILL.md': skill('changed', 'Other words.'),
      'home/.agents/skills/moved/SKILL.md': skill('moved'),
    })
    for (const name of ['gone', 'moved']) rmSync(join(here.project, `.agents/skills/${name}`), { recursive: true })
    const resumed = resumeSkills(kept, here.find({ disabled: ['off'] }), ['off-here'])
    const asKept = (name: string) => kept.find((card) => card.name === name)
    expect(resumed).toEqual({
      skills: [
        asKept('changed'),
        { ...asKept('moved'), scope: 'user', path: join(here.home, '.agents/skills/moved/SKILL.md') },
        asKept('same'),
      ],
      diagnostics: [
        {
          code: 'skill_changed',
          severity: 'warning',
          message: `The skill \`changed\` has changed since the session began (${here.project}/.agents/skills/changed/SKILL.md).`,
          remedy: 'The session goes on with how it reads now.',
        },
        {
          code: 'skill_missing',
          severity: 'warning',
          message: `The skill \`gone\` is no longer there (${here.project}/.agents/skills/gone/SKILL.md).`,
          remedy: 'The session goes on without it.',
        },
        ...['off', 'off-here'].map((name) => ({
          code: 'skill_missing',
          severity: 'warning',
          message: `The skill \`${name}\` is switched off by now.`,
          remedy: 'The session goes on without it.',
        })),
      ],
    })
  })
})
