import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonError } from './json-syntax.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('agrees with the parser of the platform on what is JSON', () => {
  const tokens = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\n"',
    '"\\x"',
    '1',
    '-1.5e+3',
    '01',
    '1.',
    'true',
    'nul',
    ' ',
    '\n',
    '"',
  )
  const nearly = fc.array(tokens, { maxLength: 12 }).map((list) => list.join(''))
  const cut = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '0', '\u0001')).map(([text, at, extra]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + extra + text.slice(place)
  })
  fc.assert(
    fc.property(fc.oneof(nearly, cut, fc.json()), (text) => {
      expect(findJsonError(text) === undefined).toBe(isJson(text))
    }),
    { numRuns: process.env.TROUPE_FULL ? 5_000 : 1_000 },
  )
})

test('the text before the error can be completed', () => {
  expect(findJsonError('{"a": [1, 2, }')).toEqual({ at: 13, expected: 'a value' })
  expect(findJsonError('{"a": 1, }')).toEqual({ at: 9, expected: 'a key in double quotes' })
  expect(findJsonError('')).toEqual({ at: 0, expected: 'a value' })
})
