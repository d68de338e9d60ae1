import { expect, test } from 'vitest'
import { RecentSet } from './recent-set.ts'

test('forgets the older half when it is full; a value that is added again is new', () => {
  const set = new RecentSet<number>(4)
  for (const value of [1, 2, 3, 4, 1]) set.add(value)
  expect([1, 2, 3, 4].filter((value) => set.has(value))).toEqual([1, 2, 3, 4])
  set.add(5)
  expect([1, 2, 3, 4, 5].filter((value) => set.has(value))).toEqual([1, 5])
  set.delete(1)
  expect(set.has(1)).toBe(false)
})
