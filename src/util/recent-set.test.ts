import { expect, test } from 'vitest'
import { RecentSet } from './recent-set.ts'

test('keeps as many values as it may, those that were added last', () => {
  const set = new RecentSet<number>(2)
  for (const value of [1, 2, 1, 3]) set.add(value)
  expect([1, 2, 3].filter((value) => set.has(value))).toEqual([1, 3])
  set.delete(1)
  expect(set.has(1)).toBe(false)
})
