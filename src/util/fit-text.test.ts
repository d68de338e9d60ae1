import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitText, utf8Length } from './fit-text.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
const long = fc
  .tuple(
    fc.array(fc.oneof(anyText, fc.constantFrom('\n', 'a line\n', '😀😀😀', '\ud800', 'ü')), { minLength: 1 }),
    fc.integer({ min: 1, max: 300 }),
  )
  .map(([parts, times]) => parts.join('').repeat(times))

describe('utf8Length', () => {
  it('counts as the platform does', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, long), (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text))
      }),
    )
  })

  it('counts halves of pairs as the mark that replaces them', () => {
    expect(['\ud800', '\udc00', '\ud800\ud800\udc00', 'a\udc00\ud800'].map((text) => utf8Length(text))).toEqual([3, 3, 7, 7])
  })

  it('stops beyond its limit', () => {
    fc.assert(
      fc.property(long, fc.integer({ min: 0, max: 500 }), (text, limit) => {
        const whole = Buffer.byteLength(text)
        const counted = utf8Length(text, limit)
        expect(whole <= limit ? counted === whole : counted > limit).toBe(true)
      }),
    )
  })
})

describe('fitText', () => {
  it('leaves alone what fits', () => {
    const text = 'é'.repeat(256)
    expect(fitText(text, { maxBytes: 512, handle: 'b1' })).toBe(text)
  })

  it('shows head and tail at line ends and says how to get the rest', () => {
    const text = Array.from({ length: 1_000 }, (_, index) => `line ${index + 1}\n`).join('')
    const fitted = fitText(text, { maxBytes: 600, handle: 'b1' })
    const lines = fitted.split('\n')
    const mark = lines.findIndex((line) => line.startsWith('…'))
    expect({ first: lines[0], last: lines.at(-2), mark: lines[mark], before: lines[mark - 1], after: lines[mark + 1] }).toEqual({
      first: 'line 1',
      last: 'line 1000',
      mark: '… 8,397 of 8,893 bytes left out; read_output {"handle":"b1"} pages or searches the whole …',
      before: 'line 45',
      after: 'line 985',
    })
    expect(utf8Length(fitted)).toBeLessThanOrEqual(600)
  })

  it('cuts a line that is longer than the room', () => {
    const fitted = fitText('x'.repeat(50_000), { maxBytes: 1_024, handle: 'b1' })
    expect(fitted.split('\n').map((line) => line.length)).toEqual([648, 92, 278])
    expect(utf8Length(fitted)).toBe(1_024)
  })

  it('is never larger than allowed, never halves a pair, and counts what it leaves out', () => {
    fc.assert(
      fc.property(long, fc.integer({ min: 512, max: 4_000 }), fc.string({ maxLength: 30 }), (text, maxBytes, handle) => {
        const fitted = fitText(text, { maxBytes, handle })
        fc.pre(Buffer.byteLength(text) > maxBytes)
        expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(maxBytes)
        const [, left, total] = /… ([\d,]+) of ([\d,]+) bytes left out; read_output/.exec(fitted) ?? []
        expect(total?.replaceAll(',', '')).toBe(String(Buffer.byteLength(text)))
        expect(Number(left?.replaceAll(',', ''))).toBeGreaterThanOrEqual(Buffer.byteLength(text) - maxBytes)
        if (text.isWellFormed()) expect(fitted.isWellFormed()).toBe(true)
      }),
    )
  })

  it('uses most of the room', () => {
    fc.assert(
      fc.property(long, fc.integer({ min: 2_000, max: 4_000 }), (text, maxBytes) => {
        fc.pre(Buffer.byteLength(text) > maxBytes)
        expect(Buffer.byteLength(fitText(text, { maxBytes, handle: 'b1' }))).toBeGreaterThan(maxBytes * 0.7)
      }),
    )
  })
})
