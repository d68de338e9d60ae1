import { expect, it } from 'vitest'
import { matches, matchesSource, matchesTool, offeredName } from './tool-name-patterns.ts'

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

it.each([
  ['files/*', 'files/read', true],
  ['files/*', 'files__read', true],
  ['files__*', 'files/read', true],
  ['files/read', 'files__read', true],
  ['files/read', 'files/write', false],
  ['files/*', 'files', false],
  ['hub/repos/*', 'hub/repos/list', true],
  ['file/*', 'files/read', false],
])('the entry %s and the tool %s of a source', (pattern, name, isMeant) => {
  expect(matchesTool(pattern, name)).toBe(isMeant)
})

it('an entry may match tools of a source, or only those', () => {
  const entries = ['hub/*', 'hub__list', 'hub/a/b', 'hub*', 'h*', '*', 'hubs/list', 'hub', 'hub_*']
  const own = ['hub/*', 'hub__list', 'hub/a/b']
  expect(entries.filter((entry) => matchesSource(entry, 'hub', 'only'))).toEqual(own)
  expect(entries.filter((entry) => matchesSource(entry, 'hub'))).toEqual([...own, 'hub*', 'h*', '*', 'hub_*'])
})
