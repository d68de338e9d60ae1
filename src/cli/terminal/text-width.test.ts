import { expect, test } from 'vitest'
import { fitWidth, widthOf } from './text-width.ts'

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
