import type { Report } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'
import { renderMarkdown, wrapText } from '../terminal/markdown/render-markdown.ts'
import { plainPaint } from '../terminal/paint.ts'

/** Longer lines are hard to read. */
const widest = 120

/** Prints the answer: as it is to a pipe or a file, rendered and wrapped to a terminal that takes escapes. */
export function printAnswer(report: Report | undefined, { stdout, answerPaint = plainPaint }: Host): Promise<void> {
  const { columns } = stdout
  const { format, text = '' } = report ?? {}
  if (columns === undefined || answerPaint === plainPaint || format === 'json') return stdout.text(asLine(text))
  const width = Math.min(widest, columns - 1)
  return stdout.lines(format === 'text' ? wrapText(text.trimEnd(), { width }) : renderMarkdown(text.trim(), { width, paint: answerPaint }))
}

/** The answer and a newline; one that ends its own last line gets no second one. */
const asLine = (answer: string): string => (answer.endsWith('\n') ? answer : `${answer}\n`)
