import { indexAfter, isPairAt } from '../../util/fit-text.ts'

/** A part of a line. Columns start at 1. */
export interface LinePart {
  readonly text: string
  readonly from: number
  readonly to: number
  readonly of: number
}

/** The lines of a large text, without copying it. Line numbers start at 1; a final line end starts no line. */
export class OutputLines {
  readonly text: string
  readonly #starts: readonly number[]

  constructor(text: string) {
    this.text = text
    const starts: number[] = []
    for (let start = 0; start < text.length; ) {
      starts.push(start)
      const end = text.indexOf('\n', start)
      start = end < 0 ? text.length : end + 1
    }
    this.#starts = starts
  }

  get count(): number {
    return this.#starts.length
  }

  /** Where a line starts; past the end for a line after the last. */
  start(line: number): number {
    return this.#starts[line - 1] ?? this.text.length
  }

  end(line: number): number {
    const next = this.start(line + 1)
    const end = next > this.start(line) && this.text[next - 1] === '\n' ? next - 1 : next
    return end > this.start(line) && this.text[end - 1] === '\r' ? end - 1 : end
  }

  length(line: number): number {
    return this.end(line) - this.start(line)
  }

  /** The line that a position belongs to. */
  lineOf(position: number): number {
    let low = 0
    let high = this.#starts.length
    while (low + 1 < high) {
      const middle = (low + high) >> 1
      if (this.start(middle + 1) <= position) low = middle
      else high = middle
    }
    return low + 1
  }

  part(line: number, from: number, most: { readonly columns: number; readonly bytes: number }): LinePart {
    const start = this.start(line)
    const end = this.end(line)
    let first = Math.min(start + Math.max(from, 1) - 1, end)
    if (first > start && isPairAt(this.text, first - 1)) first--
    let last = Math.min(end, first + most.columns)
    if (last < end && isPairAt(this.text, last - 1)) last--
    const shown = this.text.slice(first, last)
    const text = shown.slice(0, indexAfter(shown, most.bytes))
    return { text, from: first - start + 1, to: first - start + text.length, of: end - start }
  }
}

export interface Hit {
  readonly line: number
  readonly column: number
}

interface Search {
  readonly wanted: string
  readonly from: Hit
  /** A line is one match; a longer line is one match per `stride` columns that contain any. */
  readonly longest: number
  readonly stride: number
  readonly most: number
}

/** The first matches from a position on, and their total number. */
export function searchOutput(
  lines: OutputLines,
  { wanted, from, longest, stride, most }: Search,
): { readonly hits: readonly Hit[]; readonly total: number } {
  const text = foldCase(lines.text)
  const needle = foldCase(wanted)
  const hits: Hit[] = []
  let total = 0
  let at = text.indexOf(needle, lines.start(from.line) + from.column - 1)
  while (at >= 0 && at < text.length) {
    const line = lines.lineOf(at)
    total++
    if (hits.length < most) hits.push({ line, column: at - lines.start(line) + 1 })
    const next = lines.length(line) > longest ? Math.min(at + stride, lines.start(line + 1)) : lines.start(line + 1)
    at = text.indexOf(needle, Math.max(next, at + 1))
  }
  return { hits, total }
}

/** Lower case with the same length, so that positions are the same. */
export const foldCase = (text: string): string => text.replaceAll('İ', 'i').toLowerCase()
