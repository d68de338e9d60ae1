import { plural } from '../terminal/format-numbers.ts'
import { charactersOf, fitWidth, printableText, widthOf } from '../terminal/paint.ts'

interface Box {
  readonly width: number
  /** Lines, at the most. */
  readonly most: number
}

/** The beginning of what a model has said, broken between words; how much of it is left is told. */
export function replyLines(words: string, { width, most }: Box): readonly string[] {
  const lines = printableText(words)
    .trim()
    .split('\n')
    .flatMap((line) => broken(line.replaceAll('\t', '  ').trimEnd(), Math.max(1, width)))
  const left = lines.length - most
  const more = `… ${plural(left, 'more line')}`
  return left > 0 ? [...lines.slice(0, most), fitWidth(more, Math.min(width, more.length))] : lines
}

function broken(line: string, width: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  const end = (): void => {
    rows.push(row.trimEnd())
    row = ''
    used = 0
  }
  for (const piece of line.match(/\s+|\S+/g) ?? []) {
    const size = widthOf(piece)
    if (used > 0 && used + size > width) end()
    if (used === 0 && rows.length > 0 && piece.trim() === '') continue
    if (size <= width) {
      row += piece
      used += size
      continue
    }
    for (const character of charactersOf(piece)) {
      if (used + widthOf(character) > width) end()
      row += character
      used += widthOf(character)
    }
  }
  return [...rows, row.trimEnd()]
}
