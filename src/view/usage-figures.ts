import { noUsage, type UsageGroup, type UsageGrouping, type UsageTotals } from '../contracts/index.ts'
import { dayMs, utcDay } from '../util/utc-day.ts'

// What `troupe usage` and the usage page show of a report.

/** The sums without any turn. */
export const noTotals: UsageTotals = {
  turns: 0,
  failedTurns: 0,
  requests: 0,
  failedRequests: 0,
  usage: noUsage,
  costUsd: 0,
  unpriced: 0,
  workMs: 0,
  p95Ms: 0,
}

/** Instead of an empty key. */
export const unnamedGroups: { readonly [By in UsageGrouping]: string } = {
  agent: '(none)',
  model: '(no request)',
  day: '(none)',
  person: '(nobody)',
}

/** More days are listed without those between them that have no turn. */
const maxDays = 100

/** Days without a turn belong to the picture: those from `first` to `last`, by default of the groups. */
export function withEmptyDays(
  groups: readonly UsageGroup[],
  { first = groups[0]?.key ?? '', last = groups.at(-1)?.key ?? '' }: { readonly first?: string; readonly last?: string } = {},
): readonly UsageGroup[] {
  const known = new Map(groups.map((group) => [group.key, group]))
  const from = Date.parse(first)
  const count = (Date.parse(last) - from) / dayMs + 1
  if (!(count <= maxDays)) return groups
  return Array.from({ length: count }, (_, i) => utcDay(from + i * dayMs)).map((key) => known.get(key) ?? { key, ...noTotals })
}
