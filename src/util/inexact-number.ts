/** Strings and numbers. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The first number of a JSON text that changes when it is parsed: `12345678901234567890`, or `1e400`. Fractions are approximations anyway. */
export function inexactNumber(json: string): string | undefined {
  // Fast path: shorter numbers are exact.
  if (!/\d(?:\d{15}|[eE]\+?\d{3})/.test(json)) return undefined
  for (const [token] of json.matchAll(tokens)) if (!token.startsWith('"') && isChanged(token)) return token
  return undefined
}

function isChanged(token: string): boolean {
  const value = Number(token)
  if (!Number.isFinite(value)) return true
  return /^-?\d{16,}$/.test(token) && BigInt(value) !== BigInt(token)
}

/** JSON with numbers that JavaScript cannot represent as strings of their digits. Throws as `JSON.parse` does. */
export function parseExact(json: string): unknown {
  return inexactNumber(json) === undefined ? JSON.parse(json) : JSON.parse(json, exactly)
}

function exactly(_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  return typeof value === 'number' && source !== undefined && isChanged(source) ? source : value
}

/** The message for the model. */
export const inexactProblem = (token: string): string =>
  /[.eE]/.test(token)
    ? `the number ${token} is too large; send a smaller one, or a string`
    : `the number ${token} has too many digits to be exact; send it as a string`
