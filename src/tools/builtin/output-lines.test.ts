import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldCase, OutputLines } from './output-lines.ts'

const text = fc.array(fc.constantFrom('\n', '\r\n', 'a', 'bc', '😀'), { maxLength: 30 }).map((parts) => parts.join(''))

describe('OutputLines', () => {
  it('has the lines that splitting gives', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const lines = new OutputLines(whole)
        const split = whole === '' ? [] : whole.replace(/\n$/, '').split('\n')
        expect(Array.from({ length: lines.count }, (_, index) => whole.slice(lines.start(index + 1), lines.end(index + 1)))).toEqual(
          split.map((line) => line.replace(/\r$/, '')),
        )
      }),
    )
  })

  it('knows the line of every position', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const lines = new OutputLines(whole)
        for (let position = 0; position < whole.length; position++) {
          expect(lines.lineOf(position)).toBe(whole.slice(0, position).split('\n').length)
        }
      }),
    )
  })
})

describe('foldCase', () => {
  it('keeps the length, so that places stay places', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (whole) => {
        expect(foldCase(whole).length).toBe(whole.length)
      }),
      { numRuns: 2_000 },
    )
    expect(foldCase('İstanbul ΣΑΣ ẞ')).toHaveLength('İstanbul ΣΑΣ ẞ'.length)
  })
})
