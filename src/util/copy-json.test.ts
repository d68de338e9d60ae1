import { expect, it } from 'vitest'
import type { JsonObject } from '../contracts/index.ts'
import { copyJson } from './json-values.ts'

const parsed = (text: string): JsonObject => JSON.parse(text)

it('copies all the way down', () => {
  const value = parsed('{"a":1,"list":[1,[2,{"deep":true}],null],"inner":{"text":"x","none":null}}')
  const copy = copyJson(value)
  expect(copy).toEqual(value)
  const { list, inner } = copy as { list: [number, [number, { deep: boolean }]]; inner: { text: string } }
  list[1][1].deep = false
  inner.text = 'y'
  expect(value).toEqual(parsed('{"a":1,"list":[1,[2,{"deep":true}],null],"inner":{"text":"x","none":null}}'))
})

it.each(['{"__proto__":{"polluted":true}}', '{"a":{"__proto__":{"polluted":true}}}', '{"__proto__":[{"x":1}]}', '{"__proto__":1}'])(
  'takes a key called __proto__ for a key like any other: %s',
  (text) => {
    const value = parsed(text)
    const copy = copyJson(value)
    expect(JSON.stringify(copy)).toBe(text)
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect('polluted' in copy).toBe(false)
    const [inner] = Object.values(Object.getOwnPropertyDescriptors(copy)).map((descriptor) => descriptor.value as unknown)
    const [before] = Object.values(Object.getOwnPropertyDescriptors(value)).map((descriptor) => descriptor.value as unknown)
    if (typeof inner === 'object') expect(inner).not.toBe(before)
  },
)

it('copies neither order nor absence away', () => {
  expect(Object.keys(copyJson(parsed('{"b":1,"a":2,"10":3,"2":4}')))).toEqual(['2', '10', 'b', 'a'])
  expect(copyJson({})).toEqual({})
})
