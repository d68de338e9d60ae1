import { describe, expect, it } from 'vitest'
import { textWeight } from './text-weight.ts'

describe('the weight of a text', () => {
  it.each([
    ['Latin', 'a'.repeat(400), 400],
    ['Chinese, a token for each letter', '字'.repeat(400), 1_600],
    ['Cyrillic', 'ж'.repeat(400), 1_000],
    ['a little of each', `${'a'.repeat(396)}字字字字`, 412],
    ['short', '字字', 8],
    ['nothing', '', 0],
  ])('%s', (_, text, weight) => {
    expect(textWeight(text)).toBe(weight)
  })

  it('is the length where nobody is to look', () => {
    expect([textWeight('字字', 3), textWeight('字字字', 3)]).toEqual([2, 12])
  })
})
