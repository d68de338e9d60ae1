import type { OutputLines } from './output-lines.ts'

export interface Hit {
  readonly line: number
  readonly column: number
}

export interface Search {
  readonly wanted: string
  readonly from: Hit
  /** A line counts as one hit; a longer one than this as one for every `stride` columns in which there is any. */
  readonly longest: number
  readonly stride: number
  readonly most: number
}

/** The first hits from a position on, and how many there are in all from there. */
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

/** Without letter case, and of the same length: places in it are places in the text. */
export const foldCase = (text: string): string => text.replaceAll('İ', 'i').toLowerCase()
