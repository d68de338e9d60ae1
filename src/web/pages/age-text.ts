const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const format = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** `now`, `5 minutes ago`, `1 day ago`: 40 hours ago is not always yesterday. */
export function ageText(ms: number): string {
  const [unit, length] = units.find(([, each]) => Math.abs(ms) >= each) ?? []
  return unit === undefined || length === undefined ? 'now' : format.format(-Math.trunc(ms / length), unit)
}
