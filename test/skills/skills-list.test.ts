import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { skillRows, skillsDocument } from '../../src/cli/commands/skills-command.ts'
import { findProjectSkills, machineSkills } from '../../src/project/workspace/project-skills.ts'
import { place, skill } from './place.ts'

describe('the skills that are listed', () => {
  it('are those of the project, the user, the system and the administrator', () => {
    const here = place({
      'project/.agents/skills/near/SKILL.md': skill('near'),
      'more/mine/SKILL.md': skill('mine'),
      'share/bundled/SKILL.md': skill('bundled'),
      'etc/rules/SKILL.md': skill('rules'),
    })
    const found = findProjectSkills(
      { cwd: here.project, env: {} },
      { directories: [join(here.path, 'more')] },
      { systemDirectories: [join(here.path, 'share')], adminDirectories: [join(here.path, 'etc')] },
    )
    expect(found.skills.map(({ name, scope }) => [name, scope])).toEqual([
      ['bundled', 'system'],
      ['mine', 'user'],
      ['near', 'repo'],
      ['rules', 'admin'],
    ])
    expect(machineSkills).toEqual({
      systemDirectories: ['/usr/local/share/ai-agent/skills', '/usr/share/ai-agent/skills'],
      adminDirectories: ['/etc/ai-agent/skills'],
    })
  })

  it('are those of the project where a folder of it, or one that commands may write to, is named', () => {
    const here = place({ 'project/skills/near/SKILL.md': skill('near'), 'tools/build/SKILL.md': skill('build') })
    const [directories, machine] = [['project/skills', 'tools'], { systemDirectories: [], adminDirectories: [] }]
    const folders = directories.map((folder) => join(here.path, folder))
    const found = findProjectSkills({ cwd: here.project, env: {} }, { directories: folders, writable: [join(here.path, 'tools')] }, machine)
    expect(found.skills.map(({ name, scope }) => [name, scope])).toEqual([
      ['build', 'repo'],
      ['near', 'repo'],
    ])
  })

  it('say what they need, under which licence they come, and what else they say of themselves', () => {
    const more = 'license: MIT\ncompatibility: Needs poppler\nmetadata: { author: me }\nallowed-tools: Read\n'
    const here = place({ 'project/.agents/skills/pdf/SKILL.md': skill('pdf', 'Reads PDF files.', more) })
    const found = here.find()
    const path = join(here.project, '.agents/skills/pdf/SKILL.md')
    expect(skillRows(found)).toEqual([['pdf', `Reads PDF files.\nneeds: Needs poppler\nrepo · ${path} · MIT · author: me`]])
    expect(skillsDocument(found, []).skills).toEqual([
      { ...found.skills[0], license: 'MIT', compatibility: 'Needs poppler', metadata: { author: 'me' }, allowedTools: ['Read'] },
    ])
  })
})
