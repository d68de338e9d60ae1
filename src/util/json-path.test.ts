import { expect, it } from 'vitest'
import { parseJsonPath, selectJson } from './json-path.ts'

const value = { data: { items: [{ id: 1 }, { id: 2 }, {}], 'odd key': true }, next: null }

it.each([
  ['$', value],
  ['$.data.items[0].id', 1],
  ['data.items[-2].id', 2],
  ['data.items[*].id', [1, 2]],
  ['$["data"]["odd key"]', true],
  ["$.data['odd key']", true],
  ['next', null],
  ['data.items.*.id', [1, 2]],
  ['data.none[*]', []],
  ['data.items[9]', undefined],
  ['data.constructor', undefined],
])('%s selects', (path, expected) => {
  expect(selectJson(value, parseJsonPath(path) ?? [])).toEqual(expected)
})

it.each(['', 'a..b', 'a[', 'a[x]', '$..a', 'a[?(@.b)]', 'a b', '$["\\x"]', 'a'.repeat(501)])('%s is no path', (path) => {
  expect(parseJsonPath(path)).toBeUndefined()
})
