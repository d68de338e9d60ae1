export const countOf = (count: number, one: string, many = `${one}s`): string => `${groupDigits(count)} ${count === 1 ? one : many}`

export const groupDigits = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** A whole number between two bounds; validated input is only filled in. */
export function asInteger(value: unknown, [least, most]: readonly [number, number]): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.floor(value))) : undefined
}

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const longestShown = 200

/** A line for a message. */
export const fitLine = (line: string): string => (line.length <= longestShown ? line : `${line.slice(0, longestShown)}…`)

/** `a, b and 3 more`. */
export function joinNames(names: readonly string[], most = 5): string {
  return names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}

/** A name with line ends in it must not look like several. */
export const shownPath = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)

/** What was found and may not be shown is told by its number alone. */
export const forbiddenNote = (count: number): readonly string[] =>
  count === 0 ? [] : [`${countOf(count, 'entry', 'entries')} omitted: rules deny reading them.`]

/** Instead of what stands in a file that may be changed and not read. */
export const hiddenContentNote = 'Rules deny reading this file, so its content is not shown.'

export const slowPatternNote = 'Some patterns of .gitignore or of this call take too long to match and were not applied to all entries.'
