export const counted = (count: number, one: string, many = `${one}s`): string => `${grouped(count)} ${count === 1 ? one : many}`

export const grouped = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** A whole number between two bounds; validated input is only filled in. */
export function whole(value: unknown, [least, most]: readonly [number, number]): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.floor(value))) : undefined
}

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const longestShown = 200

/** A line for a message. */
export const fitLine = (line: string): string => (line.length <= longestShown ? line : `${line.slice(0, longestShown)}…`)

/** `a, b and 3 more`. */
export function listed(names: readonly string[], most = 5): string {
  return names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}

/** A name with line ends in it must not look like several. */
export const shownPath = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)

/** What was found and may not be shown is told by its number alone. */
export const forbiddenNote = (count: number): readonly string[] =>
  count === 0 ? [] : [`${counted(count, 'entry', 'entries')} left out: rules forbid looking there.`]

/** Instead of what stands in a file that may be changed and not read. */
export const untoldNote = 'Rules forbid to read this file, so what stands there is not shown.'

export const slowPatternNote = 'Some patterns of .gitignore or of this call take too long to match and were not applied to all entries.'
