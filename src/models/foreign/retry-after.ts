import { isFields } from './records.ts'

/** How long a server asks to wait, in milliseconds. Nonsense is no wish. */
export function retryAfter(headers: unknown): number | undefined {
  const ms = number(header(headers, 'retry-after-ms'))
  if (ms !== undefined) return ms
  const told = header(headers, 'retry-after')
  const seconds = number(told)
  if (seconds !== undefined) return Math.round(seconds * 1000)
  // A date is held against the server's own clock.
  const wait = date(told) - date(header(headers, 'date'))
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

function number(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
}

/** By itself, `Date.parse` takes nearly anything for a date. */
function date(text = ''): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text.trim()) ? Date.parse(text) : Number.NaN
}

/** Headers come as `Headers`, or as an object whose keys may be written in any way. */
function header(headers: unknown, name: string): string | undefined {
  if (!isFields(headers)) return undefined
  const value =
    typeof headers.get === 'function'
      ? (headers.get as (name: string) => unknown).call(headers, name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
