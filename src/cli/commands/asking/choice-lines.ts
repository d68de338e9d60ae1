import type { ApprovalRequest } from '../../../contracts/index.ts'
import { exactLine, exactLines } from '../../terminal/exact-text.ts'
import type { Paint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { wrapLine } from '../../terminal/wrap-line.ts'
import { abortChoice, denyChoice, type GrantChoices, grantChoicesOf, once } from './answer-choices.ts'
import { indent, type QuestionStyle } from './question-details.ts'

// The choices of a request, each with everything that it grants. Pure.

/** A choice that can share its line with others, or a block of lines. */
type Piece = { readonly kind: 'short'; readonly text: string; readonly used: number } | { readonly kind: 'long'; readonly rows: Rows }
type Rows = readonly string[]

/** Uses as few lines as possible. A grant is never cut: one that is too long gets its own lines, one or more for each key. */
export function choiceLines(request: ApprovalRequest, style: QuestionStyle): Rows {
  const room = { paint: style.paint, width: style.width - indent.length }
  const { paint } = style
  const answers = [
    choicePiece(once.word, 'yes', paint),
    choicePiece(denyChoice.word, 'no', paint),
    choicePiece('no REASON', 'deny with a reason', paint),
    choicePiece(abortChoice.word, 'no, and end the run', paint),
  ]
  const grants = grantChoicesOf(request).map((breadth, index) => grantPiece(breadth, { request, isFirst: index === 0, ...room }))
  return [...packPieces(answers, ' · ', room), ...packPieces(grants, ' · ', room)].map((line) => `${indent}${line}`)
}

interface Place extends QuestionStyle {
  readonly request: Pick<ApprovalRequest, 'input'>
  /** Only the first one explains its words. */
  readonly isFirst: boolean
}

function grantPiece({ session, project, labels }: GrantChoices, { request, isFirst, paint, width }: Place): Piece {
  const words = isFirst
    ? [choicePiece(session.word, 'for this session,', paint), choicePiece(project.word, 'for this project:', paint)]
    : [choicePiece(session.word, '', paint), choicePiece(project.word, '', paint)]
  const head = joinPieces(words, ' ')
  const label = labels.join(', ')
  const used = head.used + 1 + widthOf(label)
  if (used <= width && isPlain(labels)) return { kind: 'short', text: `${head.text} ${label}`, used }
  const bar = paint('dim', '│')
  const start = isFirst ? indent.length : head.used + 1
  const rows = labels
    .flatMap((each) => keyRows(each, request, width - start - 2))
    .map((row, index) => `${!isFirst && index === 0 ? `${head.text} ` : ' '.repeat(start)}${bar} ${row}`.trimEnd())
  return { kind: 'long', rows: isFirst ? [...packPieces(words, ' ', { paint, width }), ...rows] : rows }
}

/** Whether joined labels stay unambiguous: no separator occurs in them. */
const isPlain = (labels: readonly string[]): boolean =>
  labels.every((label) => exactLine(label) === label && !label.includes('·') && !(labels.length > 1 && label.includes(',')))

/** In a longer key, an argument that is shown above in full is only named. */
const maxKeyRows = 6
const hanging = '  '

/** The complete key. Its continuation lines are indented. */
function keyRows(label: string, { input }: Pick<ApprovalRequest, 'input'>, width: number): Rows {
  const whole = exactLines(label, width - hanging.length)
  const [first = '', ...more] = whole.length > maxKeyRows ? exactLines(withoutArgument(label, input), width - hanging.length) : whole
  return [first, ...more.map((row) => `${hanging}${row}`)]
}

function withoutArgument(label: string, input: ApprovalRequest['input']): string {
  const quotable = Object.entries(input).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' && label.includes(value) ? [{ name, value }] : [],
  )
  const [longest] = quotable.toSorted((one, other) => other.value.length - one.value.length)
  return longest ? label.replace(longest.value, () => `(all of ${longest.name}, as above)`) : label
}

type Short = Extract<Piece, { kind: 'short' }>

function choicePiece(word: string, meaning: string, paint: Paint): Short {
  const behind = meaning === '' ? '' : ` ${meaning}`
  return { kind: 'short', text: `${paint('cyan', word)}${behind}`, used: word.length + behind.length }
}

const joinPieces = (pieces: readonly Short[], between: string): Short => ({
  kind: 'short',
  text: pieces.map(({ text }) => text).join(between),
  used: pieces.reduce((sum, { used }) => sum + used, between.length * (pieces.length - 1)),
})

function packPieces(pieces: readonly Piece[], between: ' ' | ' · ', { paint, width }: QuestionStyle): Rows {
  const lines: Piece[] = []
  for (const piece of pieces) {
    const last = lines.at(-1)
    if (piece.kind === 'short' && last?.kind === 'short' && last.used + between.length + piece.used <= width)
      lines[lines.length - 1] = { ...joinPieces([last, piece], paint('dim', between)), used: last.used + between.length + piece.used }
    else lines.push(piece)
  }
  return lines.flatMap((line) => (line.kind === 'long' ? line.rows : wrapLine(line.text, width)))
}
