import { expect, test } from 'vitest'
import { maxReplyCharacters } from './output-grant.ts'

test('a bound has slack of a quarter and 200 tokens; without one there is no end', () => {
  expect(maxReplyCharacters(1_000, 4)).toBe(1_450 * 4)
  expect(maxReplyCharacters(1_000, 6)).toBe(1_450 * 6)
  expect(maxReplyCharacters(undefined, 4)).toBe(Number.POSITIVE_INFINITY)
})

test('requests whose characters weigh much, as pictures do, make no answer too long', () => {
  expect(maxReplyCharacters(1_000, 0.5)).toBe(1_450 * 4)
})
