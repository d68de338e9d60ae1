import { widthOf } from './paint.ts'

// Prose for people is broken between words, where there is a window to break it for. Pure.

/**
 * A line, perhaps with colours, in lines of at most `width` columns where its words allow it; what follows the first is
 * indented. A command to copy that ends it comes to stand on a line of its own, in one piece.
 */
export function wrapLine(line: string, width: number): readonly string[] {
  const shown = line.replace(styles, '')
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

const shownWidth = (text: string): number => widthOf(text.replace(styles, ''))

const troupe = String.raw`(?:cd \S+ && )?troupe [a-z]`
/** What is copied is not broken. */
const isCommand = new RegExp(String.raw`^\s*(?:→ )?${troupe}`)
const commandAtEnd = new RegExp(`^(.*:) (${troupe}.*)$`)
/** A line of a file, or the mark below it. */
const isExcerpt = /^\s*\d* *│/
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
const styles = /\u001b\[[\d;]*m/g
