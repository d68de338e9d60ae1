import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ToolOutput } from '../../../src/contracts/index.ts'
import { compileGlob } from '../../../src/tools/builtin/files/glob.ts'
import { searchChunk } from '../../../src/tools/builtin/files/search/search-chunk.ts'
import { searchFilesTool } from '../../../src/tools/builtin/files/search-files.ts'
import { Walk } from '../../../src/tools/builtin/files/walk.ts'
import type { Workspace } from '../../../src/tools/workspace/index.ts'
import { scene, toolContext } from './scene.ts'

const matches = (pattern: string, path: string): boolean => compileGlob(pattern)(path)

const project = {
  'README.md': 'hello\n',
  '.gitignore': '# comment\n/dist/\n*.log\n!keep.log\ntemp\n',
  'src/a.ts': 'export const a = 1\n',
  'src/deep/b.test.ts': 'it works\n',
  'src/deep/.gitignore': 'secret*\n!secret.md\n',
  'src/deep/secret.txt': 'hidden\n',
  'src/deep/secret.md': 'shown\n',
  'dist/out.js': 'built\n',
  'src/dist/x.js': 'kept\n',
  'a.log': 'log\n',
  'keep.log': 'log\n',
  'src/temp/x': 'temp\n',
  'node_modules/m/index.js': 'module\n',
  '.git/config': 'git\n',
}

describe('list_files', () => {
  it('shows two levels in order, without what is ignored', async () => {
    const { say } = scene(project)
    expect(await say('list_files', {})).toBe(
      [
        '7 entries in the workspace, 2 levels deep.',
        '.gitignore',
        'README.md',
        'keep.log',
        'src/',
        'src/a.ts',
        'src/deep/',
        'src/dist/',
        '5 ignored entries omitted; include_ignored shows them.',
      ].join('\n'),
    )
  })

  it('goes deeper, takes patterns for names and paths, and shows ignored files on request', async () => {
    const { say } = scene(project)
    const rows = async (input: Parameters<typeof say>[1]): Promise<readonly string[]> =>
      (await say('list_files', input))
        .split('\n')
        .slice(1)
        .filter((row) => !row.includes(' omitted'))
    expect(await rows({ pattern: '*.ts' })).toEqual(['src/a.ts', 'src/deep/b.test.ts'])
    expect(await rows({ pattern: 'src/*.ts' })).toEqual(['src/a.ts'])
    expect(await rows({ pattern: '**/*.{test.ts,md}' })).toEqual(['README.md', 'src/deep/b.test.ts', 'src/deep/secret.md'])
    expect(await rows({ path: 'src', pattern: 'deep/*' })).toEqual(['src/deep/.gitignore', 'src/deep/b.test.ts', 'src/deep/secret.md'])
    expect(await rows({ path: 'src', depth: 1 })).toEqual(['src/a.ts', 'src/deep/', 'src/dist/'])
    expect(await rows({ pattern: '*.js', include_ignored: true })).toEqual(['dist/out.js', 'node_modules/m/index.js', 'src/dist/x.js'])
    // A folder that is named is wanted, ignored or not.
    expect(await rows({ path: 'node_modules/m' })).toEqual(['node_modules/m/index.js'])
  })

  it('ignores what git ignores', async () => {
    const { '.git/config': _, ...files } = project
    const { root, say } = scene(files)
    const rules = [
      '*.o',
      '/only-here',
      'any/where',
      'x/**/z',
      'q?',
      '[ab]c',
      '!important.o',
      '\\#hash',
      'dir/',
      'sp\\ ',
      '**/deep2/f',
      'b*/**',
      '!b*/keep',
    ]
    writeFileSync(join(root, '.gitignore'), rules.join('\n'))
    const paths = [
      'a.o',
      'important.o',
      'only-here',
      'src/only-here',
      'any/where',
      'src/any/where',
      'x/z',
      'x/1/2/z',
      'q1',
      'q12',
      'ac',
      'cc',
      '#hash',
      'dir',
      's/dir/f',
      'sp ',
      'm/deep2/f',
      'b1/f',
      'b1/keep',
      'b1/g/keep',
    ]
    for (const path of paths) {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), '')
    }
    execFileSync('git', ['init', '-q'], { cwd: root })
    const known = execFileSync('git', ['-c', 'core.quotePath=false', 'ls-files', '-co', '--exclude-standard', '-z'], {
      cwd: root,
      encoding: 'utf8',
    })
    const wanted = known.split('\0').filter((path) => path !== '' && !path.startsWith('node_modules/'))
    const rows = (await say('list_files', { pattern: '*' })).split('\n').slice(1, -1)
    expect(rows).toEqual(wanted.sort())
  })

  it('shows a name with line ends in it as one', async () => {
    const { say } = scene({ 'a\nsecret.txt': 'x\n' })
    expect(await say('list_files', {})).toContain('\n"a\\nsecret.txt"')
    expect(await say('search_files', { pattern: 'x' })).toContain('\n"a\\nsecret.txt"\n1: x')
  })

  it('says how much it does not show', async () => {
    const { root, say } = scene()
    for (let index = 0; index < 300; index++) writeFileSync(join(root, `file ${String(index).padStart(3, '0')}`), '')
    const answer = await say('list_files', {}, { maxOutputBytes: 2_000 })
    expect(Buffer.byteLength(answer)).toBeLessThan(2_000)
    const shown = answer.split('\n').length - 2
    expect(answer).toContain(`${300 - shown} more are not shown. Set path or pattern, or reduce depth.`)
  })
})

describe('a glob', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'a/b.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'a/b/c.ts', true],
    ['a/**', 'a/b/c', true],
    ['a/**/c', 'a/c', true],
    ['**/x/**/y', 'x/1/x/2/y', true],
    ['a?c', 'a😀c', true],
    ['[!a-c]x', 'dx', true],
    ['[!a-c]x', 'bx', false],
    ['[]x]', ']', true],
    ['[ab', '[ab', true],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['{a,b{c,d}}', 'bd', true],
    ['{a,b}', 'c', false],
    ['{a}', '{a}', true],
    ['a.{ts,js}', 'a.js', true],
  ])('%s and %s: %s', (pattern, path, fits) => {
    expect(matches(pattern, path)).toBe(fits)
  })

  it('takes bounded time, whatever the pattern', () => {
    const started = performance.now()
    expect(matches(`${'*a'.repeat(400)}b`, 'a'.repeat(4_000))).toBe(false)
    expect(matches(`${'**/a/'.repeat(200)}b`, 'a/'.repeat(1_000))).toBe(false)
    expect(matches('{a,b}'.repeat(200), 'ab'.repeat(100))).toBe(false)
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it('matches as a plain search through all ways does', () => {
    const slow = (pattern: string, name: string): boolean => {
      if (pattern === '') return name === ''
      if (pattern[0] === '*') return slow(pattern.slice(1), name) || (name !== '' && slow(pattern, name.slice(1)))
      return name !== '' && (pattern[0] === '?' || pattern[0] === name[0]) && slow(pattern.slice(1), name.slice(1))
    }
    const word = (letters: readonly string[]) => fc.array(fc.constantFrom(...letters), { maxLength: 8 }).map((list) => list.join(''))
    fc.assert(
      fc.property(word(['a', 'b', '*', '?']), word(['a', 'b']), (pattern, name) => {
        // Two stars alone are for folders.
        fc.pre(pattern !== '**')
        expect(matches(pattern, name)).toBe(slow(pattern, name))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('an ignore file that takes too long to match', () => {
  const slow = `${'**/a/'.repeat(20)}b`
  const deep = 'a/'.repeat(34)
  const there = scene({ [`${deep}x`]: 'text', [`${deep}x.log`]: '', '.gitignore': `*.log\n${slow}\n` })
  const walkOf = (workspace: Workspace) =>
    new Walk(workspace, { includesIgnored: false, depth: 64, signal: new AbortController().signal, mayShow: () => true })
  const namesOf = async (walk: Walk): Promise<readonly string[]> => {
    const names: string[] = []
    for await (const { place } of walk.below('.')) names.push(place.relative.slice(place.relative.lastIndexOf('/') + 1))
    return names
  }

  it('lets other work run meanwhile, however many patterns there are', async () => {
    const hard = Array.from({ length: 2_000 }, (_, index) => `*a*${'a'.repeat(100)}b${index}`).join('\n')
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${'a'.repeat(230)}${index}`, 'text']))
    const walk = walkOf(scene({ ...files, 'x.log': '', '.gitignore': `*.log\n${hard}` }).workspace)
    let turns = 0
    const count = (): void => {
      turns++
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    expect(await namesOf(walk)).toHaveLength(13)
    clearImmediate(immediate)
    expect(walk.leftOut.ignored).toBe(1)
    expect(turns).toBeGreaterThan(5)
  }, 60_000)

  it('takes bounded time, and is reported to the model', async () => {
    const answer = await there.say('list_files', { depth: 64 })
    expect(answer).toContain(`\n${deep}x\n`)
    expect(answer).toContain('take too long to match')
    expect(await scene(project).say('list_files', {})).not.toContain('too long')
  }, 60_000)

  it('is left when the call is stopped', async () => {
    const stop = new AbortController()
    let calls = 0
    const signal = Object.create(stop.signal, { aborted: { get: () => ++calls > 6 } }) as AbortSignal
    expect(await there.fail('list_files', { depth: 64 }, { signal })).toBe('cancelled: The call was stopped.')
  }, 60_000)
})

describe('search_files', () => {
  it('shows hits by file, with numbers and context', async () => {
    const { say } = scene({ 'b.ts': 'one\ntwo\nthree\nfour\nfive\nsix\nseven two\n', 'a.ts': 'two\r\nx\r\n', 'c.md': 'two\n' })
    expect(await say('search_files', { pattern: 't[wh]', glob: '*.ts' })).toBe(
      '4 hits for "t[wh]" in 2 files.\na.ts\n1: two\n\nb.ts\n2: two\n3: three\n7: seven two',
    )
    expect(await say('search_files', { pattern: 'two', path: 'b.ts', context: 1 })).toBe(
      '2 hits for "two" in 1 file.\nb.ts\n1- one\n2: two\n3- three\n--\n6- six\n7: seven two',
    )
  })

  it('is case-sensitive by default, and understands patterns as models write them', async () => {
    const { say, fail } = scene({ 'a.txt': 'Größe\nGRÖSSE\nfoo("bar")\na-b\n' })
    expect(await say('search_files', { pattern: 'größe' })).toContain('No hits')
    for (const input of [{ pattern: 'größe', ignore_case: true }, { pattern: '(?i)größe' }])
      expect(await say('search_files', input)).toContain('1: Größe')
    expect(await say('search_files', { pattern: '\\p{Lu}{3}' })).toContain('2: GRÖSSE')
    expect(await say('search_files', { pattern: 'foo\\(\\"' })).toContain('3: foo')
    expect(await say('search_files', { pattern: 'a\\-b$' })).toContain('4: a-b')
    expect(await fail('search_files', { pattern: 'foo(' })).toBe(
      'invalid_input: Invalid regular expression: /foo(/: Unterminated group. To search for this text literally, use "foo\\\\(".',
    )
  })

  it('leaves out ignored and binary files, and reports it where it finds nothing', async () => {
    const { say } = scene({ ...project, 'x.bin': new Uint8Array([0, ...Buffer.from('built')]) })
    expect(await say('search_files', { pattern: 'built' })).toBe(
      'No hits for "built" in 8 files.\n1 binary file omitted.\n6 ignored entries omitted; include_ignored searches them.',
    )
    expect(await say('search_files', { pattern: 'built', include_ignored: true })).toContain('dist/out.js\n1: built')
    expect(await say('search_files', { pattern: 'built', path: 'dist/out.js' })).toContain('1: built')
  })

  it('shows as many hits as asked for and there is room', async () => {
    const { say } = scene({ 'a.txt': 'hit\n'.repeat(500), 'b.txt': 'hit\n' })
    const rows = (await say('search_files', { pattern: 'hit', limit: 7 })).split('\n')
    expect([rows[0], rows.length, rows.at(-1)]).toEqual([
      'The first 7 hits for "hit" in 1 file.',
      10,
      'There may be more. Narrow the pattern, set path or glob, or raise limit.',
    ])
    const small = await say('search_files', { pattern: 'hit', limit: 1_000 }, { maxOutputBytes: 1_500 })
    expect(Buffer.byteLength(small)).toBeLessThan(1_500)
    expect(small).toContain('There may be more')
    expect(await say('search_files', { pattern: 'hit', limit: 1_000 })).toContain('501 hits for "hit" in 2 files.')
  })

  it('searches files of any size with the right numbers, and cuts endless lines around the hit', async () => {
    const lines = Array.from({ length: 300_000 }, (_, index) => `line ${index + 1}`)
    const { say } = scene({ 'big.txt': `${lines.join('\n')}\n`, 'min.js': `${'x'.repeat(1_500_000)}needle${'y'.repeat(1_000)}` })
    expect(await say('search_files', { pattern: 'line 299999$' })).toContain('big.txt\n299999: line 299999')
    const [, , row = ''] = (await say('search_files', { pattern: 'needle' })).split('\n')
    expect(row).toMatch(/^1: …x+needley+… \[columns \d+-\d+ of \d+\]$/)
    expect(row.length).toBeLessThan(400)
  })

  it.each(['^(a+)+$', '(a|a)*b', '(?:a*)*c', '.*.*.*.*.*.*.*.*=x'])('ends with a pattern that would not: %s', async (pattern) => {
    const { workspace } = scene({ 'a.txt': `fine\n${'a'.repeat(50_000)}!\n` })
    const started = performance.now()
    const output = (await searchFilesTool(workspace, { timeoutMs: 120 }).execute({ pattern }, toolContext())) as ToolOutput
    expect(output).toMatchObject({
      ok: false,
      error: { class: 'invalid_input', message: expect.stringContaining('The pattern takes too long') },
    })
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it('stops when aborted, in the middle of a pattern that would not end', async () => {
    const { call } = scene({ 'a.txt': `${'a'.repeat(50_000)}!\n` })
    const controller = new AbortController()
    const searching = call('search_files', { pattern: '^(a+)+$' }, { signal: controller.signal })
    setImmediate(() => controller.abort())
    expect(await searching).toMatchObject({ ok: false, error: { class: 'cancelled' } })
  })

  it('finds what a plain search finds, in pieces that follow each other', () => {
    const line = fc.constantFrom('a', 'ab', 'b', '', 'xaby', '😀ab', 'b\r')
    const lines = fc.array(line, { maxLength: 20 })
    fc.assert(
      fc.property(
        fc.tuple(lines, lines),
        fc.constantFrom('a', '^a', 'b$', 'ab', '^$', '😀'),
        fc.nat(3),
        ([first, second], source, context) => {
          const pattern = new RegExp(source, 'u')
          const search = (from: readonly string[], firstLine: number) =>
            searchChunk(Buffer.from(from.map((each) => `${each}\n`).join('')), { firstLine, pattern, context, mostHits: 1_000 })
          const before = search(first, 1)
          const after = search(second, 1 + before.lineEnds)
          const all = [...first, ...second].map((each) => each.replace('\r', ''))
          const hits = [...before.found, ...after.found].filter(({ isHit }) => isHit)
          expect(hits).toEqual(all.flatMap((text, index) => (pattern.test(text) ? [{ line: index + 1, text, isHit: true }] : [])))
          for (const { found } of [before, after])
            expect(found.map((each) => each.line)).toEqual([...new Set(found.map((each) => each.line))].sort((a, b) => a - b))
          const near = (index: number): boolean =>
            first.some((each, at) => Math.abs(at - index) <= context && pattern.test(each.replace('\r', '')))
          expect(before.found.map((each) => each.line)).toEqual(first.flatMap((_, index) => (near(index) ? [index + 1] : [])))
        },
      ),
      { numRuns: 500 },
    )
  })
})
