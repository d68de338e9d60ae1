import { expect, test } from 'vitest'
import { printable, printableText } from './printable.ts'

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
