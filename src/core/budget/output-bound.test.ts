import { expect, test } from 'vitest'
import { mostCharacters } from './output-bound.ts'

test('a bound has slack of a quarter and 200 tokens; without one there is no end', () => {
  expect(mostCharacters(1_000, 4)).toBe(1_450 * 4)
  expect(mostCharacters(1_000, 6)).toBe(1_450 * 6)
  expect(mostCharacters(undefined, 4)).toBe(Number.POSITIVE_INFINITY)
})

test('requests whose characters weigh much, as pictures do, make no answer too long', () => {
  expect(mostCharacters(1_000, 0.5)).toBe(1_450 * 4)
})
