import type { CursorPlace } from '../../progress/screen.ts'
import { exactText } from '../../terminal/exact-text.ts'
import { charactersOf, widthOf } from '../../terminal/text-width.ts'

interface EditorRows {
  readonly rows: readonly string[]
  readonly cursor: CursorPlace
}

interface EditorView {
  readonly width: number
  readonly maxRows: number
  /** Before the first row. Other rows are indented as far. */
  readonly prompt: string
}

/** A typed text in rows of at most `width` columns; of a long one, those around the cursor. */
export function editorRows({ text, cursor }: { readonly text: string; readonly cursor: number }, view: EditorView): EditorRows {
  const { width, maxRows, prompt } = view
  const indent = ' '.repeat(widthOf(prompt))
  // The cursor behind the last character needs a column, too.
  const room = Math.max(2, width - indent.length - 1)
  const rows: string[] = []
  let row = ''
  let used = 0
  let at = 0
  let place: CursorPlace = { row: 0, column: indent.length }
  const end = (): void => {
    rows.push(`${rows.length === 0 ? prompt : indent}${row}`)
    row = ''
    used = 0
  }
  for (const character of charactersOf(text)) {
    const shown = character === '\t' ? '  ' : character === '\n' || character === '\r\n' ? '' : exactText(character)
    const size = widthOf(shown)
    if (used + size > room) end()
    if (at === cursor) place = { row: rows.length, column: indent.length + used }
    if (character === '\n') end()
    row += shown
    used += size
    at += character.length
  }
  if (at <= cursor) place = { row: rows.length, column: indent.length + used }
  end()
  const first = Math.max(0, Math.min(place.row - (maxRows >> 1), rows.length - maxRows))
  return { rows: rows.slice(first, first + maxRows), cursor: { ...place, row: place.row - first } }
}
