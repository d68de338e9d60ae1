import { withoutStyles } from './paint.ts'
import { widthOf } from './text-width.ts'

/**
 * Wraps a line, perhaps with colours, at `width` columns; continuation lines are indented. A command at its end gets a line
 * of its own and is never broken.
 */
export function wrapLine(line: string, width: number): readonly string[] {
  const shown = withoutStyles(line)
  if (widthOf(shown) <= width || isExcerpt.test(shown) || isCommand.test(shown)) return [line]
  const [start = ''] = /^ */.exec(line) ?? []
  const indent = `${start}  `
  const [, before, command] = commandAtEnd.exec(line) ?? []
  if (before !== undefined && command !== undefined) return [...wrapLine(before, width), `${indent}${command}`]
  const lines: string[] = []
  let row = ''
  let used = 0
  for (const word of line.match(/ *[^ ]+/g) ?? []) {
    const size = shownWidth(word)
    if (row.trim() !== '' && used + size > width) {
      lines.push(row)
      row = `${indent}${word.trimStart()}`
      used = shownWidth(row)
    } else {
      row += word
      used += size
    }
  }
  return [...lines, row]
}

/** The words of a text in lines of at most `width` columns; a longer word has a line of its own. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const word of text.split(' ')) {
    const size = widthOf(word)
    if (line !== '' && used + 1 + size > width) {
      lines.push(line)
      line = ''
    }
    used = line === '' ? size : used + 1 + size
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

const shownWidth = (text: string): number => widthOf(withoutStyles(text))

const troupe = String.raw`(?:cd \S+ && )?troupe [a-z]`
const isCommand = new RegExp(String.raw`^\s*(?:→ )?${troupe}`)
const commandAtEnd = new RegExp(`^(.*:) (${troupe}.*)$`)
/** A source line, or the mark below it. */
const isExcerpt = /^\s*\d* *│/
