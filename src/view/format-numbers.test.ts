import { expect, it } from 'vitest'
import { elapsed, workTime } from './index.ts'

it.each([
  [{ durationMs: 1_200 }, '1.20 s'],
  [{ durationMs: 50_200, waitedMs: 49_000 }, '1.20 s work · 49 s waiting'],
  // Too short to be seen.
  [{ durationMs: 1_200, waitedMs: 99 }, '1.10 s'],
  [{ durationMs: 1_000, waitedMs: 2_000 }, '0 ms work · 2.0 s waiting'],
])('the time of %j is %s', (times, text) => {
  expect(workTime(times)).toBe(text)
})

it('a time that grows is coarser', () => {
  expect(workTime({ durationMs: 50_260, waitedMs: 49_000 }, elapsed)).toBe('1.2 s work · 49 s waiting')
})
