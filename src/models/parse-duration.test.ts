import { expect, test } from 'vitest'
import { parseDuration } from './parse-duration.ts'

test.each([
  ['500ms', 500],
  ['1.5s', 1500],
  ['10m', 600_000],
  ['2h', 7_200_000],
  [250, 250],
  [0, 0],
])('%j is %d ms', (written, ms) => {
  expect(parseDuration(written)).toBe(ms)
})

test.each(['', '5', '5 seconds', '-1s', 'ms', -1, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}])(
  '%j is no time',
  (written) => {
    expect(parseDuration(written)).toBeUndefined()
  },
)
