/** Ways to normalise lines, from the strictest. Each is tried only if the previous one finds nothing. */
const readings: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  // Models write ASCII quotes, dashes and spaces for typographic ones.
  (line) => plain(line).trim(),
]

function plain(line: string): string {
  return line
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018-\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ')
}

interface Where {
  readonly from: number
  /** Prefer the nearest match to this line; default: the first. */
  readonly near?: number
  readonly isAtEnd?: boolean
  readonly isOnly?: boolean
}

/** The normalised lines, and the indexes of each. */
interface Reading {
  readonly lines: readonly string[]
  readonly places: ReadonlyMap<string, readonly number[]>
}

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

  /** The first line that equals this text, or else contains it. */
  anchor(text: string, from: number): number | undefined {
    const asInteger = this.find([text], { from })
    if (asInteger !== undefined) return asInteger
    const part = this.lines.findIndex((line, index) => index >= from && line.includes(text))
    return part < 0 ? undefined : part
  }

  /** Checks only the places of the rarest line. */
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

function* starts(places: Reading['places'], sought: readonly string[]): Generator<number> {
  let rarest: { readonly index: number; readonly at: readonly number[] } | undefined
  for (const [index, line] of sought.entries()) {
    const at = places.get(line) ?? []
    if (rarest === undefined || at.length < rarest.at.length) rarest = { index, at }
  }
  for (const place of rarest?.at ?? []) if (place >= (rarest?.index ?? 0)) yield place - (rarest?.index ?? 0)
}
