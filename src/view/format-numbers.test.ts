import { expect, it } from 'vitest'
import { elapsed, tokenWords, workTime } from './index.ts'

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

it.each([
  [{ input: 9_999, output: 933 }, '9999 in · 933 out'],
  [{ input: 22_936, output: 999_960, estimated: true as const }, '~22.9k in · 1.0M out'],
])('the tokens of %j are %s', (usage, text) => {
  expect(tokenWords(usage)).toBe(text)
})
