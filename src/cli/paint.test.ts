import { expect, test } from 'vitest'
import { colourPaint, fitWidth, paintFor, plainPaint, printable, widthOf, windowFor } from './paint.ts'

test('colours only on a terminal that wants them', () => {
  expect(windowFor({ isTTY: true }, {})).toBe('terminal')
  expect(windowFor({ isTTY: true }, { NO_COLOR: '' })).toBe('terminal')
  expect(windowFor({ isTTY: true }, { NO_COLOR: '1' })).toBe('plain')
  expect(windowFor({ isTTY: true }, { TERM: 'dumb' })).toBe('plain')
  expect(windowFor({}, {})).toBe('plain')
  expect([paintFor('terminal'), paintFor('plain')]).toEqual([colourPaint, plainPaint])
})

test.each([
  ['a\n\n b\tc', 'a b c'],
  ['\u001b]0;title\u0007x', ']0;titlex'],
  ['\u202eevil\u200b', 'evil'],
])('%j is printed as %j', (text, expected) => {
  expect(printable(text)).toBe(expected)
})

test.each([
  ['abc', 5, 'abc  '],
  ['abcdef', 4, 'abc…'],
  ['日本語', 4, '日… '],
  ['🎉🎉', 4, '🎉🎉'],
  ['e\u0301e\u0301', 3, 'e\u0301e\u0301 '],
])('%s in %d columns', (text, width, expected) => {
  expect(fitWidth(text, width)).toBe(expected)
  expect(widthOf(expected)).toBe(width)
})

test.each([
  ['✓ ⠋ │ → … ∥ ◷ ⋯', 15],
  ['日本語', 6],
  ['한국어', 6],
  ['ｆｕｌｌ', 8],
  ['🎉', 2],
  ['👍🏽', 2],
  ['❤️', 2],
  ['🇳🇴', 2],
  ['𠮷', 2],
  ['é', 1],
  ['\u0301', 0],
  ['ไทย', 3],
  ['', 0],
])('%s takes %d columns', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

test.each([
  ['abc', 0],
  ['日本', 1],
  ['🎉', 0],
])('%s in %d columns is no wider', (text, width) => {
  expect(widthOf(fitWidth(text, width))).toBe(width)
})
