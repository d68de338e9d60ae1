import type { DatabaseSync } from 'node:sqlite'
import { addSpent, noUsage, type UsageQuery, type UsageReport, type UsageTotals } from '../../contracts/index.ts'
import { dayMs, utcDay } from '../../util/utc-day.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { p95Index, usageReport } from '../shared/usage-report.ts'

interface Grouping {
  readonly key: string
  /** Which rows are turns of a group. The sums are over all rows. */
  readonly counted: string
  readonly ms: string
  /** The key as reports have it. */
  nameOf(key: unknown): string
}

const roots = { counted: 'place = 0 AND is_child = 0', ms: 'work_ms' } as const
const nameOf = (key: unknown): string => decodeText(String(key))

const groupings: { readonly [By in UsageQuery['by'] | 'total']: Grouping } = {
  total: { ...roots, key: "''", nameOf },
  agent: { ...roots, counted: 'place = 0', key: 'agent', nameOf },
  model: { counted: 'true', ms: 'latency_ms', key: 'model', nameOf },
  day: { ...roots, key: `CAST(ended_at / ${dayMs} AS INTEGER)`, nameOf: (day) => utcDay(Number(day) * dayMs) },
  person: { ...roots, key: "coalesce(owner, '')", nameOf },
}

type Row = Record<string, unknown>
type TimeRow = { readonly [column in 'ms' | 'turns' | 'failed']?: unknown }

interface Times {
  readonly turns: number
  readonly failedTurns: number
  readonly workMs: number
  readonly p95Ms: number
}
type Sums = Omit<UsageTotals, keyof Times | 'costUsd'> & { readonly nanos: number }

const noSums: Sums = { requests: 0, failedRequests: 0, usage: noUsage, nanos: 0, unpriced: 0 }

// `total` is exact for sums of integers below 2^53, and does not fail beyond.
const sums = ({ key }: Grouping, where: string): string => `
  SELECT ${key} AS key, total(requests) AS requests, total(failed) AS failed, total(input) AS input, total(output) AS output,
    total(cache_read) AS cache_read, total(cache_write) AS cache_write, total(reasoning) AS reasoning, max(estimated) AS estimated,
    total(cost) AS cost, total(unpriced) AS unpriced
  FROM turn_usage WHERE ${where} GROUP BY 1`

/** How many turns took how long, in order. Twice as fast as a window function. */
const times = ({ key, counted, ms }: Grouping, where: string): string => `
  SELECT ${key} AS key, ${ms} AS ms, count(*) AS turns, total(status = 'failed') AS failed
  FROM turn_usage WHERE ${where} AND ${counted} GROUP BY 1, 2 ORDER BY 1, 2`

/** Sums over the usage of ended turns. */
export function usageTable(database: DatabaseSync) {
  const timesBy = (grouping: Grouping, { where, values }: Conditions): readonly Row[] =>
    database.prepare(times(grouping, where)).all(...values)

  /** Where the groups have the same turns as the total, the table is not read again. */
  function totalTimes(grouping: Grouping, { rows, conditions }: { readonly rows: readonly Row[]; readonly conditions: Conditions }): Times {
    if (grouping.counted !== roots.counted) return timesOf(timesBy(groupings.total, conditions))
    return timesOf(withoutKeys(rows))
  }

  return (query: UsageQuery): UsageReport => {
    const conditions = conditionsOf(query)
    const grouping = groupings[query.by]
    const timeRows = timesBy(grouping, conditions)
    const timesOfGroups = Map.groupBy(timeRows, ({ key }) => key)
    const rows = database.prepare(sums(grouping, conditions.where)).all(...conditions.values)
    const groups = rows.map((row) => ({
      key: grouping.nameOf(row.key),
      sums: sumsOf(row),
      times: timesOf(timesOfGroups.get(row.key) ?? []),
    }))
    const total = groups.reduce((sum, group) => addSums(sum, group.sums), noSums)
    return usageReport(
      query.by,
      groups.map(({ key, sums, times }) => ({ key, ...totalsOf(sums, times) })),
      totalsOf(total, totalTimes(grouping, { rows: timeRows, conditions })),
    )
  }
}

interface Conditions {
  readonly where: string
  readonly values: readonly (string | number)[]
}

function conditionsOf({ owner, since, until }: UsageQuery): Conditions {
  const given = [
    ['owner = ?', owner === undefined ? undefined : encodeText(owner)],
    ['ended_at >= ?', since],
    ['ended_at < ?', until],
  ] as const
  const terms = given.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  return { where: ['true', ...terms.map(({ sql }) => sql)].join(' AND '), values: terms.map(({ value }) => value) }
}

/** The rows of all groups as those of one. Sorting them as they are takes longer than reading the table again. */
function withoutKeys(rows: readonly Row[]): readonly TimeRow[] {
  const sums = new Map<number, { readonly ms: number; turns: number; failed: number }>()
  for (const row of rows) {
    const ms = Number(row.ms)
    const sum = sums.get(ms) ?? { ms, turns: 0, failed: 0 }
    sum.turns += Number(row.turns)
    sum.failed += Number(row.failed)
    sums.set(ms, sum)
  }
  return [...sums.values()].sort((one, other) => one.ms - other.ms)
}

/** From rows in the order of their times. */
function timesOf(rows: readonly TimeRow[]): Times {
  const turns = rows.reduce((sum, row) => sum + Number(row.turns), 0)
  const rank = p95Index(turns)
  let [failedTurns, workMs, p95Ms, seen] = [0, 0, 0, 0]
  for (const row of rows) {
    const [ms, count] = [Number(row.ms), Number(row.turns)]
    if (seen <= rank) p95Ms = ms
    seen += count
    failedTurns += Number(row.failed)
    workMs += ms * count
  }
  return { turns, failedTurns, workMs, p95Ms }
}

function sumsOf(row: Row): Sums {
  const usage = {
    input: Number(row.input),
    output: Number(row.output),
    cacheRead: Number(row.cache_read),
    cacheWrite: Number(row.cache_write),
    reasoning: Number(row.reasoning),
  }
  return {
    requests: Number(row.requests),
    failedRequests: Number(row.failed),
    usage: Number(row.estimated) > 0 ? { ...usage, estimated: true } : usage,
    nanos: Number(row.cost),
    unpriced: Number(row.unpriced),
  }
}

const addSums = (one: Sums, other: Sums): Sums => ({
  requests: one.requests + other.requests,
  failedRequests: one.failedRequests + other.failedRequests,
  usage: addSpent({ usage: one.usage, cost: 0 }, other.usage, 0).usage,
  nanos: one.nanos + other.nanos,
  unpriced: one.unpriced + other.unpriced,
})

const totalsOf = ({ nanos, ...sums }: Sums, times: Times): UsageTotals => ({ ...times, ...sums, costUsd: nanos / 1e9 })
