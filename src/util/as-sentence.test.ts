import { expect, test } from 'vitest'
import { asSentence, displaySentence } from './as-sentence.ts'

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

test.each([
  ['unknown key `x`', 'Unknown key `x`.'],
  ['`models` must be a list', '`models` must be a list.'],
  ['limits.maxTokens is too small', 'limits.maxTokens is too small.'],
  ['doctor takes no arguments.', 'doctor takes no arguments.'],
  ['Ignored:\nproviders – choose models', 'Ignored:\nproviders – choose models'],
])('%s is shown as %s', (message, shown) => {
  expect(displaySentence(message)).toBe(shown)
})
