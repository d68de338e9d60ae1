import { widthOf, withoutStyles } from './paint.ts'

// Prose for people is broken between words, where there is a window to break it for. Pure.

/**
 * A line, perhaps with colours, in lines of at most `width` columns where its words allow it; what follows the first is
 * indented. A command to copy that ends it comes to stand on a line of its own, in one piece.
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
/** What is copied is not broken. */
const isCommand = new RegExp(String.raw`^\s*(?:→ )?${troupe}`)
const commandAtEnd = new RegExp(`^(.*:) (${troupe}.*)$`)
/** A line of a file, or the mark below it. */
const isExcerpt = /^\s*\d* *│/
