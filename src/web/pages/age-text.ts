const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** `now`, `5 minutes ago`, `yesterday`. */
export function ageText(ms: number): string {
  const [unit, length] = units.find(([, each]) => Math.abs(ms) >= each) ?? []
  return unit === undefined || length === undefined ? 'now' : format.format(-Math.trunc(ms / length), unit)
}
