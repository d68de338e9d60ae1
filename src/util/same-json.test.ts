import { describe, expect, it } from 'vitest'
import type { Json } from '../contracts/index.ts'
import { isSameJson } from './json-values.ts'

describe('isSameJson', () => {
  it.each<[Json, Json]>([
    [1, 1],
    [null, null],
    [[], []],
    [{}, {}],
    [
      { a: 1, b: [{ c: 'x', d: null }] },
      { b: [{ d: null, c: 'x' }], a: 1 },
    ],
    [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])('%j is %j', (one, other) => {
    expect(isSameJson(one, other)).toBe(true)
  })

  it.each<[Json, Json]>([
    [1, '1'],
    [null, {}],
    [[], {}],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ toString: 1 }, {}],
    [{ a: { b: [1, 2] } }, { a: { b: [2, 1] } }],
    [[1, 2], [1]],
    [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":2}}')],
  ])('%j is not %j', (one, other) => {
    expect(isSameJson(one, other)).toBe(false)
    expect(isSameJson(other, one)).toBe(false)
  })
})
