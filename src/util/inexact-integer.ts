/** Texts are skipped; of numbers only whole ones are looked at: a fraction is an approximation anyway. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The first integer of a JSON text that would become another one when it is parsed: `12345678901234567890`. */
export function inexactInteger(json: string): string | undefined {
  // All that is shorter is exact, and nearly all that there is.
  if (!/\d{16}/.test(json)) return undefined
  for (const [token] of json.matchAll(tokens)) if (/^-?\d{16,}$/.test(token) && isChanged(token)) return token
  return undefined
}

function isChanged(digits: string): boolean {
  const value = Number(digits)
  return !Number.isFinite(value) || BigInt(value) !== BigInt(digits)
}

/** What a model is told about it. */
export const inexactProblem = (digits: string): string => `the number ${digits} has too many digits to be kept exactly; send it as a string`
