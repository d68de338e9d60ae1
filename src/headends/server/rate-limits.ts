import type { Clock, Records } from '../../contracts/index.ts'
import type { Caller } from './caller.ts'
import { HttpError } from './http-error.ts'

// Requests of a token, counted in the store: exact over all processes. A counter is kept until its period is over.

const namespace = 'rate'
const periods = { requestsPerMinute: 60_000, requestsPerDay: 86_400_000 } as const

/** Counts a request. Throws 429 if the token has used its requests of this minute or day. */
export async function countRequest(
  caller: Caller,
  { records, clock }: { readonly records: Records; readonly clock: Pick<Clock, 'now'> },
): Promise<void> {
  const { rates, principal } = caller
  if (!rates) return
  for (const [name, length] of Object.entries(periods) as [keyof typeof periods, number][]) {
    const limit = rates[name]
    if (limit === undefined) continue
    const start = Math.floor(clock.now() / length) * length
    const end = start + length
    let count = 0
    await records.update(namespace, `${principal.id}/${name}`, (before) => {
      const value = before?.value as { readonly start: number; readonly count: number } | undefined
      const used = value?.start === start ? value.count : 0
      count = used + 1
      // Refused requests do not count.
      return { due: end, value: { start, count: Math.min(count, limit) } }
    })
    if (count > limit)
      throw new HttpError(
        'rate_limited',
        `The token "${principal.name ?? principal.id}" may send ${limit} requests a ${name === 'requestsPerDay' ? 'day' : 'minute'}.`,
        {
          remedy: 'Wait, or ask for a token with a higher limit.',
          retryAfterSeconds: (end - clock.now()) / 1000,
        },
      )
  }
}
