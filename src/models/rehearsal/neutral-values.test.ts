import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patternSample } from './neutral-values.ts'

it.each([
  ['^[A-Z]{2}-\\d{3}$', 'AA-000'],
  ['^(?:red|green)$', 'red'],
  ['a+b?c*', 'a'],
  ['^[^a-z0-9]+$', ' '],
  ['^(?<year>\\d{4})\\.$', '0000.'],
  ['', ''],
])('%s is matched by %j', (pattern, sample) => {
  expect(patternSample(pattern)).toBe(sample)
})

it('is lengthened where something may be repeated', () => {
  expect(patternSample('^x[ab]{1,3}y*$', 5)).toBe('xaaayyyyy')
})

it.each(['(?=a)b', '[', '(', 'a\\', '\\p{L}', '(a)\\1'])('does not try %s', (pattern) => {
  expect(patternSample(pattern)).toBeUndefined()
})

it('matches or is not given, whatever the pattern', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab0.*+?|()[]{}^$\\d-,2:<>') }), (pattern) => {
      const sample = patternSample(pattern)
      expect(sample === undefined || new RegExp(pattern, 'u').test(sample)).toBe(true)
    }),
  )
})
