import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FoundSkills } from '../../src/tools/skills/find-skills.ts'
import { names, place, skill, told } from './place.ts'

describe('where skills are found', () => {
  it('knows a skill by name, description, scope, path and hash', () => {
    const content = skill('pdf', 'Reads PDF files.')
    const here = place({ 'project/.agents/skills/pdf/SKILL.md': content })
    expect(here.find()).toEqual({
      skills: [
        {
          name: 'pdf',
          description: 'Reads PDF files.',
          scope: 'repo',
          path: join(here.project, '.agents/skills/pdf/SKILL.md'),
          hash: createHash('sha256').update(content).digest('hex'),
        },
      ],
      details: new Map([['pdf', {}]]),
      shadowed: [],
      disabled: [],
      problems: [],
    })
  })

  it('looks from the working directory up to the project root, and not above it', () => {
    const here = place({
      'above/.agents/skills/nope/SKILL.md': skill('nope'),
      '.agents/skills/outside/SKILL.md': skill('outside'),
      'project/.agents/skills/root/SKILL.md': skill('root'),
      'project/a/.claude/skills/middle/SKILL.md': skill('middle'),
      'project/a/b/.agents/skills/group/deep/near/SKILL.md': skill('near'),
      'home/.claude/skills/mine/SKILL.md': skill('mine'),
      'home/.agents/skills/own/SKILL.md': skill('own'),
      'system/bundled/SKILL.md': skill('bundled'),
      'admin/rules/SKILL.md': skill('rules'),
    })
    const found = here.find({
      workingDirectory: join(here.project, 'a/b'),
      systemDirectories: [join(here.path, 'system')],
      adminDirectories: [join(here.path, 'admin'), join(here.path, 'nowhere')],
    })
    expect(found.skills.map(({ name, scope }) => `${name} ${scope}`)).toEqual([
      'bundled system',
      'middle repo',
      'mine user',
      'near repo',
      'own user',
      'root repo',
      'rules admin',
    ])
    expect(found.problems).toEqual([])
  })

  it('the nearest skill of a name wins, and the hidden one is reported', () => {
    const here = place({
      'project/.agents/skills/pdf/SKILL.md': skill('pdf', 'Of the root.'),
      'project/a/.agents/skills/pdf/SKILL.md': skill('pdf', 'Of the folder.'),
      'home/.agents/skills/pdf/SKILL.md': skill('pdf', 'Of the person.'),
      'admin/pdf/SKILL.md': skill('pdf', 'Of the machine.'),
    })
    const found = here.find({ workingDirectory: join(here.project, 'a'), adminDirectories: [join(here.path, 'admin')] })
    expect(found.skills.map(({ description }) => description)).toEqual(['Of the folder.'])
    expect(found.shadowed.map(({ card, by, kind }) => [kind, card.description, by.description])).toEqual([
      ['duplicate', 'Of the root.', 'Of the folder.'],
      ['shadowed', 'Of the person.', 'Of the folder.'],
      ['shadowed', 'Of the machine.', 'Of the folder.'],
    ])
  })

  it('takes the first by path of two in one folder', () => {
    const here = place({
      'project/.agents/skills/b/pdf/SKILL.md': skill('pdf', 'Second.'),
      'project/.agents/skills/a/pdf/SKILL.md': skill('pdf', 'First.'),
      'project/.claude/skills/pdf/SKILL.md': skill('pdf', 'Third.'),
    })
    const found = here.find()
    expect(found.skills.map(({ description }) => description)).toEqual(['First.'])
    expect(found.shadowed.map(({ card, kind }) => [kind, card.description])).toEqual([
      ['duplicate', 'Second.'],
      ['duplicate', 'Third.'],
    ])
  })

  it('a broken skill never hides a valid one', () => {
    const here = place({
      'project/.agents/skills/pdf/SKILL.md': 'nothing',
      'home/.agents/skills/pdf/SKILL.md': skill('pdf', 'Works.'),
    })
    expect(here.find().skills.map(({ description }) => description)).toEqual(['Works.'])
  })

  it('leaves out what is switched off', () => {
    const here = place({ 'project/.agents/skills/a/SKILL.md': skill('a'), 'project/.agents/skills/b/SKILL.md': skill('b') })
    const found = here.find({ disabled: ['a', 'unknown'] })
    expect([names(found), found.disabled.map(({ name }) => name)]).toEqual([['b'], ['a']])
  })

  it('takes the skills of a home directory for those of the person who works there', () => {
    const here = place({ 'home/.agents/skills/own/SKILL.md': skill('own') })
    const found = here.find({ workingDirectory: here.home, projectRoot: here.home })
    expect(found.skills.map(({ scope }) => scope)).toEqual(['user'])
  })

  it('does not look into skills, node_modules and .git', () => {
    const here = place({
      'project/.agents/skills/a/SKILL.md': skill('a'),
      'project/.agents/skills/a/templates/inner/SKILL.md': skill('inner'),
      'project/.agents/skills/node_modules/b/SKILL.md': skill('b'),
      'project/.agents/skills/.git/c/SKILL.md': skill('c'),
    })
    expect(names(here.find())).toEqual(['a'])
  })

  it('reports a SKILL.md without its own folder, and finds the others', () => {
    const here = place({ 'project/.agents/skills/SKILL.md': skill('a'), 'project/.agents/skills/b/SKILL.md': skill('b') })
    const found = here.find()
    expect([names(found), told(found, here)]).toEqual([['b'], ['error project/.agents/skills/SKILL.md a SKILL.md needs its own folder']])
  })
})

describe('bounds', () => {
  it('stops six levels below a root, and reports it', () => {
    const here = place({
      'project/.agents/skills/1/2/3/4/5/six/SKILL.md': skill('six'),
      'project/.agents/skills/1/2/3/4/5/6/seven/SKILL.md': skill('seven'),
    })
    const found = here.find()
    expect([names(found), told(found, here)]).toEqual([
      ['six'],
      ['warning project/.agents/skills the search for skills stops at 6 levels of folders: some folders were not searched'],
    ])
  })

  it('stops at as many folders as it may look into, and reports it once', () => {
    const here = place()
    for (let index = 0; index < 9; index++) mkdirSync(join(here.project, `.agents/skills/f${index}`), { recursive: true })
    here.write({ 'project/.agents/skills/f3/SKILL.md': skill('f3'), 'project/.agents/skills/f8/SKILL.md': skill('f8') })
    const found = here.find({ bounds: { depth: 6, folders: 5, entries: 100 } })
    expect([names(found), told(found, here)]).toEqual([
      ['f3'],
      ['warning project/.agents/skills the search for skills stops at 5 folders: some folders were not searched'],
    ])
  })

  it('stops at as many entries as it may read', () => {
    const here = place(Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`project/.agents/skills/note-${index}.txt`, ''])))
    const found = here.find({ bounds: { depth: 6, folders: 5, entries: 10 } })
    expect(told(found, here)).toEqual([
      'warning project/.agents/skills the search for skills stops at 10 files and folders: some folders were not searched',
    ])
  })

  it('reads 2,000 skills in well under a second', () => {
    const here = place()
    for (let index = 0; index < 2_000; index++) here.write({ [`project/.agents/skills/s${index}/SKILL.md`]: skill(`s${index}`) })
    const before = process.cpuUsage()
    const found = here.find()
    const { user, system } = process.cpuUsage(before)
    expect([found.skills.length, found.problems]).toEqual([2_000, []])
    expect((user + system) / 1_000).toBeLessThan(1_000)
    rmSync(here.project, { recursive: true })
  })
})

describe('links', () => {
  it('enters no folder twice, and does not go in circles', () => {
    const here = place({ 'project/.agents/skills/z/pdf/SKILL.md': skill('pdf') })
    here.link('project/.agents/skills/a', 'z')
    here.link('project/.agents/skills/z/again', '..')
    here.link('project/.agents/skills/z/self', 'self')
    here.link('project/.agents/skills/dead', 'nowhere')
    here.link('project/.claude/skills', '../.agents/skills')
    const found = here.find()
    expect(found.skills.map(({ path }) => path)).toEqual([join(here.project, '.agents/skills/z/pdf/SKILL.md')])
    expect([found.shadowed, found.problems]).toEqual([[], []])
  })

  it('follows links inside of a project', () => {
    const here = place({ 'project/shared/pdf/SKILL.md': skill('pdf') })
    here.link('project/.agents/skills/pdf', '../../shared/pdf')
    expect(here.find().skills.map(({ path }) => path)).toEqual([join(here.project, 'shared/pdf/SKILL.md')])
  })

  it('follows no link out of a project, and reports it', () => {
    const here = place({ 'elsewhere/pdf/SKILL.md': skill('pdf'), 'elsewhere/file.md': skill('file') })
    here.link('project/.agents/skills/pdf', '../../../elsewhere/pdf')
    here.link('project/.agents/skills/file/SKILL.md', '../../../../elsewhere/file.md')
    here.link('project/.claude', '../elsewhere')
    here.write({ 'elsewhere/skills/x/SKILL.md': skill('x') })
    const found = here.find()
    expect([names(found), told(found, here)]).toEqual([
      [],
      [
        'warning project/.agents/skills/pdf the link is ignored: it leads outside the project',
        'warning project/.claude/skills the link is ignored: it leads outside the project',
        'error project/.agents/skills/file/SKILL.md SKILL.md is a link to a file outside its folder',
      ],
    ])
  })

  it('follows the links that a person has put into the home directory', () => {
    const here = place({ 'dotfiles/pdf/SKILL.md': skill('pdf'), 'dotfiles/notes.md': skill('notes') })
    here.link('home/.agents/skills/pdf', '../../../dotfiles/pdf')
    here.link('home/.agents/skills/notes/SKILL.md', '../../../../dotfiles/notes.md')
    const found = here.find()
    expect([names(found), found.problems]).toEqual([['notes', 'pdf'], []])
  })

  describe('where commands may write', () => {
    const scopes = ({ skills }: FoundSkills) => skills.map(({ name, scope }) => [name, scope])

    it('are of the project, however the folder was named or linked', () => {
      const here = place({
        'project/skills/deploy/SKILL.md': skill('deploy'),
        'project/docs/notes/SKILL.md': skill('notes'),
        'tools/skills/build/SKILL.md': skill('build'),
        'elsewhere/mine/SKILL.md': skill('mine'),
      })
      here.link('home/.agents/skills/notes', join(here.project, 'docs/notes'))
      const directories = ['project/skills', 'tools/skills', 'elsewhere'].map((folder) => join(here.path, folder))
      const found = here.find({
        userDirectories: [...directories, join(here.home, '.agents/skills')],
        writable: [join(here.path, 'tools')],
      })
      expect([scopes(found), found.problems]).toEqual([
        [
          ['build', 'repo'],
          ['deploy', 'repo'],
          ['mine', 'user'],
          ['notes', 'repo'],
        ],
        [],
      ])
    })

    it('follow no link out of there, and no SKILL.md out of its folder', () => {
      const here = place({
        'secret/SKILL.md': skill('secret'),
        'project/skills/plain/SKILL.md': skill('plain'),
        'project/team/inner/x': '',
      })
      here.link('project/skills/secret', '../../secret')
      here.link('project/skills/file/SKILL.md', '../../../secret/SKILL.md')
      here.link('project/linked', '..')
      here.link('home/.agents/skills/team', join(here.project, 'team'))
      here.link('project/team/inner/secret', join(here.path, 'secret'))
      const userDirectories = [join(here.project, 'skills'), join(here.project, 'linked'), join(here.home, '.agents/skills')]
      const found = here.find({ userDirectories })
      expect([scopes(found), told(found, here)]).toEqual([
        [['plain', 'repo']],
        [
          'warning project/skills/secret the link is ignored: it leads outside the project',
          'warning project/linked the link is ignored: it leads outside the project',
          'warning project/team/inner/secret the link is ignored: it leads outside the project',
          'error project/skills/file/SKILL.md SKILL.md is a link to a file outside its folder',
        ],
      ])
    })

    it('are of the person where the home is the project, as long as they lie in the folder that no command writes to', () => {
      const here = place({ 'home/.agents/skills/own/SKILL.md': skill('own'), 'home/dotfiles/pdf/SKILL.md': skill('pdf') })
      here.link('home/.agents/skills/pdf', '../../dotfiles/pdf')
      expect(scopes(here.find({ workingDirectory: here.home, projectRoot: here.home }))).toEqual([
        ['own', 'user'],
        ['pdf', 'repo'],
      ])
    })
  })

  it('never follows a link from a skill to keys', () => {
    const here = place({ 'home/.ai-agent.env': skill('keys') })
    here.link('home/.agents/skills/keys/SKILL.md', '../../../.ai-agent.env')
    expect(told(here.find(), here)).toEqual([
      'error home/.agents/skills/keys/SKILL.md SKILL.md cannot be used: it contains keys, which no tool may read',
    ])
  })

  it('says where a SKILL.md is a dangling link or is no file', () => {
    const here = place()
    here.link('project/.agents/skills/dead/SKILL.md', 'nowhere.md')
    mkdirSync(join(here.project, '.agents/skills/folder/SKILL.md'), { recursive: true })
    expect(told(here.find(), here)).toEqual([
      'error project/.agents/skills/dead/SKILL.md SKILL.md is a dangling link',
      'error project/.agents/skills/folder/SKILL.md SKILL.md cannot be used: it is a folder',
    ])
  })
})
