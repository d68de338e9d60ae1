/** How long the server asks to wait, in milliseconds. What it says is ignored where it makes no sense. */
export function retryAfterMs(headers: { readonly [name: string]: string | undefined }, now: () => number): number | undefined {
  const milliseconds = decimal(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds
  const seconds = decimal(headers['retry-after'])
  if (seconds !== undefined) return Math.round(seconds * 1000)
  const until = date(headers['retry-after'])
  if (until === undefined) return undefined
  // By the server's own clock, where it tells the time: ours may be wrong. A moment that was over before the answer was
  // sent is none by that clock: then somebody on the way has dated the answer.
  const theirs = until - (date(headers.date) ?? until)
  return theirs > 0 ? theirs : Math.max(0, until - now())
}

const decimal = (text = ''): number | undefined => (/^\s*\d{1,9}(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined)

// The three forms that HTTP knows; `Date.parse` alone makes a date of nearly anything.
const withZone = /^[A-Z][a-z]{2,8},? \d{1,2}[ -][A-Z][a-z]{2}[ -](?:\d{4}|\d{2}) \d{2}:\d{2}:\d{2} GMT$/
const withoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

function date(text = ''): number | undefined {
  const written = text.trim()
  const parsed = withZone.test(written) ? Date.parse(written) : withoutZone.test(written) ? Date.parse(`${written} GMT`) : Number.NaN
  return Number.isNaN(parsed) ? undefined : parsed
}
