const pattern = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:?\d{2})?$/

/**
 * Milliseconds since 1970. A text without an offset is a time of the zone, by default the zone of the machine.
 *
 * @throws if the text is not a date with a time, or the zone is unknown.
 */
export function parseTime(text: string, timeZone?: string): number {
  const [, date, minutes, seconds = ':00', offset] = pattern.exec(text.trim()) ?? []
  const wall = Date.parse(`${date}T${minutes}${seconds}Z`)
  // `Date.parse` turns February 30 into March 2.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date) {
    throw new Error(
      `${JSON.stringify(text)} is not a date with a time. Expected a text such as 2027-03-01T09:00 or 2027-03-01T09:00+01:00.`,
    )
  }
  if (offset !== undefined) return Date.parse(`${date}T${minutes}${seconds}${offset}`)
  // The offset at the result can differ from the one at the first estimate, near a change of the clocks.
  return wall - offsetAt(wall - offsetAt(wall, timeZone), timeZone)
}

/** `Mon 2027-03-01 09:00 (Europe/Berlin)`. @throws if the zone is unknown. */
export function showTime(time: number, timeZone?: string): string {
  const { weekday, year, month, day, hour, minute, zone } = partsAt(time, timeZone)
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute} (${zone})`
}

function offsetAt(time: number, timeZone?: string): number {
  const { year, month, day, hour, minute, second } = partsAt(time, timeZone)
  const wholeSeconds = Math.floor(time / 1000) * 1000
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - wholeSeconds
}

function partsAt(time: number, timeZone?: string): Record<string, string> {
  const digits = '2-digit'
  const format = zoned(timeZone, {
    weekday: 'short',
    year: 'numeric',
    month: digits,
    day: digits,
    hour: digits,
    minute: digits,
    second: digits,
    hourCycle: 'h23',
  })
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]))
  return { ...parts, zone: format.resolvedOptions().timeZone }
}

function zoned(timeZone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, ...(timeZone !== undefined && { timeZone }) })
  } catch {
    throw new Error(`${JSON.stringify(timeZone)} is not a time zone. Expected an IANA name such as Europe/Berlin or UTC.`)
  }
}
