import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectContext } from '../../src/tools/project-context/project-context.ts'
import { findProjectRoot } from '../../src/tools/project-context/project-files.ts'
import { place } from './place.ts'

describe('the root of a project', () => {
  it('is the nearest folder with a mark', () => {
    const here = place({ 'project/.git': 'gitdir: elsewhere', 'project/a/.ai-agent.json': '{}', 'project/b/c/x': '' })
    mkdirSync(join(here.project, 'd/.git'), { recursive: true })
    writeFileSync(join(here.project, 'd/.git/HEAD'), 'ref: refs/heads/main\n')
    // What a command is shown in place of a repository.
    mkdirSync(join(here.project, 'b/c/.git'), { recursive: true })
    const root = (folder: string): string => findProjectRoot(join(here.project, folder)).replace(`${here.path}/`, '')
    expect([root('b/c'), root('a'), root('d'), root('.')]).toEqual(['project', 'project/a', 'project/d', 'project'])
  })

  it('is the working directory where nothing says otherwise', () => {
    const here = place({ 'project/a/x': '' })
    expect(findProjectRoot(join(here.project, 'a'))).toBe(join(here.project, 'a'))
  })
})

describe('AGENTS.md', () => {
  const context = (here: ReturnType<typeof place>, folder = '.') => {
    const { texts, problems } = projectContext({ workingDirectory: join(here.project, folder), projectRoot: here.project })
    const short = (path: string): string => path.replace(`${here.project}/`, '')
    return {
      texts: texts.map(({ source, text }) => [short(source), text] as const),
      problems: problems.map(({ place: at, message }) => `${short(at)} ${message}`),
    }
  }

  it('is read from the root to the working directory, the nearest last', () => {
    const here = place({
      'AGENTS.md': 'above',
      'project/AGENTS.md': '\uFEFFroot\r\nrules\n',
      'project/a/AGENTS.md': ' \n',
      'project/a/b/AGENTS.md': 'near',
      'project/a/b/c/AGENTS.md': 'below',
    })
    expect(context(here, 'a/b')).toEqual({
      texts: [
        ['AGENTS.md', 'root\nrules'],
        ['a/b/AGENTS.md', 'near'],
      ],
      problems: [],
    })
  })

  it('is nothing if there is none', () => {
    expect(context(place())).toEqual({ texts: [], problems: [] })
  })

  it('is read from the working directory alone where that is not in the project', () => {
    const here = place({ 'project/AGENTS.md': 'root', 'home/AGENTS.md': 'home' })
    expect(projectContext({ workingDirectory: here.home, projectRoot: here.project }).texts).toEqual([
      { source: join(here.home, 'AGENTS.md'), text: 'home' },
    ])
  })

  it('is cut at 32 KB, between lines and letters, and reports it', () => {
    const line = `${'é'.repeat(50)}\n`
    const here = place({ 'project/AGENTS.md': line.repeat(500), 'project/a/AGENTS.md': 'é'.repeat(20_000) })
    const { texts, problems } = context(here, 'a')
    const [first, second] = texts.map(([, text]) => text)
    expect(first?.split('\n').slice(-2)).toEqual(['é'.repeat(50), '[… the rest of this file is omitted]'])
    expect(second?.replaceAll('é', '')).toBe('\n[… the rest of this file is omitted]')
    for (const [, text] of texts) expect(Buffer.byteLength(text)).toBeLessThan(33_000)
    expect(problems).toEqual([
      expect.stringMatching(/^AGENTS\.md only the first 327\d\d of 50500 bytes of AGENTS\.md are used$/),
      'a/AGENTS.md only the first 32768 of 40000 bytes of AGENTS.md are used',
    ])
  })

  it('is dropped for nearer files if 64 KB are full', () => {
    const files = ['', 'a/', 'a/b/', 'a/b/c/'].map((folder) => [`project/${folder}AGENTS.md`, `${folder} `.padEnd(30_000, 'x')])
    const { texts, problems } = context(place(Object.fromEntries(files)), 'a/b/c')
    expect(texts.map(([source, { length }]) => [source, length > 29_000])).toEqual([
      ['a/AGENTS.md', false],
      ['a/b/AGENTS.md', true],
      ['a/b/c/AGENTS.md', true],
    ])
    expect(problems).toEqual([
      'AGENTS.md AGENTS.md is left out: files nearer to the working directory use all 65536 bytes',
      expect.stringMatching(/^a\/AGENTS\.md only the first 55\d\d of 30000 bytes of AGENTS\.md are used$/),
    ])
  })

  it('is left out where it is no text, no file, or leads elsewhere', () => {
    const here = place({
      'outside.md': 'secret',
      'project/docs/shared.md': 'shared',
      'project/AGENTS.md': Buffer.from([0xff, 0xfe, 0x41]),
      'project/a/AGENTS.md': 'a\0b',
    })
    mkdirSync(join(here.project, 'a/b/AGENTS.md'), { recursive: true })
    here.link('project/a/b/c/AGENTS.md', '../../../../outside.md')
    here.link('project/a/b/c/d/AGENTS.md', 'AGENTS.md')
    here.link('project/a/b/c/d/e/AGENTS.md', '../../../../../docs/shared.md')
    mkdirSync(join(here.project, 'a/b/c/d/e/f'))
    execFileSync('mkfifo', [join(here.project, 'a/b/c/d/e/f/AGENTS.md')])
    expect(context(here, 'a/b/c/d/e/f')).toEqual({
      texts: [['a/b/c/d/e/AGENTS.md', 'shared']],
      problems: [
        'AGENTS.md AGENTS.md is left out: it is not UTF-8 text',
        'a/AGENTS.md AGENTS.md is left out: it is not UTF-8 text',
        'a/b/AGENTS.md AGENTS.md is left out: it is a folder',
        'a/b/c/AGENTS.md AGENTS.md is left out: it is a link to a file outside the project',
        'a/b/c/d/AGENTS.md AGENTS.md is left out: its symbolic links form a cycle',
        'a/b/c/d/e/f/AGENTS.md AGENTS.md is left out: it is not a regular file',
      ],
    })
  })

  it('is left out where it leads to keys, or to what nobody sees', () => {
    const here = place({
      'project/.ai-agent.env': 'ANTHROPIC_API_KEY=sk-ant-SECRET\n',
      'project/state/journal': 'SECRET',
      'project/keys.txt': 'OPENAI_API_KEY=sk-SECRET\n',
    })
    here.link('project/AGENTS.md', '.ai-agent.env')
    here.link('project/a/.ai-agent.env', '../keys.txt')
    here.link('project/a/AGENTS.md', '.ai-agent.env')
    here.link('project/a/b/AGENTS.md', '../../state/journal')
    const hidden = [join(here.project, 'state'), join(here.project, 'a/.ai-agent.env')]
    const { texts, problems } = projectContext({ workingDirectory: join(here.project, 'a/b'), projectRoot: here.project, hidden })
    const remedy = 'Remove the link.'
    const unseen = 'AGENTS.md is left out: it is in a private folder of this program'
    expect({ texts, problems }).toEqual({
      texts: [],
      problems: [
        { place: join(here.project, 'AGENTS.md'), message: 'AGENTS.md is left out: it contains keys, which no tool may read', remedy },
        { place: join(here.project, 'a/AGENTS.md'), message: unseen, remedy },
        { place: join(here.project, 'a/b/AGENTS.md'), message: unseen, remedy },
      ],
    })
  })

  it('is read where journals are kept right in the project', () => {
    const here = place({ 'project/AGENTS.md': 'rules' })
    const { texts } = projectContext({ workingDirectory: here.project, projectRoot: here.project, hidden: [here.project] })
    expect(texts.map(({ text }) => text)).toEqual(['rules'])
  })
})
