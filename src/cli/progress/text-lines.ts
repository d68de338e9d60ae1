import { plural } from '../terminal/format-numbers.ts'
import { wrapText } from '../terminal/markdown/render-markdown.ts'
import { fitWidth } from '../terminal/paint.ts'

/** The first lines of a text of the model, wrapped between words, and the number of those that are left out. */
export function replyLines(text: string, { width, maxLines }: { readonly width: number; readonly maxLines: number }): readonly string[] {
  const lines = wrapText(text.trim(), { width: Math.max(1, width) }).map((line) => line.trimEnd())
  const left = lines.length - maxLines
  const more = `… ${plural(left, 'more line')}`
  return left > 0 ? [...lines.slice(0, maxLines), fitWidth(more, Math.min(width, more.length))] : lines
}
