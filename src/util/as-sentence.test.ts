import { expect, test } from 'vitest'
import { asSentence } from './as-sentence.ts'

test.each([
  ['No', 'No.'],
  ['No.', 'No.'],
  ['No!', 'No!'],
  ['Why?', 'Why?'],
  ['Well…', 'Well…'],
  ['Two\nlines\n', 'Two\nlines.'],
  ['A star 😀', 'A star 😀.'],
  ['', ''],
])('%j becomes %j', (words, sentence) => expect(asSentence(words)).toBe(sentence))
