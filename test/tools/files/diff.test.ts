import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyHunks } from '../../../src/tools/builtin/files/patch/apply-hunks.ts'
import { parsePatch } from '../../../src/tools/builtin/files/patch/parse-patch.ts'
import type { FilePatch } from '../../../src/tools/builtin/files/patch/patch-types.ts'
import { unifiedDiff } from '../../../src/tools/builtin/files/unified-diff.ts'

const unlimited = Number.MAX_SAFE_INTEGER
const diffOf = async (before: string, after: string): Promise<string> =>
  (await unifiedDiff({ before, after, path: 'a.txt' }, unlimited)).diff

function patched(before: string, diff: string): string {
  const [file] = parsePatch(diff) as readonly [Extract<FilePatch, { kind: 'update' }>]
  const applied = applyHunks(before, file.hunks)
  if (!applied.ok) throw new Error(`hunk ${applied.index} does not apply`)
  return applied.text
}

/** Lines that repeat, look like parts of a patch, and end in every way. */
const line = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  ' ',
  '-',
  '+',
  '-- x',
  '++ y',
  '@@ -1 +1 @@',
  '*** End Patch',
  '\\ No newline',
  '\t}',
  'ä😀',
  'x\r',
  '\r',
)
const text = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.boolean())
  .map(([lines, isEnded]) => (lines.length === 0 ? '' : lines.join('\n') + (isEnded ? '\n' : '')))

describe('a unified diff', () => {
  it('applied to the old text is the new text', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== after)
        expect(patched(before, await diffOf(before, after))).toBe(after)
      }),
      { numRuns: 3_000 },
    )
  })

  it('is small where few lines change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { minLength: 30, maxLength: 200 }), fc.nat(), fc.string(), async (list, at, fresh) => {
        const lines = list.map((each, index) => `${index} ${each.replaceAll('\n', '')}\n`)
        const changed = lines.toSpliced(at % lines.length, 1, `${fresh.replaceAll('\n', '')} fresh\n`)
        const { added, removed, diff } = await unifiedDiff({ before: lines.join(''), after: changed.join(''), path: 'a' }, unlimited)
        expect([added, removed, diff.split('\n').length <= 12]).toEqual([1, 1, true])
      }),
      { numRuns: 100 },
    )
  })

  it('looks as git shows it', async () => {
    const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven'
    const after = 'one\ntwo\n3\nfour\nfive\nsix\nseven\neight\nnine\nten\nnew\neleven\n'
    expect(await diffOf(before, after)).toBe(
      [
        '--- a/a.txt',
        '+++ b/a.txt',
        '@@ -1,6 +1,6 @@',
        ' one',
        ' two',
        '-three',
        '+3',
        ' four',
        ' five',
        ' six',
        '@@ -8,4 +8,5 @@',
        ' eight',
        ' nine',
        ' ten',
        '-eleven',
        '\\ No newline at end of file',
        '+new',
        '+eleven',
        '',
      ].join('\n'),
    )
  })

  it('names new and deleted files, and quotes paths where needed', async () => {
    expect((await unifiedDiff({ before: undefined, after: 'x\n', path: 'a "b".txt' }, unlimited)).diff).toBe(
      '--- /dev/null\n+++ "b/a \\"b\\".txt"\n@@ -0,0 +1 @@\n+x\n',
    )
    expect((await unifiedDiff({ before: 'x\n', after: undefined, path: 'ä.txt' }, unlimited)).diff).toBe(
      '--- a/ä.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    )
  })

  it('is cut where it is too long, and reports it; the figures are still complete', async () => {
    const after = Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join('')
    const { diff, added } = await unifiedDiff({ before: undefined, after, path: 'a' }, 2_000)
    expect(added).toBe(5_000)
    expect(JSON.stringify(diff).length).toBeLessThan(2_100)
    expect(diff).toMatch(/… the diff is cut: 4\d\d\d more lines\n$/)
  })
})

describe('the changed lines', () => {
  const asText = (lines: readonly string[]): string => lines.map((each) => `${each}\n`).join('')
  const compare = (older: readonly string[], newer: readonly string[]) =>
    unifiedDiff({ before: asText(older), after: asText(newer), path: 'a' }, unlimited)

  it('are as few as possible for short texts', async () => {
    const short = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(short, short, async (a, b) => {
        const { added, removed } = await compare(a, b)
        expect(added + removed).toBe(a.length + b.length - 2 * longestCommon(a, b))
      }),
      { numRuns: 1_000 },
    )
  })

  it('take bounded time, whatever the texts, and stay right', async () => {
    const count = 60_000
    const lines = (make: (index: number) => string): readonly string[] => Array.from({ length: count }, (_, index) => make(index))
    const unlike: (readonly [readonly string[], readonly string[]])[] = [
      [lines((index) => `a${index}`), lines((index) => `b${index}`)],
      [lines((index) => `${index % 7}`), lines((index) => `${(index * 31) % 11}`)],
      [lines((index) => `${index}`), lines((index) => (index > 9 && index < count - 9 && index % 3 === 0 ? `x${index}` : `${index}`))],
      [lines((index) => `${index}`), lines((index) => `${count - index}`)],
    ]
    for (const [older, newer] of unlike) {
      const started = performance.now()
      const { diff } = await compare(older, newer)
      expect(performance.now() - started).toBeLessThan(20_000)
      expect(patched(asText(older), diff) === asText(newer)).toBe(true)
    }
  }, 60_000)

  it('are found one by one in a long text', async () => {
    const older = Array.from({ length: 30_000 }, (_, index) => `line ${index}`)
    const newer = older.map((each, index) => (index % 100 === 5 ? `${each} changed` : each))
    expect(await compare(older, newer)).toMatchObject({ added: 300, removed: 300 })
  })
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let last = new Array<number>(b.length + 1).fill(0)
  for (const one of a) {
    const row = [0]
    for (const [index, other] of b.entries()) row.push(one === other ? last[index]! + 1 : Math.max(last[index + 1]!, row[index]!))
    last = row
  }
  return last[b.length]!
}
