import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collectIncludes, folderIncludes, type IncludeFiles } from './includes.ts'

let root = ''
let base: IncludeFiles

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-includes-'))
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(root, name), content)
  for (const name of ['agents', 'agents/parts', 'agents-too']) mkdirSync(join(root, name))
  write('secret.md', 'secret')
  write('agents-too/near.md', 'near')
  write('agents/rules.md', '\uFEFFrules\r\nmore')
  write('agents/parts/a.md', '{% include "rules.md" %}')
  write('agents/.env', 'KEY=1')
  write('agents/keys.env', 'KEY=1')
  write('agents/binary.md', Uint8Array.from([65, 0, 66]))
  write('agents/latin.md', Uint8Array.from([65, 0xe9]))
  write('agents/large.md', 'x'.repeat(1_048_577))
  write('agents/half.md', 'x'.repeat(600_000))
  write('agents/half-too.md', 'x'.repeat(600_000))
  write('agents/self.md', 'a\n{% include "self.md" %}')
  write('agents/left.md', '{% include "right.md" %}')
  write('agents/right.md', '{% include "left.md" %}')
  for (let depth = 0; depth < 10; depth++) write(`agents/deep${depth}.md`, `{% include "deep${depth + 1}.md" %}`)
  for (let index = 0; index < 60; index++) write(`agents/many${index}.md`, 'x')
  symlinkSync(join(root, 'secret.md'), join(root, 'agents/link.md'))
  symlinkSync(join(root, 'agents-too'), join(root, 'agents/near'))
  symlinkSync(join(root, 'agents/.env'), join(root, 'agents/innocent.md'))
  symlinkSync(join(root, 'agents/rules.md'), join(root, 'agents/alias.md'))
  symlinkSync(join(root, 'agents/loop.md'), join(root, 'agents/loop.md'))
  symlinkSync(join(root, 'agents'), join(root, 'linked'))
  base = folderIncludes(join(root, 'agents'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const collect = (text: string, files: IncludeFiles | undefined = base): ReturnType<typeof collectIncludes> =>
  collectIncludes({ text, place: 'x.ai', firstLine: 3 }, files)

describe('inside', () => {
  test('files, files of files, links to files there', () => {
    const { texts, problems } = collect('{% include "parts/a.md" %}{% include "alias.md" %}')
    expect(problems).toEqual([])
    expect([...texts].map(([name, { text }]) => [name, text])).toEqual([
      ['parts/a.md', '{% include "rules.md" %}'],
      ['rules.md', 'rules\nmore'],
      ['alias.md', 'rules\nmore'],
    ])
  })
  test('a base that is itself behind a link', () => {
    expect(collect('{% include "rules.md" %}', folderIncludes(join(root, 'linked'))).problems).toEqual([])
  })
  test('what may be missing', () => {
    expect(collect('{% include "none.md" ignore missing %}{% include ["none.md", "rules.md"] %}').problems).toEqual([])
  })
})

describe('refused', () => {
  test.each([
    ['../secret.md', 'is outside the folder'],
    ['parts/../../secret.md', 'is outside the folder'],
    ['..\\secret.md', 'is outside the folder'],
    ['/etc/passwd', 'is an absolute path'],
    ['C:\\secret.md', 'is an absolute path'],
    ['\\\\server\\share', 'is an absolute path'],
    ['link.md', 'is outside the folder'],
    ['near/near.md', 'is outside the folder'],
    ['.env', 'is a hidden file'],
    ['keys.env', 'is a hidden file'],
    ['innocent.md', 'leads to a hidden file'],
    ['loop.md', 'cannot be read'],
    ['none.md', 'cannot be read'],
    ['parts', 'it is a folder'],
    ['.', 'is outside the folder'],
    ['', 'is not a path'],
    ['binary.md', 'the file is binary'],
    ['latin.md', 'the file is not UTF-8'],
    ['large.md', 'it is larger than'],
    ['self.md', 'includes itself'],
    ['left.md', 'includes itself'],
    ['deep0.md', 'is included more than 8 deep'],
  ])('%s', (name, message) => {
    const { problems } = collect(`a\n b{% include ${JSON.stringify(name)} %}`)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.message).toContain(message)
    if (!/self|left|deep/.test(name)) expect(problems[0]?.place).toBe('x.ai:4:3')
  })

  test('more than a prompt can be', () => {
    expect(collect('{% include "half.md" %}{% include "half-too.md" %}').problems).toMatchObject([
      { message: expect.stringContaining('`half-too.md` cannot be read: it is larger than') },
    ])
    const many = Array.from({ length: 60 }, (_, index) => `{% include "many${index}.md" %}`).join('')
    expect(collect(many).problems).toHaveLength(10)
  })

  test('computed names and optional includes are reported together', () => {
    const { problems } = collect('{% include agent.name %}{% include "link.md" ignore missing %}{% include "../a" %}')
    expect(problems.map(({ message }) => message)).toEqual([
      'the name of an included file must be a literal',
      '`link.md` is outside the folder of the agent file',
      '`../a` is outside the folder of the agent file',
    ])
  })

  test('a file that is a link by the time it is opened', () => {
    const planted = join(root, 'agents/planted.md')
    for (const target of ['secret.md', 'agents/.env']) {
      writeFileSync(planted, 'harmless')
      const realPath = (path: string): string => {
        const real = base.realPath(path)
        rmSync(planted)
        symlinkSync(join(root, target), planted)
        return real
      }
      const { texts, problems } = collect('{% include "planted.md" %}', { ...base, realPath })
      expect([[...texts], problems[0]?.message]).toEqual([[], '`planted.md` cannot be read: it was replaced while it was read'])
      rmSync(planted)
    }
  })

  test('everything, where nothing can be read', () => {
    expect(collectIncludes({ text: '{% include "rules.md" %}', place: 'x.ai', firstLine: 1 }, undefined).problems).toMatchObject([
      { message: '`rules.md` cannot be included: nothing can be read here' },
    ])
  })

  test.runIf(existsSync('/proc/self/status'))('a file that says it is empty, beyond the bound', () => {
    const folder = `/proc/${process.pid}`
    expect(() => folderIncludes(folder).readFile(`${folder}/status`, 10)).toThrow('it is larger than 10 bytes')
  })
})
