import type { UsageGroup, UsageQuery, UsageReport, UsageTotals } from '../../contracts/index.ts'

/** Where the value is that 95 of 100 do not exceed, in a sorted list. */
export const p95Index = (count: number): number => Math.floor((95 * count + 99) / 100) - 1

const tokensOf = ({ usage }: UsageTotals): number => usage.input + usage.output
const compare = (one: string, other: string): number => Number(one > other) - Number(one < other)

/** Puts the groups in order. */
export function usageReport(by: UsageQuery['by'], groups: readonly UsageGroup[], total: UsageTotals): UsageReport {
  const sorted = groups.toSorted((one, other) => {
    if (by === 'day') return compare(one.key, other.key)
    return other.costUsd - one.costUsd || tokensOf(other) - tokensOf(one) || compare(one.key, other.key)
  })
  return { by, groups: sorted, total }
}
