import type { Report } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'
import { renderMarkdown, wrapText } from '../terminal/markdown/render-markdown.ts'
import { plainPaint } from '../terminal/paint.ts'

/** For readability. */
const maxWidth = 120

/** Prints the answer: unchanged to a pipe or file, rendered and wrapped to a terminal with colours. */
export function printAnswer(report: Report | undefined, { stdout, answerPaint = plainPaint }: Host): Promise<void> {
  const { columns } = stdout
  const { format, text = '' } = report ?? {}
  if (columns === undefined || answerPaint === plainPaint || format === 'json') return stdout.text(asLine(text))
  const width = Math.min(maxWidth, columns - 1)
  return stdout.lines(format === 'text' ? wrapText(text.trimEnd(), { width }) : renderMarkdown(text.trim(), { width, paint: answerPaint }))
}

/** The answer with exactly one added newline if it has none. */
const asLine = (answer: string): string => (answer.endsWith('\n') ? answer : `${answer}\n`)
