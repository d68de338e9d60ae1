import { type Problem, type TreeFilter, TroupeError } from '../../contracts/index.ts'
import { parseTime, timeForms } from '../../util/parse-time.ts'

/** Values of flags, as written. */
export interface WrittenRanges {
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly minCost?: string | undefined
  readonly maxCost?: string | undefined
}
type Ranges = Pick<TreeFilter, 'since' | 'until' | 'minCostUsd' | 'maxCostUsd'>

/** @throws TroupeError `usage` with all problems. */
export function readRanges({ since, until, minCost, maxCost }: WrittenRanges, now: number): Ranges {
  const problems: Problem[] = []
  const read = (place: string, written: string | undefined, { parse, expected, example }: Kind): number | undefined => {
    if (written === undefined) return undefined
    const value = parse(written)
    const message = `expected ${expected}, not ${JSON.stringify(written.slice(0, 100))}`
    if (value === undefined) problems.push({ place, message, remedy: `Write it like ${place} ${example}.` })
    return value
  }
  const time: Kind = { parse: (written) => parseTime(written, now), expected: timeForms, example: '7d' }
  const from = read('--since', since, time)
  const to = read('--until', until, time)
  const min = read('--min-cost', minCost, amount)
  const max = read('--max-cost', maxCost, amount)
  if (from !== undefined && to !== undefined && from >= to)
    problems.push({
      place: '--until',
      message: `expected a time after --since, ${timeOf(from)}, not ${timeOf(to)}`,
      remedy: 'Write a later --until or an earlier --since.',
    })
  if (min !== undefined && max !== undefined && min > max)
    problems.push({
      place: '--max-cost',
      message: `expected at least --min-cost, ${min}, not ${max}`,
      remedy: 'Raise --max-cost, or lower --min-cost.',
    })
  if (problems.length > 0) throw new TroupeError('usage', 'The command line is invalid.', { problems })
  return {
    ...(from !== undefined && { since: from }),
    ...(to !== undefined && { until: to }),
    ...(min !== undefined && { minCostUsd: min }),
    ...(max !== undefined && { maxCostUsd: max }),
  }
}

const timeOf = (at: number): string => new Date(at).toISOString()

interface Kind {
  parse(written: string): number | undefined
  readonly expected: string
  readonly example: string
}

const amount: Kind = {
  parse: (written) => (/^\d+(?:\.\d+)?$/.test(written.trim()) ? Number(written) : undefined),
  expected: 'US dollars, 0 or more',
  example: '0.50',
}
