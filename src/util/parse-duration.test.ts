import { expect, test } from 'vitest'
import { parseDuration, parseSize, showDuration, showSize } from './parse-units.ts'

test.each([
  ['500ms', 500],
  ['1.5s', 1500],
  ['10 m', 600_000],
  [' 2h ', 7_200_000],
  [0, 0],
  [250, 250],
])('the duration %j is %d ms', (written, ms) => {
  expect(parseDuration(written)).toBe(ms)
})

test.each([['10'], ['s'], ['-1s'], ['1d'], ['1s2'], ['1,5s'], [-1], [Number.NaN], [Number.POSITIVE_INFINITY], [null], [true], [[]]])(
  '%j is no duration',
  (written) => {
    expect(parseDuration(written)).toBeUndefined()
  },
)

test.each([
  ['512B', 512],
  ['64KB', 65_536],
  ['1.5 mb', 1_572_864],
  ['1GB', 1_073_741_824],
  [4096, 4096],
])('the size %j is %d bytes', (written, bytes) => {
  expect(parseSize(written)).toBe(bytes)
})

test.each([['64'], ['KB'], ['-1KB'], ['1TB'], ['1KiB'], [-1], [Number.NaN], [undefined]])('%j is no size', (written) => {
  expect(parseSize(written)).toBeUndefined()
})

test.each([0, 1, 500, 1000, 1500, 60_000, 90_000, 3_600_000, 7_200_001])('%d ms is written so that it reads back', (ms) => {
  expect(parseDuration(showDuration(ms))).toBe(ms)
})

test.each([0, 1, 512, 1024, 32_768, 1_048_576, 1_048_577])('%d bytes are written so that they read back', (bytes) => {
  expect(parseSize(showSize(bytes))).toBe(bytes)
})
