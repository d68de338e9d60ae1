import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance } from './nearest-names.ts'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })

/** The definition, word for word and slowly. */
function plainDistance(one: string, other: string): number {
  if (one === '' || other === '') return Math.max(one.length, other.length)
  const change = one.at(-1) === other.at(-1) ? 0 : 1
  const ways = [
    plainDistance(one.slice(0, -1), other) + 1,
    plainDistance(one, other.slice(0, -1)) + 1,
    plainDistance(one.slice(0, -1), other.slice(0, -1)) + change,
  ]
  if (one.length > 1 && other.length > 1 && one.at(-1) === other.at(-2) && one.at(-2) === other.at(-1)) {
    ways.push(plainDistance(one.slice(0, -2), other.slice(0, -2)) + 1)
  }
  return Math.min(...ways)
}

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', 'abc', 0],
    ['requred', 'required', 1],
    ['tpye', 'type', 1],
    ['strng', 'string', 1],
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
  ])('%j to %j is %i', (one, other, distance) => {
    expect(editDistance(one, other, 5)).toBe(distance)
  })

  it('stops at the limit', () => {
    expect(editDistance('aaaaaaaa', 'bbbbbbbb', 2)).toBe(3)
    expect(editDistance('a', 'aaaaaaaaa', 2)).toBe(3)
  })

  it('agrees with the definition up to the limit', () => {
    const short = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    fc.assert(
      fc.property(short, short, fc.integer({ min: 0, max: 6 }), (one, other, most) => {
        expect(editDistance(one, other, most)).toBe(Math.min(plainDistance(one, other), most + 1))
      }),
      { numRuns: 500 },
    )
  })

  it('is symmetric', () => {
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(editDistance(one, other, 4)).toBe(editDistance(other, one, 4))
      }),
    )
  })
})
