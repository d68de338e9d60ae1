import { exactText } from '../../util/exact-text.ts'
import { charactersOf, widthOf } from './text-width.ts'

export { exactLine, exactText } from '../../util/exact-text.ts'

const tabWidth = 8

/** Exact text, broken at the width of the terminal. */
export function exactLines(text: string, width: number): readonly string[] {
  return exactText(text)
    .split('\n')
    .flatMap((line) => breakAtWidth(line, Math.max(1, width)))
}

export function breakAtWidth(line: string, width: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const character of charactersOf(line)) {
    // A tab is shown as the spaces that it would take.
    const shown = character === '\t' ? ' '.repeat(tabWidth - (used % tabWidth)) : character
    const size = widthOf(shown)
    if (used > 0 && used + size > width) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += shown
    used += size
  }
  return [...rows, row]
}
