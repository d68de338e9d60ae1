/** How long the server asks to wait, in milliseconds. What it says is ignored where it makes no sense. */
export function retryAfterMs(headers: { readonly [name: string]: string | undefined }, now: () => number): number | undefined {
  const milliseconds = headers['retry-after-ms']
  if (milliseconds !== undefined && isDecimal(milliseconds)) return Number(milliseconds)
  const value = headers['retry-after']?.trim()
  if (value === undefined) return undefined
  if (isDecimal(value)) return Math.round(Number(value) * 1000)
  if (!httpDate.test(value)) return undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now())
}

const isDecimal = (text: string): boolean => /^\s*\d{1,9}(?:\.\d+)?\s*$/.test(text)

// `Date.parse` alone makes a date of nearly anything.
const httpDate = /^[A-Z][a-z]{2,8},? \d{1,2}[ -][A-Z][a-z]{2}[ -](?:\d{4}|\d{2}) \d{2}:\d{2}:\d{2} GMT$/
