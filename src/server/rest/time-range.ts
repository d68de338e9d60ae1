import { z } from 'zod'
import type { TreeFilter } from '../../contracts/index.ts'
import { parseTime, timeForms } from '../../util/parse-time.ts'
import { HttpError } from '../http/index.ts'

const time = z.string().max(100)
/** Parameters of a query. */
export const timeSchemas = {
  since: time.optional().describe(`From this time on: ${timeForms}. In UTC unless it has a zone.`),
  until: time.optional().describe(`Before this time: ${timeForms}. In UTC unless it has a zone.`),
}

interface Written {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export function timeRange({ since, until }: Written, now: number): Pick<TreeFilter, 'since' | 'until'> {
  const [from, to] = [timeOf('since', since, now), timeOf('until', until, now)]
  if (from !== undefined && to !== undefined && from >= to)
    throw new HttpError('invalid_request', `until: expected a time after since, ${isoTime(from)}, not ${isoTime(to)}`, {
      parameter: 'until',
      remedy: 'Write a later until or an earlier since.',
    })
  return { ...(from !== undefined && { since: from }), ...(to !== undefined && { until: to }) }
}

/** The times of a range, for an answer. */
export const rangeTimes = ({ since, until }: Pick<TreeFilter, 'since' | 'until'>) => ({
  ...(since !== undefined && { since: isoTime(since) }),
  ...(until !== undefined && { until: isoTime(until) }),
})

const isoTime = (at: number): string => new Date(at).toISOString()

function timeOf(parameter: string, written: string | undefined, now: number): number | undefined {
  const at = written === undefined ? undefined : parseTime(written, now)
  if (written === undefined || at !== undefined) return at
  throw new HttpError('invalid_request', `${parameter}: expected ${timeForms}, not ${JSON.stringify(written)}`, {
    parameter,
    remedy: `Write it like ${parameter}=2026-11-01 or ${parameter}=7d.`,
  })
}
