const units: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `500ms`, `1.5s`, `10m`, `2h`; a bare number is milliseconds. `undefined` for anything else. */
export function parseDuration(written: unknown): number | undefined {
  if (typeof written === 'number') return Number.isFinite(written) && written >= 0 ? written : undefined
  if (typeof written !== 'string') return undefined
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s?(ms|s|m|h)$/.exec(written.trim()) ?? []
  return amount === undefined || unit === undefined ? undefined : Number(amount) * (units[unit] ?? 1)
}

/** The shortest way to write a duration that reads back as the same. */
export function showDuration(ms: number): string {
  const unit = ['h', 'm', 's'].find((each) => ms > 0 && ms % (units[each] ?? 1) === 0) ?? 'ms'
  return `${ms / (units[unit] ?? 1)}${unit}`
}
