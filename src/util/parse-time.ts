import { parseDuration } from './parse-units.ts'

const dayMs = 86_400_000

/** `30d`, or a duration such as `12h`. A number without a unit is invalid. */
export function parseAge(written: string): number | undefined {
  const [, days] = /^(\d+(?:\.\d+)?)\s?d$/.exec(written.trim()) ?? []
  return days === undefined ? parseDuration(written) : Number(days) * dayMs
}

/** A date or time in ISO 8601, in UTC unless it has a zone, or an age before `now`. In milliseconds since 1970. */
export function parseTime(written: string, now: number): number | undefined {
  const text = written.trim()
  const age = parseAge(text)
  const [, date, time = '00:00', zone = 'Z'] = isoTime.exec(text) ?? []
  const at = age === undefined ? Date.parse(`${date}T${time}${zone}`) : now - age
  // `2026-02-31` would be a day of March.
  const isDay = age !== undefined || (date !== undefined && new Date(`${date}T00:00Z`).toISOString().startsWith(date))
  return Number.isFinite(at) && Math.abs(at) <= maxTime && isDay ? at : undefined
}

const isoTime = /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:\d{2})?)?$/
/** The largest time of a `Date`. */
const maxTime = 8.64e15

/** What `parseTime` takes, for messages. */
export const timeForms = 'a date such as 2026-11-01, a time such as 2026-11-01T08:00:00Z, or an age such as 7d'
