import { execFile } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contracts/index.ts'
import { png, pngOf } from '../../fixtures/pictures.ts'
import { scene } from './scene.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `row ${index + 1}\n`).join('')

describe('read_file', () => {
  it('shows lines with their numbers, how many there are, and how to continue', async () => {
    const { say } = scene({ 'a.txt': numbered(10) })
    expect(await say('read_file', { path: 'a.txt' })).toMatch(
      /^a\.txt: lines 1-10 of 10 lines \(61 bytes\)\.\n {5}1\trow 1\n[\s\S]*\n {4}10\trow 10\nEnd of the file\.$/,
    )
    expect(await say('read_file', { path: './a.txt', offset: 3, limit: 2 })).toBe(
      'a.txt: lines 3-4 of 10 lines (61 bytes).\n     3\trow 3\n     4\trow 4\nNext: read_file {"path":"a.txt","offset":5}',
    )
  })

  it('knows empty files, missing line ends, CRLF, the mark at the beginning and names of all kinds', async () => {
    const { say } = scene({ empty: '', 'open.txt': 'a\nb', 'crlf.txt': 'a\r\n\r\nb\r\n', 'bom.txt': '\uFEFFa\n', 'ü ñ/😀 "q".txt': 'x\n' })
    expect(await say('read_file', { path: 'empty' })).toBe('empty is empty (0 bytes).')
    expect(await say('read_file', { path: 'open.txt' })).toBe(
      'open.txt: lines 1-2 of 2 lines (3 bytes).\n     1\ta\n     2\tb\nEnd of the file.',
    )
    expect(await say('read_file', { path: 'crlf.txt' })).toBe(
      'crlf.txt: lines 1-3 of 3 lines (8 bytes).\n     1\ta\n     2\t\n     3\tb\nLines end with CRLF; edits keep that.\nEnd of the file.',
    )
    expect(await say('read_file', { path: 'bom.txt' })).toContain('     1\ta\n')
    expect(await say('read_file', { path: 'ü ñ/😀 "q".txt' })).toContain('     1\tx\n')
  })

  it('says what to do about a line past the end and about unknown names', async () => {
    const { fail } = scene({ 'src/index.ts': 'x\n', 'README.md': '', 'src/tools/shell.ts': '' })
    expect(await fail('read_file', { path: 'src/index.ts', offset: 2 })).toBe(
      'invalid_input: Line 2 is past the end of src/index.ts: it has 1 line. Use a line from 1 to 1.',
    )
    expect(await fail('read_file', { path: 'src/indx.ts' })).toBe(
      'invalid_input: src/indx.ts does not exist. Did you mean index.ts (in src)?',
    )
    expect(await fail('read_file', { path: 'readme.md' })).toContain('Did you mean README.md (in the root of the workspace)?')
    expect(await fail('read_file', { path: 'lib/shell.ts' })).toBe(
      'invalid_input: lib/shell.ts does not exist: the folder lib is missing. Did you mean src/tools/shell.ts?',
    )
  })

  it('reports kind and size of binary files, and shows no content', async () => {
    const { say } = scene({
      'a.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]),
      'a.bin': new Uint8Array([65, 66, 0, 67]),
      'a.pdf': '%PDF-1.7\n',
      'u16.txt': Buffer.from('\uFEFFhi', 'utf16le'),
      'b.txt': 'BM is how a bitmap begins, and this text\n',
    })
    expect(await say('read_file', { path: 'a.png' })).toBe('a.png is not a text file: PNG image, 10 bytes.')
    expect(await say('read_file', { path: 'a.bin' })).toContain('binary file, 4 bytes')
    expect(await say('read_file', { path: 'a.pdf' })).toContain('PDF document')
    expect(await say('read_file', { path: 'u16.txt' })).toContain('UTF-16 text')
    expect(await say('read_file', { path: 'b.txt' })).toContain('     1\tBM is')
  })

  it('gives an image as a part, for models that read images', async () => {
    const { call } = scene({ 'a.png': png, 'large.png': pngOf(10 * 1024 ** 2 + 1) })
    expect(await call('read_file', { path: 'a.png' })).toEqual({
      ok: true,
      content: `a.png is not a text file: PNG image, ${png.length} bytes.`,
      parts: [{ type: 'image', mediaType: 'image/png', data: png }],
    })
    expect(await call('read_file', { path: 'large.png' })).not.toHaveProperty('parts')
  })

  it('shows other encodings as well as it can, and reports it', async () => {
    const { say } = scene({ 'latin.txt': Buffer.from('caf\xe9\nplain\n', 'latin1') })
    expect(await say('read_file', { path: 'latin.txt' })).toBe(
      'latin.txt: lines 1-2 of 2 lines (11 bytes).\n     1\tcaf\uFFFD\n     2\tplain\nNot all of it is UTF-8; other bytes are shown as \uFFFD.\nEnd of the file.',
    )
  })

  it('cuts endless lines between letters', async () => {
    const { say } = scene({ 'long.txt': `${'😀'.repeat(5_000)}\nshort\n` })
    const answer = await say('read_file', { path: 'long.txt' })
    expect(answer.isWellFormed()).toBe(true)
    expect(answer.split('\n').slice(1, 3)).toEqual([`     1\t${'😀'.repeat(1_000)} [cut: the line has 20,000 bytes]`, '     2\tshort'])
  })

  it('answers within what a model is shown, and its advice leads through the whole file', async () => {
    const there = scene()
    const line = fc.constantFrom('', 'a', 'ä😀', 'x'.repeat(300), 'word '.repeat(30), '\t\r')
    const text = fc.tuple(fc.array(line, { minLength: 1, maxLength: 120 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1_200, max: 5_000 }), async ([lines, isEnded], maxOutputBytes) => {
        const asInteger = lines.join('\n') + (isEnded ? '\n' : '')
        fc.pre(asInteger !== '')
        writeFileSync(join(there.root, 'a.txt'), asInteger)
        const seen: string[] = []
        let next: JsonObject | undefined = { path: 'a.txt' }
        while (next) {
          const answer: string = await there.say('read_file', next, { maxOutputBytes })
          expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(maxOutputBytes)
          seen.push(...answer.split('\n').flatMap((row) => /^ *\d+\t([\s\S]*)$/.exec(row)?.[1] ?? []))
          const more = /^Next: read_file (\{.*\})$/m.exec(answer)?.[1]
          next = more === undefined ? undefined : (JSON.parse(more) as JsonObject)
        }
        const all = asInteger.endsWith('\n') ? asInteger.slice(0, -1).split('\n') : asInteger.split('\n')
        expect(seen).toEqual(all.map((each) => each.replace(/\r$/, '')))
      }),
      { numRuns: 40 },
    )
  })

  it('stops when aborted', async () => {
    const { call } = scene({ 'a.txt': numbered(10) })
    const controller = new AbortController()
    controller.abort()
    expect(await call('read_file', { path: 'a.txt' }, { signal: controller.signal })).toEqual({
      ok: false,
      error: { class: 'cancelled', message: 'The call was stopped.' },
    })
  })
})

describe('a file of 200 MB', () => {
  it('is read from a line on in little memory', async () => {
    const { root } = scene({ 'huge.txt': numbered(2_000), 'small.txt': 'x\n' })
    // A hole of 200 MB is one line; after it come some more.
    truncateSync(join(root, 'huge.txt'), 200 * 1024 * 1024)
    writeFileSync(join(root, 'huge.txt'), `\n${numbered(50_000)}`, { flag: 'a' })
    const fixture = join(import.meta.dirname, 'fixtures/read-huge.ts')
    const { stdout } = await promisify(execFile)(process.execPath, [fixture, root])
    const { content, grownMb } = JSON.parse(stdout) as { content: string; grownMb: number }
    expect(content.split('\n').slice(0, 2)).toEqual([
      'huge.txt: lines 40000-40002 of 52,001 lines (210,204,095 bytes).',
      ' 40000\trow 37999',
    ])
    expect(grownMb).toBeLessThan(48)
  })
})
