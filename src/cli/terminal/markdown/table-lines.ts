import type { Paint } from '../paint.ts'
import { paintSpans, type Span, spansOf, spansWidth, wrapSpans } from './spans.ts'

const gap = ' │ '
const minColumnWidth = 4

/** A table in columns, its cells wrapped to fit; nothing where the window is too narrow for its columns. */
export function tableLines(
  rows: readonly (readonly string[])[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] | undefined {
  const count = rows[0]?.length ?? 0
  const room = width - gap.length * (count - 1)
  // All rows get all columns: a wide header with many rows would take all memory.
  if (room < count) return undefined
  const cells = rows.map((row, i) => Array.from({ length: count }, (_, column) => spansOf(row[column] ?? '', i === 0 ? ['bold'] : [])))
  const wanted = Array.from({ length: count }, (_, column) => cells.reduce((max, row) => Math.max(max, spansWidth(row[column] ?? [])), 1))
  const widths = fitColumns(wanted, room)
  if (!widths) return undefined
  const lines = cells.map((row) => rowLines(row, widths, paint))
  const divider = paint('dim', widths.map((columns) => '─'.repeat(columns)).join('─┼─'))
  return [...(lines[0] ?? []), divider, ...lines.slice(1).flat()]
}

/** The widest columns give way first. */
function fitColumns(wanted: readonly number[], room: number): readonly number[] | undefined {
  if (room < wanted.reduce((sum, columns) => sum + Math.min(columns, minColumnWidth), 0)) return undefined
  // The largest limit under which all columns fit.
  const sumAt = (limit: number): number => wanted.reduce((sum, columns) => sum + Math.min(columns, limit), 0)
  let limit = room
  while (limit > minColumnWidth && sumAt(limit) > room) limit--
  return wanted.map((columns) => Math.min(columns, limit))
}

function rowLines(row: readonly (readonly Span[])[], widths: readonly number[], paint: Paint): readonly string[] {
  const cells = row.map((cell, column) => wrapSpans(cell, widths[column] ?? 1))
  const height = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, i) =>
    cells
      .map((lines, column) => {
        const line = lines[i] ?? []
        const isLast = column === cells.length - 1
        return `${paintSpans(line, paint)}${isLast ? '' : ' '.repeat(Math.max(0, (widths[column] ?? 0) - spansWidth(line)))}`
      })
      .join(paint('dim', gap)),
  )
}
