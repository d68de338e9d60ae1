import { plural } from '../../../util/plural.ts'
import type { Paint, Shade } from '../paint.ts'
import { printableText } from '../printable.ts'
import { fitWidth, widthOf } from '../text-width.ts'
import { type Block, blocksOf } from './blocks.ts'
import { paintSpans, spansOf, wrapSpans } from './spans.ts'
import { tableLines } from './table-lines.ts'

interface MarkdownView {
  readonly paint: Paint
  readonly width: number
  /** Lines of code are cut at the width. Otherwise they stay whole, so that they can be copied. */
  readonly cutsCode?: boolean
}

/** A Markdown text as styled lines for a terminal. Escapes in the text have no effect. */
export function renderMarkdown(text: string, view: MarkdownView): readonly string[] {
  const lines = blocksOf(printableText(text).replaceAll('\t', '    ')).flatMap((block) => blockLines(block, view))
  // One blank line is enough between two blocks.
  return lines.filter((line, i) => line !== '' || (lines[i - 1] ?? '') !== '')
}

/** A text without Markdown, its words wrapped. */
export function wrapText(text: string, { width }: Pick<MarkdownView, 'width'>): readonly string[] {
  return printableText(text)
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => {
      const indent = (/^ */.exec(line)?.[0] ?? '').slice(0, width >> 1)
      const lines = wrapSpans([{ text: line, shades: [] }], Math.max(1, width - indent.length))
      return widthOf(line) <= width ? [line] : lines.map((spans) => `${indent}${spans.map((span) => span.text).join('')}`)
    })
}

function blockLines(block: Block, view: MarkdownView): readonly string[] {
  const { paint, width } = view
  switch (block.kind) {
    case 'blank':
      return ['']
    case 'rule':
      return [paint('dim', '─'.repeat(Math.min(width, 40)))]
    case 'paragraph': {
      const indent = indentOf(block, width)
      return prose(block.text, { first: indent, rest: indent, shades: [] }, view)
    }
    case 'heading':
      return prose(block.text, { first: '', rest: '', shades: block.level === 1 ? ['bold', 'underline'] : ['bold'] }, view)
    case 'quote':
      return prose(block.text, { first: '│ ', rest: '│ ', shades: ['dim'] }, view)
    case 'item': {
      const first = `${indentOf(block, width)}${/\d/.test(block.marker) ? block.marker : '•'} `
      return prose(block.text, { first, rest: ' '.repeat(widthOf(first)), shades: [] }, view)
    }
    case 'code':
      return block.lines.map((line) => {
        const shown = view.cutsCode ? fitWidth(line, Math.max(0, Math.min(width - 2, widthOf(line)))) : line
        return shown === '' ? '' : `  ${paint('cyan', shown)}`
      })
    case 'table':
      return tableLines(block.rows, view) ?? block.rows.flatMap((row) => prose(row.join(' | '), { first: '', rest: '', shades: [] }, view))
    default:
      return block satisfies never
  }
}

const indentOf = ({ indent }: { readonly indent: number }, width: number): string => ' '.repeat(Math.min(indent, width >> 1))

interface Prose {
  /** Prefixes of the first line and of the others. */
  readonly first: string
  readonly rest: string
  readonly shades: readonly Shade[]
}

function prose(text: string, { first, rest, shades }: Prose, { paint, width }: MarkdownView): readonly string[] {
  const task = /^\[([ xX])\] /.exec(text)
  const marked = task ? `${task[1] === ' ' ? '☐' : '☑'} ${text.slice(task[0].length)}` : text
  const lines = wrapSpans(spansOf(marked.replace(/\\$/, ''), shades), Math.max(1, width - widthOf(first)))
  const shown = (prefix: string): string => (prefix.trim() === '' ? prefix : paint('dim', prefix))
  return lines.map((line, i) => `${shown(i === 0 ? first : rest)}${paintSpans(line, paint)}`)
}

/** The first lines of a text of the model, wrapped between words, and the number of those that are left out. */
export function replyLines(text: string, { width, maxLines }: { readonly width: number; readonly maxLines: number }): readonly string[] {
  const lines = wrapText(text.trim(), { width: Math.max(1, width) }).map((line) => line.trimEnd())
  const left = lines.length - maxLines
  const more = `… ${plural(left, 'more line')}`
  return left > 0 ? [...lines.slice(0, maxLines), fitWidth(more, Math.min(width, more.length))] : lines
}
