const units: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `500ms`, `1.5s`, `10m`, `2h`; a bare number is milliseconds. `undefined` for anything else. */
export function parseDuration(written: unknown): number | undefined {
  if (typeof written === 'number') return Number.isFinite(written) && written >= 0 ? written : undefined
  if (typeof written !== 'string') return undefined
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(written.trim()) ?? []
  return amount === undefined || unit === undefined ? undefined : Number(amount) * (units[unit] ?? 1)
}
