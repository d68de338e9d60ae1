import { expect, it } from 'vitest'
import { matches, offeredName } from './tool-name-patterns.ts'

it.each([
  ['shell', 'shell', true],
  ['shell', 'shells', false],
  ['*', 'shell', true],
  ['files/*', 'files/read', true],
  ['*_file', 'read_file', true],
  ['*_file', 'read_files', false],
  ['a*c', 'abc', true],
])('an entry %s of an allowlist and the tool %s', (pattern, name, isMeant) => {
  expect(matches(pattern, name)).toBe(isMeant)
})

it('names that no model accepts are offered under others', () => {
  expect([offeredName('files/read'), offeredName('a.b c')]).toEqual(['files__read', 'a__b_c'])
  expect(offeredName('x'.repeat(70))).toHaveLength(64)
})
