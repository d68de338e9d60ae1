import { expect, test } from 'vitest'
import { parseTime } from './parse-time.ts'

const now = Date.parse('2026-11-18T12:00:00Z')

test.each([
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  [' 2024-02-29 ', '2024-02-29T00:00:00.000Z'],
  ['2026-11-01T08:30', '2026-11-01T08:30:00.000Z'],
  ['2026-11-01 08:30:15.5', '2026-11-01T08:30:15.500Z'],
  ['2026-11-01T08:30:00Z', '2026-11-01T08:30:00.000Z'],
  ['2026-11-01T08:30:00+02:00', '2026-11-01T06:30:00.000Z'],
  ['7d', '2026-11-11T12:00:00.000Z'],
  ['1.5 d', '2026-11-17T00:00:00.000Z'],
  ['12h', '2026-11-18T00:00:00.000Z'],
])('%j is %s', (written, expected) => {
  expect(new Date(parseTime(written, now) ?? Number.NaN).toISOString()).toBe(expected)
})

test.each([
  '',
  '7',
  'd',
  '-7d',
  'yesterday',
  '2026',
  '2026-11',
  '2026-13-01',
  '2026-02-30',
  '2026-11-01T25:00',
  '2026-11-01T08',
  '99999999999d',
  '%',
  '1e9',
])('%j is no time', (written) => {
  expect(parseTime(written, now)).toBeUndefined()
})
