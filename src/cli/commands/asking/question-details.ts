import type { ApprovalRequest } from '../../../contracts/index.ts'
import { plural } from '../../../util/plural.ts'
import { exactLines } from '../../terminal/exact-text.ts'
import type { Paint } from '../../terminal/paint.ts'

// Details that help to decide: the diff of a change, and why a command failed in the sandbox. Pure.

export interface QuestionStyle {
  readonly paint: Paint
  /** Columns that a line may take. */
  readonly width: number
  /** Rows of the terminal, if the request is answered there. */
  readonly height?: number
}

export const indent = '  '

/** The arguments above the diff show the complete new content. */
const maxDiffLines = 60
const heading = 'diff'

export function diffLines({ diff }: ApprovalRequest, { paint, width }: QuestionStyle): readonly string[] {
  if (diff === undefined) return []
  // The summary names the files.
  const lines = diff.replace(/\n$/, '').split('\n')
  const changes = lines[0]?.startsWith('--- ') && lines[1]?.startsWith('+++ ') ? lines.slice(2) : lines
  const start = indent.length + heading.length + 1
  const drawn = changes.flatMap((line) => exactLines(line, width - start - 2).map((row) => coloured(line, row, paint)))
  const shown = drawn.length > maxDiffLines ? [...drawn.slice(0, maxDiffLines), leftOut(drawn.length - maxDiffLines, paint)] : drawn
  return shown.map((row, index) => {
    const before = index === 0 ? `${indent}${paint('dim', heading)} ` : ' '.repeat(start)
    return `${before}${paint('dim', '│')} ${row}`.trimEnd()
  })
}

function coloured(line: string, row: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', row)
  if (line.startsWith('-')) return paint('red', row)
  return line.startsWith('@@') ? paint('cyan', row) : row
}

const leftOut = (count: number, paint: Paint): string => paint('dim', `… ${plural(count, 'more line')}`)

const maxTextLines = 4
const maxOutputLines = 5

/** The error of the sandboxed attempt and the end of its output. */
export function sandboxLines({ inside }: ApprovalRequest, { paint, width }: QuestionStyle): readonly string[] {
  if (!inside) return []
  // Untrusted text: the bar keeps it from passing for a line of Troupe.
  const room = width - indent.length - 2
  const row = (line: string): string => `${indent}${paint('dim', '│')} ${line}`.trimEnd()
  const words = exactLines(inside.error.message.trim(), room)
  const printed = (inside.partial ?? '').split('\n').filter((line) => line.trim() !== '')
  const output = printed.slice(-maxOutputLines).flatMap((line) => exactLines(line, room).slice(0, 2))
  return [
    ...words.slice(0, maxTextLines).map(row),
    ...(words.length > maxTextLines ? [row(leftOut(words.length - maxTextLines, paint))] : []),
    ...output.map((line) => row(paint('dim', line))),
  ]
}
