import { expect, test } from 'vitest'
import { noUsage, type UsageGroup } from '../../../contracts/index.ts'
import { noTotals } from '../../../view/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { usageLines } from './usage-lines.ts'

const group = (key: string, costUsd: number, more: Partial<UsageGroup> = {}): UsageGroup => ({
  key,
  ...noTotals,
  turns: 3,
  usage: { ...noUsage, input: 1200, output: 300 },
  costUsd,
  p95Ms: 12_500,
  ...more,
})
const days = [group('2026-11-15', 0.5), group('2026-11-18', 2, { turns: 12, failedTurns: 2 })]
const total = group('', 2.5, { turns: 15, failedTurns: 2 })
const lines = (columns: number | undefined) => usageLines({ by: 'day', groups: days, total }, { paint: plainPaint, columns })

test('days have a bar each, and those without a turn none', () => {
  expect(lines(80)).toEqual([
    'day          cost      tokens           turns      p95',
    '2026-11-15  $0.50  1200 → 300               3  12.50 s  █████▊',
    '2026-11-16      –       0 → 0               0        –',
    '2026-11-17      –       0 → 0               0        –',
    '2026-11-18  $2.00  1200 → 300  2 of 12 failed  12.50 s  ███████████████████████',
    'total       $2.50  1200 → 300  2 of 15 failed  12.50 s',
  ])
})

test('a pipe gets no bars; a narrow terminal the first columns', () => {
  expect(lines(undefined)[4]).toBe('2026-11-18  $2.00  1200 → 300  2 of 12 failed  12.50 s')
  for (const columns of [20, 30, 40, 50, 120]) for (const line of lines(columns)) expect(widthOf(line)).toBeLessThan(Math.max(columns, 30))
  expect(lines(30)[4]).toBe('2026-11-18  $2.00  ██████████')
})

test('names are whole in a pipe, and get the room that is left on a terminal', () => {
  const groups = [group('script/model-of-the-north', 2, { p95Ms: 0 }), group('script/model-of-the-south', 1)]
  const named = (columns: number | undefined) => usageLines({ by: 'model', groups, total }, { paint: plainPaint, columns }).slice(1, 3)
  expect(named(undefined)).toEqual([
    'script/model-of-the-north  $2.00  1200 → 300               3     0 ms',
    'script/model-of-the-south  $1.00  1200 → 300               3  12.50 s',
  ])
  expect(named(60)).toEqual([
    'script/model-of-the-north  $2.00  1200 → 300  █████████████',
    'script/model-of-the-south  $1.00  1200 → 300  ██████▌',
  ])
  expect(named(40)).toEqual(['script/model-of-the-n…  $2.00  ████████', 'script/model-of-the-s…  $1.00  ████'])
})

test('without any cost, bars show tokens; names of others cannot control a terminal', () => {
  const groups = [group('a\u001b[31m', 0, { unpriced: 2 }), group('', 0, { usage: noUsage })]
  expect(usageLines({ by: 'agent', groups, total: group('', 0) }, { paint: plainPaint, columns: 80 })).toEqual([
    'agent       tokens  turns      p95',
    `a       1200 → 300      3  12.50 s  ${'█'.repeat(40)}`,
    '(none)       0 → 0      3  12.50 s',
    'total   1200 → 300      3  12.50 s',
  ])
})
