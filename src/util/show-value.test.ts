import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { showValue } from './show-value.ts'

describe('showValue', () => {
  it('is JSON where that is short', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value)
        expect(showValue(JSON.parse(json), json.length + 10)).toBe(json)
      }),
    )
  })

  it.each([
    ['a'.repeat(100), `"${'a'.repeat(10)}…"`],
    [[1, 2, 3, 4, 5, 6, 7], '[1,2,3,4,…]'],
    [{ name: 'x', other: 'y' }, '{"name":"x",…}'],
    [undefined, 'nothing'],
    [() => 1, 'a function'],
    [12n, '12'],
    [Number.NaN, 'NaN'],
  ])('shortens and names %o', (value, shown) => {
    expect(showValue(value, 10)).toBe(shown)
  })

  it('ends on what refers to itself or is very deep', () => {
    const own: { me?: unknown } = {}
    own.me = own
    expect(showValue(own, 20).length).toBeLessThan(60)
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(showValue(deep, 20).length).toBeLessThan(60)
  })

  it('is never much longer than asked', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 5, max: 60 }), (value, most) => {
        // Escapes may take six characters each.
        expect(showValue(value, most).length).toBeLessThanOrEqual(most * 6 + 40)
      }),
    )
  })
})
