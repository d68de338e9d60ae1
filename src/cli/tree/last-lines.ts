import { fitWidth, widthOf } from '../terminal/paint.ts'

interface Box {
  readonly width: number
  /** Lines, at the most. */
  readonly most: number
}

/**
 * The last lines of a text, broken between words. It is broken from the beginning, so that a line that is full stays
 * as it is while more text comes.
 */
export function lastLines(text: string, { width, most }: Box): readonly string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const word of text.split(' ')) {
    if (word === '') continue
    const size = widthOf(word)
    if (used > 0 && used + 1 + size > width) {
      lines.push(line)
      line = ''
      used = 0
    }
    line = used > 0 ? `${line} ${word}` : size > width ? fitWidth(word, width) : word
    used = used > 0 ? used + 1 + size : Math.min(size, width)
  }
  return (line === '' ? lines : [...lines, line]).slice(-most)
}
