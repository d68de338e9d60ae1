import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addUsd, roundUsd, subtractUsd } from './usage.ts'

const nanos = fc.integer({ min: 0, max: 1e12 })

test('a cost is rounded up to a whole nano-dollar once, and amounts that are whole stay as they are', () => {
  expect([1e-10, 0.000_000_001_01, 1.5, 0.1 + 0.7].map(roundUsd)).toEqual([1e-9, 2e-9, 1.5, 0.8])
  fc.assert(fc.property(nanos, (count) => roundUsd(count / 1e9) === count / 1e9))
  // Prices are products of inexact figures.
  const price = fc.integer({ min: 1, max: 1e6 })
  fc.assert(fc.property(price, fc.nat(1e6), (perToken, tokens) => roundUsd((perToken / 1e9) * tokens) === (perToken * tokens) / 1e9))
})

test('sums are exact in any order, and what is taken away again leaves nothing', () => {
  fc.assert(
    fc.property(fc.array(nanos, { minLength: 1, maxLength: 50 }), fc.integer(), (counts, seed) => {
      const shuffled = counts.toSorted((a, b) => ((a ^ seed) % 97) - ((b ^ seed) % 97))
      const sum = shuffled.reduce((usd, count) => addUsd(usd, count / 1e9), 0)
      expect(sum).toBe(counts.reduce((a, b) => a + b) / 1e9)
      expect(counts.reduce((usd, count) => subtractUsd(usd, count / 1e9), sum)).toBe(0)
      expect(subtractUsd(0, sum)).toBe(0 - sum)
    }),
  )
})
