const units: { readonly [unit: string]: number } = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/** `512B`, `64KB`, `1.5MB`; a bare number is bytes, and a kilobyte has 1024 of them. `undefined` for anything else. */
export function parseSize(written: unknown): number | undefined {
  if (typeof written === 'number') return Number.isFinite(written) && written >= 0 ? written : undefined
  if (typeof written !== 'string') return undefined
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s?(B|KB|MB|GB)$/i.exec(written.trim()) ?? []
  return amount === undefined || unit === undefined ? undefined : Number(amount) * (units[unit.toUpperCase()] ?? 1)
}

/** The shortest way to write a size that reads back as the same. */
export function showSize(bytes: number): string {
  const unit = ['GB', 'MB', 'KB'].find((each) => bytes > 0 && bytes % (units[each] ?? 1) === 0) ?? 'B'
  return `${bytes / (units[unit] ?? 1)}${unit}`
}
