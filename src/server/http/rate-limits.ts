import type { Clock, Records } from '../../contracts/index.ts'
import type { Caller, RateLimits } from './caller.ts'
import { HttpError } from './http-error.ts'

// Requests of a token, counted in the store: exact over all processes. Refused requests do not count.

const namespace = 'rate'
const periods = {
  requestsPerMinute: { name: 'minute', ms: 60_000 },
  requestsPerDay: { name: 'day', ms: 86_400_000 },
} as const satisfies { readonly [Key in keyof RateLimits]-?: object }
type Period = keyof typeof periods

/** Requests since the start of a period. */
type Counters = { readonly [P in Period]?: { readonly start: number; readonly count: number } }

/** Counts a request. Throws 429 if the token has used its requests of this minute or day. */
export async function countRequest(
  { rates, principal }: Caller,
  { records, clock }: { readonly records: Records; readonly clock: Pick<Clock, 'now'> },
): Promise<void> {
  if (!rates) return
  const now = clock.now()
  let reached: Period | undefined
  await records.update(namespace, principal.id, (before) => {
    const counters = (before?.value ?? {}) as Counters
    const used = (period: Period): number => (counters[period]?.start === startOf(period, now) ? counters[period].count : 0)
    const limited = (Object.keys(periods) as Period[]).filter((period) => rates[period] !== undefined)
    reached = limited.find((period) => used(period) >= (rates[period] ?? 0))
    if (reached || limited.length === 0) return before
    return {
      due: Math.max(...limited.map((period) => endOf(period, now))),
      value: Object.fromEntries(limited.map((period) => [period, { start: startOf(period, now), count: used(period) + 1 }])),
    }
  })
  if (!reached) return
  const message = `The token "${principal.name ?? principal.id}" may send ${rates[reached]} requests a ${periods[reached].name}.`
  const renewsAt = endOf(reached, now)
  throw new HttpError('rate_limited', message, {
    remedy: `Wait until ${new Date(renewsAt).toISOString()}, or ask for a token with a higher limit.`,
    retryAfterSeconds: (renewsAt - now) / 1000,
    renewsAt,
  })
}

const startOf = (period: Period, now: number): number => Math.floor(now / periods[period].ms) * periods[period].ms
const endOf = (period: Period, now: number): number => startOf(period, now) + periods[period].ms
