/** Ways to compare lines, from the strictest; each is tried only where the one before it finds nothing. */
const readings: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  // Models write plain quotes, dashes and spaces for the others.
  (line) => plain(line).trim(),
]

function plain(line: string): string {
  return line
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018-\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ')
}

export interface Where {
  /** No earlier than this. */
  readonly from: number
  /** The nearest to this place counts; without it the first. */
  readonly near?: number
  /** It must end with the text. */
  readonly isAtEnd?: boolean
  /** There must be no second place. */
  readonly isOnly?: boolean
}

/** The lines as one reading has them, and where each of them stands. */
interface Reading {
  readonly lines: readonly string[]
  readonly places: ReadonlyMap<string, readonly number[]>
}

/** Finds lines in a text, exactly or nearly. */
export class LineFinder {
  readonly lines: readonly string[]
  readonly #readings: Reading[] = []

  constructor(lines: readonly string[]) {
    this.lines = lines
  }

  find(wanted: readonly string[], where: Where): number | undefined {
    for (const [level, read] of readings.entries()) {
      const found = this.#findAt(this.#reading(level, read), wanted.map(read), where)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The first line from there on that is this text, or else that has it in it. */
  anchor(text: string, from: number): number | undefined {
    const asInteger = this.find([text], { from })
    if (asInteger !== undefined) return asInteger
    const part = this.lines.findIndex((line, index) => index >= from && line.includes(text))
    return part < 0 ? undefined : part
  }

  /** Looks only where the rarest of the lines stands. */
  #findAt({ lines, places }: Reading, sought: readonly string[], { from, near, isAtEnd, isOnly }: Where): number | undefined {
    const last = lines.length - sought.length
    let best: number | undefined
    for (const start of starts(places, sought)) {
      if (start < from || start > last || (isAtEnd && start < last)) continue
      if (!sought.every((line, index) => lines[start + index] === line)) continue
      if (isOnly && best !== undefined) return undefined
      if (best === undefined || (near !== undefined && Math.abs(start - near) < Math.abs(best - near))) best = start
      if (!isOnly && (near === undefined || start >= near)) return best
    }
    return best
  }

  #reading(level: number, read: (line: string) => string): Reading {
    const known = this.#readings[level]
    if (known) return known
    const lines = this.lines.map(read)
    const places = new Map<string, number[]>()
    for (const [index, line] of lines.entries()) {
      const at = places.get(line)
      if (at) at.push(index)
      else places.set(line, [index])
    }
    const reading = { lines, places }
    this.#readings[level] = reading
    return reading
  }
}

/** Where the lines may begin, from the front. */
function* starts(places: Reading['places'], sought: readonly string[]): Generator<number> {
  let rarest: { readonly index: number; readonly at: readonly number[] } | undefined
  for (const [index, line] of sought.entries()) {
    const at = places.get(line) ?? []
    if (rarest === undefined || at.length < rarest.at.length) rarest = { index, at }
  }
  for (const place of rarest?.at ?? []) if (place >= (rarest?.index ?? 0)) yield place - (rarest?.index ?? 0)
}
