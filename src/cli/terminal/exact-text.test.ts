import { describe, expect, test } from 'vitest'
import { exactLine, exactLines, exactText } from './exact-text.ts'

test.each([
  ['plain  text,\ttabs\nand lines ', 'plain  text,\ttabs\nand lines '],
  ['\u001b[31mred\u0007', '<U+001B>[31mred<U+0007>'],
  ['a\rb', 'a<U+000D>b'],
  ['abc\u202edcba', 'abc<U+202E>dcba'],
  ['zero\u200bwidth, joined\u200d, filled\u3164', 'zero<U+200B>width, joined<U+200D>, filled<U+3164>'],
  ['no\u00a0break, line\u2028end', 'no<U+00A0>break, line<U+2028>end'],
  ['half \ud83d', 'half <U+D83D>'],
  ['tag \u{e0041}', 'tag <U+E0041>'],
  ['Füße, 日本語, 😀', 'Füße, 日本語, 😀'],
  ['a\u200db, 😀\u200d, \u200d😀, 😀\u200d\u200d😀', 'a<U+200D>b, 😀<U+200D>, <U+200D>😀, 😀<U+200D><U+200D>😀'],
  ['1\u200d2, 😀\ufe0f, a\ufe0f, ❤\ufe0f\ufe0f', '1<U+200D>2, 😀<U+FE0F>, a<U+FE0F>, ❤\ufe0f<U+FE0F>'],
])('what cannot be seen is shown by its number: %j', (text, shown) => {
  expect(exactText(text)).toBe(shown)
})

test.each(['👩\u200d👩\u200d👧\u200d👦', '👩🏽\u200d💻', '❤\ufe0f\u200d🔥', '🏴\u200d☠\ufe0f', '❤\ufe0f', '👍🏽', '🏃\u200d♀\ufe0f'])(
  'an emoji is one, however it is spelt: %s',
  (emoji) => {
    expect(exactText(`a ${emoji} b`)).toBe(`a ${emoji} b`)
    expect(exactLines(emoji, 2)).toEqual([emoji])
  },
)

test('in one line, with its ends to be seen', () => {
  expect(exactLine(' Run echo safe #\n  touch\tpwned\u0007\n')).toBe('Run echo safe # ⏎ touch pwned<U+0007>')
})

describe('lines', () => {
  test('nothing is lost at a break', () => {
    expect(exactLines('abcdefgh ij', 4)).toEqual(['abcd', 'efgh', ' ij'])
    expect(exactLines('日本語', 4)).toEqual(['日本', '語'])
  })
  test('empty ones and the end of the last one are seen', () => expect(exactLines('a\n\nb\n', 9)).toEqual(['a', '', 'b', '']))
  test('a tab is as wide as it looks', () => expect(exactLines('a\tb', 20)).toEqual(['a       b']))
  test('a width that leaves no room still shows everything', () => expect(exactLines('abc', 0)).toEqual(['a', 'b', 'c']))
})
