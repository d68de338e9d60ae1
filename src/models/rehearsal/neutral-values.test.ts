import { expect, it } from 'vitest'
import { neutralText } from './neutral-values.ts'

it.each([
  ['^[A-Z]{2}-\\d{3}$', 'AA-000'],
  ['a+b?c*', 'a'],
  ['^v\\d+\\.\\d+$', 'v0.0'],
  ['', ''],
])('%s is matched by %j', (pattern, sample) => {
  expect(neutralText({ pattern })).toBe(sample)
})

it.each(['^(?=a)b', '[', '(', 'a\\', '^\\p{L}$'])('%s does not throw', (pattern) => {
  expect(neutralText({ pattern })).toBeTypeOf('string')
})
