import { expect, it } from 'vitest'
import { shellWord } from './shell-word.ts'

it.each([
  ['a/b.ts', 'a/b.ts'],
  ['HEAD^', 'HEAD^'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$HOME', "'$HOME'"],
  ['~', "'~'"],
  ['a\nb', "'a\nb'"],
  ['*', "'*'"],
])('%j is written as %j', (word, written) => {
  expect(shellWord(word)).toBe(written)
})
