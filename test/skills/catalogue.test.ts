import { describe, expect, it } from 'vitest'
import type { SkillCard, SkillScope } from '../../src/contracts/index.ts'
import { skillCatalogue } from '../../src/runtime/parts/skill-catalogue.ts'
import { selectSkills } from '../../src/tools/skills/select-skills.ts'
import { place, skill } from './place.ts'

const card = (name: string, description: string, scope: SkillScope = 'repo'): SkillCard => ({
  name,
  description,
  scope,
  path: `/s/${name}/SKILL.md`,
  hash: '0'.repeat(64),
})
const many = (count: number, length: number): readonly SkillCard[] =>
  Array.from({ length: count }, (_, index) => card(`skill-${String(index).padStart(4, '0')}`, 'words '.repeat(length / 6)))

describe('the catalogue', () => {
  it('lists skills by name, each on one line', () => {
    expect(skillCatalogue([card('zip', 'Packs\n  files.'), card('pdf', 'Reads PDF files.')])).toEqual({
      text: [
        '# Skills',
        'Instructions for particular kinds of work. If one fits, load it with `load_skill` before you begin. A skill grants no permissions.',
        '- pdf: Reads PDF files.',
        '- zip: Packs files.',
      ].join('\n'),
    })
  })

  it('says nothing where there are no skills', () => {
    expect(skillCatalogue([])).toEqual({ text: '' })
  })

  it('cuts all descriptions to one length that fits', () => {
    const { text, notice } = skillCatalogue([...many(20, 900), card('tiny', 'Short.')])
    expect(text.length).toBeLessThanOrEqual(8_000)
    expect(text.length).toBeGreaterThan(7_900)
    expect(text).toContain('\n- tiny: Short.')
    expect(text.match(/…$/gm)).toHaveLength(20)
    expect(notice).toMatch(/^The descriptions of 20 of 21 skills were shortened to \d{3} characters to fit\.$/)
  })

  it('drops descriptions that would say nothing', () => {
    const { text, notice } = skillCatalogue(many(300, 600))
    expect(text.split('\n').slice(2, 4)).toEqual(['- skill-0000', '- skill-0001'])
    expect(text.length).toBeLessThanOrEqual(8_000)
    expect(notice).toBe('300 skills are listed without descriptions to fit.')
  })

  it('leaves out the farthest skills, and of those the last', () => {
    const far = card('aaa-far', 'Far away.', 'admin')
    const { text, notice } = skillCatalogue([far, ...many(1_000, 60)])
    expect(text.length).toBeLessThanOrEqual(8_000)
    expect(text).not.toContain('aaa-far')
    expect(text).toContain('- skill-0000\n')
    expect(text).toMatch(/\n\d+ more are not listed\.$/)
    expect(notice).toMatch(/^\d+ skills are not listed because the list is too long: aaa-far, skill-\d+, .*, …\.$/)
  })

  it('has room for 2 % of the window', () => {
    const skills = many(100, 600)
    for (const windowTokens of [8_000, 32_000, 200_000, 1_000_000])
      expect(skillCatalogue(skills, { windowTokens }).text.length).toBeLessThanOrEqual(windowTokens * 0.08)
    expect(skillCatalogue(skills, { windowTokens: 1_000_000 }).notice).toBeUndefined()
    expect(skillCatalogue(skills, { windowTokens: 1_000 })).toEqual({
      text: '',
      notice: expect.stringContaining('100 skills are not listed'),
    })
  })

  it('does not depend on the order, and cuts no letter in two', () => {
    const skills = [...many(15, 600), card('smile', '😀'.repeat(512))]
    const { text } = skillCatalogue(skills)
    expect(skillCatalogue(skills.toReversed()).text).toBe(text)
    expect(text.isWellFormed()).toBe(true)
  })
})

describe('the skills of an agent', () => {
  const here = place({
    'project/.agents/skills/pdf/SKILL.md': skill('pdf'),
    'project/.agents/skills/git-log/SKILL.md': skill('git-log'),
    'project/.agents/skills/git-push/SKILL.md': skill('git-push'),
    'project/.agents/skills/off/SKILL.md': skill('off'),
    'project/.agents/skills/torn/SKILL.md': '---\nname: torn\n---\nDo.',
  })
  const found = here.find({ disabled: ['off'] })
  const chosen = (wanted: readonly string[], disabled?: readonly string[]) => {
    const { skills, problems, warnings } = selectSkills(found, wanted, disabled)
    return [skills.map(({ name }) => name), problems, warnings]
  }

  it('are those that it names, by name or by pattern, in order and once', () => {
    expect(chosen(['pdf', 'git-*', 'pdf'])).toEqual([['git-log', 'git-push', 'pdf'], [], []])
    expect(chosen(['*'])).toEqual([['git-log', 'git-push', 'pdf'], [], []])
    expect(chosen(['*-log', '*d*'])).toEqual([['git-log', 'pdf'], [], []])
    expect(chosen([])).toEqual([[], [], []])
  })

  it('are not those that are switched off, for it or for all', () => {
    expect(chosen(['*'], ['git-push'])).toEqual([['git-log', 'pdf'], [], []])
    expect(chosen(['*'], ['*-push'])).toEqual([['git-log', 'pdf'], [], []])
    expect(chosen(['off', 'pdf'], ['pdf'])).toEqual([[], [], []])
  })

  it('are a problem if there is no such skill, which says what there is', () => {
    expect(chosen(['pdf', 'gitlog', 'unheard'])).toEqual([
      ['pdf'],
      [
        { place: 'skills[1]', message: 'there is no skill `gitlog`', remedy: 'Did you mean "git-log"? Available: git-log, git-push, pdf.' },
        { place: 'skills[2]', message: 'there is no skill `unheard`', remedy: 'Available: git-log, git-push, pdf.' },
      ],
      [],
    ])
    expect(selectSkills(place().find(), ['pdf']).problems).toEqual([
      {
        place: 'skills[0]',
        message: 'there is no skill `pdf`',
        remedy: 'There are no skills here: a skill is a folder with a SKILL.md below .agents/skills.',
      },
    ])
  })

  it('are reported if a pattern matches none, unless it means all', () => {
    expect(chosen(['pdf', 'none-*', '*-pdf'])).toEqual([
      ['pdf'],
      [],
      [
        { place: 'skills[1]', message: 'no skill fits `none-*`', remedy: 'Available: git-log, git-push, pdf.' },
        { place: 'skills[2]', message: 'no skill fits `*-pdf`', remedy: 'Did you mean "pdf"? Available: git-log, git-push, pdf.' },
      ],
    ])
    expect(chosen(['of*'])).toEqual([[], [], []])
    expect(selectSkills(place().find(), ['*'])).toEqual({ skills: [], problems: [], warnings: [] })
  })

  it('are a problem where one is broken, which says how', () => {
    const [, problems] = chosen(['torn'])
    expect(problems).toEqual([
      {
        place: 'skills[0]',
        message: `the skill \`torn\` cannot be used: ${here.project}/.agents/skills/torn/SKILL.md:1:1: \`description\` is missing`,
        remedy: 'Describe what the skill does and when to use it.',
      },
    ])
  })
})
