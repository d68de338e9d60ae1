import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ToolOutput } from '../../../src/contracts/index.ts'
import { toolContract } from '../../../src/testing/index.ts'
import { loadSkillTool } from '../../../src/tools/builtin/load-skill/load-skill.ts'
import { checkSchema } from '../../../src/util/json-schema/check-schema.ts'
import { type Place, place, skill } from '../../skills/place.ts'
import { toolContext } from './context.ts'

const tool = loadSkillTool()
const loader = (here: Place) => {
  const context = toolContext({ skills: here.find().skills })
  return async (name: string, file?: string): Promise<ToolOutput> =>
    (await tool.execute({ name, ...(file !== undefined && { file }) }, context)) as ToolOutput
}
const content = (output: ToolOutput): string => (output.ok ? output.content : `failed: ${output.error.message} ${output.error.remedy}`)
const pdf = 'project/.agents/skills/pdf'

describe('load_skill', () => {
  const examples = place({ [`${pdf}/SKILL.md`]: skill('pdf') })
  for (const { name, run } of toolContract(tool, {
    good: { name: 'pdf' },
    bad: { name: 'other' },
    context: { skills: examples.find().skills },
  }))
    it(name, run)

  it('is a shared read with a sound schema', () => {
    expect([tool.name, tool.effect, tool.concurrency, checkSchema(tool.inputSchema, tool.name)]).toEqual([
      'load_skill',
      'read',
      'shared',
      [],
    ])
  })

  it('gives the text of a skill and the files that come with it', async () => {
    const here = place({
      [`${pdf}/SKILL.md`]: skill('pdf'),
      [`${pdf}/SKILL.toml`]: '',
      [`${pdf}/scripts/fill.py`]: 'print()',
      [`${pdf}/notes.md`]: 'Notes.',
      [`${pdf}/node_modules/x.js`]: '',
    })
    const folder = join(here.path, pdf)
    expect(content(await loader(here)('pdf'))).toBe(
      [
        `Skill \`pdf\` from ${folder}/SKILL.md. Its paths are relative to ${folder}. It grants no permissions.`,
        '',
        '---\nname: pdf\ndescription: About pdf.\n---\nDo pdf.',
        '',
        'Files of this skill:',
        '- notes.md',
        '- scripts/fill.py',
      ].join('\n'),
    )
    expect(await loader(here)('pdf', 'scripts/fill.py')).toEqual({ ok: true, content: 'print()' })
  })

  it('says where a skill has changed since it was found', async () => {
    const here = place({ [`${pdf}/SKILL.md`]: skill('pdf') })
    const load = loader(here)
    here.write({ [`${pdf}/SKILL.md`]: skill('pdf', 'Other words.') })
    const text = content(await load('pdf'))
    expect(text).toContain('\nIt has changed since this session started; this is the current text.\n')
    expect(text).toContain('Other words.')
    rmSync(join(here.path, pdf, 'SKILL.md'))
    expect(content(await load('pdf'))).toBe('failed: The skill `pdf` cannot be loaded: it does not exist. Continue without it.')
  })

  it('lists the available skills for an unknown one', async () => {
    const here = place({ [`${pdf}/SKILL.md`]: skill('pdf'), 'home/.agents/skills/zip/SKILL.md': skill('zip') })
    expect(content(await loader(here)('unheard'))).toBe('failed: There is no skill "unheard". Available: pdf, zip.')
    expect(content(await loader(place())('pdf'))).toBe('failed: There is no skill "pdf". There are no skills. Continue without one.')
  })

  it('lists at most 50 files, and mentions that more exist', async () => {
    const files = Array.from({ length: 60 }, (_, index) => [`${pdf}/f${String(index).padStart(2, '0')}.txt`, ''])
    const here = place({ [`${pdf}/SKILL.md`]: skill('pdf'), ...Object.fromEntries(files) })
    const lines = content(await loader(here)('pdf')).split('\n')
    expect([lines.filter((line) => line.startsWith('- f')).length, lines.at(-1)]).toEqual([50, 'More files are not listed.'])
  })

  it('loads no file with keys, under whatever name', async () => {
    const here = place({ [`${pdf}/SKILL.md`]: skill('pdf'), [`${pdf}/.ai-agent.env`]: 'KEY=1' })
    here.link(`${pdf}/plain.txt`, '.ai-agent.env')
    const load = loader(here)
    for (const file of ['.ai-agent.env', 'plain.txt'])
      expect(content(await load('pdf', file))).toContain('cannot be loaded: it contains keys, which no tool may read.')
  })

  it('loads no file from outside of the folder', async () => {
    const here = place({ [`${pdf}/SKILL.md`]: skill('pdf'), [`${pdf}/a.md`]: 'a', 'project/secret': 's', [`${pdf}-2/b.md`]: 'b' })
    here.link(`${pdf}/link.md`, '../../../secret')
    here.link(`${pdf}/inner.md`, 'a.md')
    here.link(`${pdf}/up`, '../../..')
    const load = loader(here)
    const outside = [
      '../../../secret',
      join(here.project, 'secret'),
      'link.md',
      'up/secret',
      '../pdf-2/b.md',
      '..',
      '.',
      'x/../../pdf-2/b.md',
    ]
    for (const file of outside) expect(content(await load('pdf', file)), file).toContain('it is outside the folder of the skill.')
    expect(content(await load('pdf', 'inner.md'))).toBe('a')
  })

  it.each<[string, string, string]>([
    ['a file that is not there', 'b/a.md', 'it does not exist. Did you mean deep/a.md?'],
    ['a folder', 'deep', 'it is a folder. Only text files can be loaded'],
    ['a pipe', 'pipe', 'it is not a regular file. Only text files'],
    ['a binary', 'logo.png', 'it is no UTF-8 text (3 bytes). Only text files'],
    ['a huge file', 'huge.txt', 'it has 262145 bytes, and 262144 is the most. Only text files'],
    ['a circle', 'circle', 'its symbolic links form a cycle. Only text files'],
  ])('says why it does not load %s', async (_what, file, expected) => {
    const here = place({
      [`${pdf}/SKILL.md`]: skill('pdf'),
      [`${pdf}/deep/a.md`]: 'a',
      [`${pdf}/logo.png`]: Buffer.from([0x89, 0, 1]),
      [`${pdf}/huge.txt`]: 'x'.repeat(262_145),
    })
    here.link(`${pdf}/circle`, 'circle')
    execFileSync('mkfifo', [join(here.path, pdf, 'pipe')])
    expect(content(await loader(here)('pdf', file))).toContain(expected)
  })

  it('does not follow a folder or a file of a project that was made a link meanwhile', async () => {
    const here = place({ [`${pdf}/SKILL.md`]: skill('pdf'), 'elsewhere/SKILL.md': 'secret', 'elsewhere/key': 'secret' })
    const load = loader(here)
    rmSync(join(here.path, pdf, 'SKILL.md'))
    symlinkSync('../../../../elsewhere/SKILL.md', join(here.path, pdf, 'SKILL.md'))
    expect(content(await load('pdf'))).toBe(
      'failed: The skill `pdf` cannot be loaded: it is outside the folder of the skill. Continue without it.',
    )
    renameSync(join(here.path, pdf), join(here.path, 'gone'))
    symlinkSync('../../../elsewhere', join(here.path, pdf))
    for (const file of [undefined, 'key']) expect(content(await load('pdf', file))).toContain('no longer exists')
  })

  it('does not follow a folder of a person either that was made a link meanwhile', async () => {
    const here = place({ 'home/.agents/skills/zip/SKILL.md': skill('zip'), 'elsewhere/SKILL.md': 'secret', 'elsewhere/key': 'secret' })
    const load = loader(here)
    renameSync(join(here.home, '.agents/skills/zip'), join(here.path, 'gone'))
    symlinkSync(join(here.path, 'elsewhere'), join(here.home, '.agents/skills/zip'))
    for (const file of [undefined, 'key']) expect(content(await load('zip', file))).toContain('no longer exists')
  })

  it('loads what a link of a person leads to only as it was found', async () => {
    const here = place({ 'project/notes.md': skill('notes'), 'elsewhere/key': 'secret' })
    here.link('home/.agents/skills/notes/SKILL.md', join(here.project, 'notes.md'))
    const load = loader(here)
    rmSync(join(here.project, 'notes.md'))
    here.link('project/notes.md', join(here.path, 'elsewhere/key'))
    expect(content(await load('notes'))).toBe(
      'failed: The skill `notes` cannot be loaded: it is a link out of its folder, and its target has changed since this session started. Continue without it.',
    )
  })

  it('follows the links of a person', async () => {
    const here = place({ 'store/x.md': skill('notes') })
    here.link('home/.agents/skills/notes/SKILL.md', '../../../../store/x.md')
    expect(content(await loader(here)('notes'))).toContain('Do notes.')
  })
})
