import type { UsageQuery, UsageReport, UsageTotals } from '../../contracts/index.ts'
import { dayMs, utcDay } from '../../util/utc-day.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { usageReport } from '../shared/usage-report.ts'
import type { Database, Row } from './database.ts'
import { Values } from './tree-rows.ts'

interface Grouping {
  readonly key: string
  /** Which rows are turns of a group. The sums are over all rows. */
  readonly counted: string
  readonly ms: string
}

const roots = { counted: 'place = 0 AND NOT is_child', ms: 'work_ms' } as const
const groupings: { readonly [By in UsageQuery['by'] | 'total']: Grouping } = {
  total: { ...roots, key: "''" },
  agent: { ...roots, counted: 'place = 0', key: 'agent' },
  model: { counted: 'true', ms: 'latency_ms', key: 'model' },
  day: { ...roots, key: `floor(ended_at / ${dayMs})::text` },
  person: { ...roots, key: "coalesce(owner, '')" },
}

const sums = ({ key, counted, ms }: Grouping, where: string): string => `
  SELECT ${key} AS key, sum(requests) AS requests, sum(failed) AS failed, sum(input) AS input, sum(output) AS output,
    sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, sum(reasoning) AS reasoning, bool_or(estimated) AS estimated,
    sum(cost) AS cost, sum(unpriced) AS unpriced, count(*) FILTER (WHERE ${counted}) AS turns,
    count(*) FILTER (WHERE ${counted} AND status = 'failed') AS failed_turns, coalesce(sum(${ms}) FILTER (WHERE ${counted}), 0) AS ms,
    coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY ${ms}) FILTER (WHERE ${counted}), 0) AS p95_ms
  FROM troupe.turn_usage WHERE ${where} GROUP BY 1`

/** Sums over the usage of ended turns. */
export async function usageOf(database: Database, query: UsageQuery): Promise<UsageReport> {
  const { by, owner, since, until } = query
  const values = new Values()
  const terms = ['true']
  if (owner !== undefined) terms.push(`owner = ${values.add(encodeText(owner))}`)
  if (since !== undefined) terms.push(`ended_at >= ${values.add(since)}`)
  if (until !== undefined) terms.push(`ended_at < ${values.add(until)}`)
  const where = terms.join(' AND ')
  const rows = await database.read(
    `SELECT false AS is_total, * FROM (${sums(groupings[by], where)}) AS groups
       UNION ALL SELECT true, * FROM (${sums(groupings.total, where)}) AS total`,
    values.list,
  )
  const groups = rows.filter(({ is_total: isTotal }) => isTotal === false)
  const nameOf = (key: string): string => (by === 'day' ? utcDay(Number(key) * dayMs) : decodeText(key))
  return usageReport(
    by,
    groups.map((row) => ({ key: nameOf(String(row.key)), ...totalsOf(row) })),
    totalsOf(rows.find(({ is_total: isTotal }) => isTotal === true) ?? {}),
  )
}

function totalsOf(row: Row): UsageTotals {
  const number = (column: string): number => Number(row[column] ?? 0)
  const usage = {
    input: number('input'),
    output: number('output'),
    cacheRead: number('cache_read'),
    cacheWrite: number('cache_write'),
    reasoning: number('reasoning'),
  }
  return {
    turns: number('turns'),
    failedTurns: number('failed_turns'),
    requests: number('requests'),
    failedRequests: number('failed'),
    usage: row.estimated === true ? { ...usage, estimated: true } : usage,
    costUsd: number('cost') / 1e9,
    unpriced: number('unpriced'),
    workMs: number('ms'),
    p95Ms: number('p95_ms'),
  }
}
