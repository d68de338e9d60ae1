import { expect, test } from 'vitest'
import { colourPaint, fitWidth, paintFor, plainPaint, printable, printableText, widthOf, windowFor } from './paint.ts'

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
  ['echo hi\u001b]; rm -rf ~\u0007', 'echo hi]; rm -rf ~'],
  ['a\u001b[1;31mRED\u001b[0m \u001b[2J\u001b[H\u001b[?25lb\u009b31mc', 'aRED bc'],
  ['[31m is text', '[31m is text'],
  ['\u202eevil\u200b', 'evil'],
])('%j is printed as %j', (text, expected) => {
  expect(printable(text)).toBe(expected)
})

test.each([
  ['Final \u001b[31mRED\u001b[0m \u001b]0;title\u0007\u001b[2J\u001b[H\tdone\r\nnext', 'Final RED \tdone\nnext'],
  ['a\u001b[1\nb\u001b]0;t\nc\u0007', 'a\nb0;t\nc'],
  ['\u001b]0;title\u0007x', 'x'],
  ['\u001b]8;;https://a.example\u001b\\here\u001b]8;;\u001b\\', 'here'],
  ['\u001bPq#0\u001b\\a\u009dtitle\u009cb\u0090x\u0007c', 'abc'],
  ['a\u001b[1;31mRED\u001b[0m \u001b[2J\u001b[H\u001b[?25lb', 'aRED b'],
  ['a\u009b31mb\u001b(Bc\u001b7d\u001bce', 'abcde'],
  ['cut \u001b[3', 'cut '],
  ['cut \u001b', 'cut '],
  ['no end \u001b]0;title', 'no end 0;title'],
  ['not \u001b]0;in its line\nbut\u0007 here', 'not 0;in its line\nbut here'],
])('%j in several lines is printed as %j', (text, expected) => {
  expect(printableText(text)).toBe(expected)
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
