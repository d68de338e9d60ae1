// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TroupeError } from '../../../contracts/index.ts'
import { parseEnv } from './env-file.ts'

const read = (content: string | Uint8Array) => Object.fromEntries([...parseEnv(content, 'x.env')].map(([name, { value }]) => [name, value]))

function problems(content: string | Uint8Array): readonly string[] {
  try {
    parseEnv(content, 'x.env')
  } catch (error) {
    if (error instanceof TroupeError) return error.problems.map(({ place, message }) => `${place} ${message}`)
    throw error
  }
  return []
}

describe('a .env file', () => {
  test.each([
    ['A=1', { A: '1' }],
    ['A = 1 ', { A: '1' }],
    ['  export  A=1', { A: '1' }],
    ['export=1', { export: '1' }],
    ['A=', { A: '' }],
    ['A=a=b', { A: 'a=b' }],
    ['A=one two', { A: 'one two' }],
    ['A=1 # one', { A: '1' }],
    ['A= # nothing', { A: '' }],
    ['A=#fff', { A: '#fff' }],
    ['A=http://x/#top', { A: 'http://x/#top' }],
    ['A="1 # one" # two', { A: '1 # one' }],
    [String.raw`A="a\nb\"c\\d"`, { A: 'a\nb"c\\d' }],
    [String.raw`A='a\nb"c'`, { A: String.raw`a\nb"c` }],
    ['A="${B} $(id) `id`"', { A: '${B} $(id) `id`' }],
    ["A=it's", { A: "it's" }],
    ['# c\n\n  \n  # d\nA=1', { A: '1' }],
    ['\uFEFFA=1\r\nB="2"\r\n', { A: '1', B: '2' }],
    ['__proto__=1', Object.fromEntries([['__proto__', '1']])],
    ['', {}],
  ])('%j', (text, expected) => {
    expect(read(text)).toEqual(expected)
    expect(read(new TextEncoder().encode(text))).toEqual(expected)
  })

  test.each([
    ['sk-live-1234', ['x.env:1:1 a line must be `KEY=VALUE`']],
    ['  =1', ['x.env:1:3 this is not a valid variable name']],
    ['export 1A=1', ['x.env:1:8 this is not a valid variable name']],
    ['A B=1', ['x.env:1:1 this is not a valid variable name']],
    ['A=1\nB=2\nA=3', ['x.env:3:1 `A` is set twice, first in line 1']],
    ['A="1', ['x.env:1:3 `A`: the quote is never closed']],
    ["A= '1", ['x.env:1:4 `A`: the quote is never closed']],
    ['A="1" 2', ['x.env:1:6 `A`: text follows the closing quote']],
    ['A="1"#2', ['x.env:1:6 `A`: text follows the closing quote']],
    [String.raw`A="1\t2"`, ['x.env:1:5 `A`: unknown escape `\\t`; only `\\n`, `\\"` and `\\\\` are known']],
    [
      'x\nA="\n1=2',
      ['x.env:1:1 a line must be `KEY=VALUE`', 'x.env:2:3 `A`: the quote is never closed', 'x.env:3:1 this is not a valid variable name'],
    ],
    ['A=\0', ['x.env:1:3 the file is binary']],
    [new Uint8Array([65, 61, 0xff]), ['x.env:1:3 the file is not UTF-8']],
    ['A'.repeat(300_000), ['x.env:1:1 the file is larger than 262144 bytes']],
  ])('%j is wrong', (text, expected) => {
    expect(problems(text)).toEqual(expected)
  })

  test('shows no line of the file, since it may be a secret', () => {
    const [problem] = (() => {
      try {
        parseEnv('sk-live-1234', 'x.env')
      } catch (error) {
        return (error as TroupeError).problems
      }
      return []
    })()
    expect(problem).toEqual({
      place: 'x.env:1:1',
      message: 'a line must be `KEY=VALUE`',
      remedy: 'Write it like `KEY=VALUE` or `KEY="VALUE"`.',
    })
  })

  test('gives back what was written in double quotes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\0]/.test(text)),
        (value) => {
          const written = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
          expect(read(`A="${written}"`)).toEqual({ A: value })
        },
      ),
    )
  })

  test('takes no longer than its length', () => {
    for (const hostile of [' '.repeat(250_000), `A="${'\\"'.repeat(120_000)}`, `A=${' #'.repeat(120_000)}`, `A=${' '.repeat(250_000)}x`]) {
      const start = performance.now()
      problems(hostile)
      expect(performance.now() - start).toBeLessThan(20_000)
    }
  })
})
