import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { typedWord } from './typed-word.ts'

test('words that can be seen are quoted as always', () => {
  expect(['a.ai', 'shell(rm *)', "it's"].map(typedWord)).toEqual(['a.ai', "'shell(rm *)'", "'it'\\''s'"])
})

test('what cannot be seen is written by its bytes, and a shell takes it for the same', () => {
  expect(typedWord("a\u001b[31m\\b'\n\u202e\u00a0.ai")).toBe("$'a\\x1b[31m\\\\b\\'\\x0a\\xe2\\x80\\xae\\xc2\\xa0.ai'")
  for (const word of ["a\u001b[31m\\b'\n\u202e\u00a0.ai", '\u009b2J', 'x\u0007f', "tab\tnew\nline'"])
    expect(execFileSync('bash', ['-c', `printf %s ${typedWord(word)}`], { encoding: 'utf8' })).toBe(word)
})
