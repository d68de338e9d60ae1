/** The time to wait that the server asks for, in milliseconds. Invalid values are ignored. */
export function retryAfterMs(headers: { readonly [name: string]: string | undefined }, now: () => number): number | undefined {
  const milliseconds = decimal(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds
  const seconds = decimal(headers['retry-after'])
  if (seconds !== undefined) return Math.round(seconds * 1000)
  const until = date(headers['retry-after'])
  if (until === undefined) return undefined
  // By the server's own clock, if it sends its time. A time before the response was sent is not valid by that clock.
  const theirs = until - (date(headers.date) ?? until)
  return theirs > 0 ? theirs : Math.max(0, until - now())
}

const decimal = (text = ''): number | undefined => (/^\s*\d{1,9}(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined)

// The three date formats of HTTP; `Date.parse` alone accepts nearly anything.
const withZone = /^[A-Z][a-z]{2,8},? \d{1,2}[ -][A-Z][a-z]{2}[ -](?:\d{4}|\d{2}) \d{2}:\d{2}:\d{2} GMT$/
const withoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

function date(text = ''): number | undefined {
  const written = text.trim()
  const parsed = withZone.test(written) ? Date.parse(written) : withoutZone.test(written) ? Date.parse(`${written} GMT`) : Number.NaN
  return Number.isNaN(parsed) ? undefined : parsed
}
