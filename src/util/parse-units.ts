const durations: Units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const sizes: Units = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

interface Units {
  readonly [unit: string]: number
}

/** `500ms`, `1.5s`, `10m`, `2h`; a number is milliseconds. `undefined` for anything else. */
export const parseDuration = (written: unknown): number | undefined => parse(written, durations, /^(\d+(?:\.\d+)?)\s?(ms|s|m|h)$/)

/** `512B`, `64KB`, `1.5MB`; a number is bytes, and a kilobyte has 1024. `undefined` for anything else. */
export const parseSize = (written: unknown): number | undefined => parse(written, sizes, /^(\d+(?:\.\d+)?)\s?(B|KB|MB|GB)$/i)

/** The shortest form that parses to the same duration. */
export const showDuration = (ms: number): string => show(ms, durations, ['h', 'm', 's', 'ms'])

/** The shortest form that parses to the same size. */
export const showSize = (bytes: number): string => show(bytes, sizes, ['GB', 'MB', 'KB', 'B'])

function parse(written: unknown, units: Units, pattern: RegExp): number | undefined {
  if (typeof written === 'number') return Number.isFinite(written) && written >= 0 ? written : undefined
  const [, amount, unit = ''] = (typeof written === 'string' && pattern.exec(written.trim())) || []
  return amount === undefined ? undefined : Number(amount) * (units[unit] ?? units[unit.toUpperCase()] ?? 1)
}

/** `order`: from the largest unit to the smallest. */
function show(amount: number, units: Units, order: readonly string[]): string {
  const unit = order.find((each) => amount > 0 && amount % (units[each] ?? 1) === 0) ?? order.at(-1) ?? ''
  return `${amount / (units[unit] ?? 1)}${unit}`
}
