import type { ApprovalRequest, Json } from '../../contracts/index.ts'
import { requestSummary, runAgainOutside } from '../../view/index.ts'
import { exactLine, exactLines, exactText } from '../terminal/exact-text.ts'
import { fitWidth, printable, widthOf } from '../terminal/paint.ts'
import { choiceLines } from './choice-lines.ts'
import { diffLines, indent, type QuestionStyle, sandboxLines } from './question-details.ts'

// What a person at a terminal is shown before a call runs. Pure.

/** Who asks, and for what. */
export interface ShownRequest {
  readonly request: ApprovalRequest
  /** The child that wants it, as it is called in the tree; empty for the root. */
  readonly label: string
}

export function questionLines(asked: ShownRequest, style: QuestionStyle): readonly string[] {
  const { request } = asked
  if (request.question) return openQuestionLines(asked, style)
  const told = permissionLines(asked, style)
  const choices = choiceLines(request, style)
  // The answer has a row of its own.
  const isSeen = told.length + choices.length < (style.height ?? Number.POSITIVE_INFINITY)
  return [...told, ...(isSeen ? [] : reminder(request, told, style)), ...choices]
}

/** Where the beginning has left the window, what is asked is said runAgainOutside at the answers: a long call must not hide what it does. */
function reminder(request: ApprovalRequest, told: readonly string[], style: QuestionStyle): readonly string[] {
  const [title = ''] = told
  const above = fitted(`${told.length} lines; scroll up to read all of them before you answer`, style.width - indent.length)
  return [title, ...outsideLines(request, style), `${indent}${style.paint('yellow', above)}`]
}

function openQuestionLines({ request: { question }, label }: ShownRequest, { paint, width }: QuestionStyle): readonly string[] {
  const { text = '', options = [] } = question ?? {}
  // Its words are the model's: what follows the first line has a bar, so that it cannot pass for a line of ours.
  const [first = '', ...more] = exactLines(`${labelPrefix(label)}${text}`, width - indent.length - 2)
  return [
    `${paint('yellow', '?')} ${paint('bold', first)}`,
    ...more.map((line) => `${indent}${paint('dim', '│')} ${paint('bold', line)}`),
    ...options.flatMap((option, index) => {
      const number = String(index + 1)
      const [begin = '', ...rest] = exactLines(option, width - indent.length - number.length - 1)
      const below = ' '.repeat(number.length + 1)
      return [`${indent}${paint('cyan', number)} ${begin}`, ...rest.map((line) => `${indent}${below}${line}`)]
    }),
    ...(options.length > 0 ? [`${indent}${paint('dim', 'a number, or your own answer')}`] : []),
  ]
}

function permissionLines({ request, label }: ShownRequest, style: QuestionStyle): readonly string[] {
  const { paint, width } = style
  const { tool, input, reason } = request
  const who = labelPrefix(label)
  const room = Math.max(1, width - indent.length - widthOf(who) - widthOf(tool) - 2)
  const told = argumentInSummary(request, room)
  const left = Object.entries(input).filter(([name]) => name !== told)
  return [
    `${paint('yellow', '?')} ${who}${paint('bold', summaryIn(requestSummary(request), room))}  ${paint('dim', printable(tool))}`,
    ...(reason === undefined ? [] : [`${indent}${paint('dim', fitted(`“${printable(reason)}”`, width - indent.length))}`]),
    ...outsideLines(request, style),
    ...sandboxLines(request, style),
    ...argumentLines(left, style),
    ...diffLines(request, style),
  ]
}

const outsideLines = ({ scope }: ApprovalRequest, { paint, width }: QuestionStyle): readonly string[] =>
  scope === 'unsandboxed'
    ? [`${indent}${paint('red', fitted('outside the sandbox: with all permissions of your user account', width - indent.length))}`]
    : []

const labelPrefix = (label: string): string => (label === '' ? '' : `${printable(label)} · `)

const fitted = (text: string, width: number): string => fitWidth(text, Math.min(width, widthOf(text)))
const summaryIn = (summary: string, width: number): string => fitted(exactLine(summary), Math.max(1, width))

/** The argument that the summary tells to the letter, behind its verb: `Run npm test`, `Write a.txt, a new file`. It need not be told twice. */
function argumentInSummary(request: ApprovalRequest, width: number): string | undefined {
  const { input } = request
  const summary = requestSummary(request)
  if (widthOf(summary) > width || exactText(summary) !== summary || /[\n\t]| {2}/.test(summary)) return undefined
  const [, object] = summary.startsWith(runAgainOutside)
    ? [runAgainOutside, summary.slice(runAgainOutside.length)]
    : (/^\p{L}+ (.+)$/u.exec(summary) ?? [])
  return Object.entries(input).find(([, value]) => value === object || `${String(value)}, a new file` === object)?.[0]
}

/** Names line up, unless one of them is too long for that. */
const maxNameWidth = 16

/** Exactly what the call would run with: all of it, with a line of its own at the left, however it is broken. */
function argumentLines(
  given: readonly (readonly [name: string, value: Json | undefined])[],
  { paint, width }: QuestionStyle,
): readonly string[] {
  const named = given.map(([name, value]) => ({ name: exactText(name), text: textOf(value ?? null) }))
  const column = named.reduce((most, { name }) => Math.max(most, Math.min(maxNameWidth, widthOf(name))), 0)
  const bar = paint('dim', '│')
  return named.flatMap(({ name, text }) => {
    const padded = name.padEnd(name.length + Math.max(0, column - widthOf(name)))
    const start = indent.length + widthOf(padded) + 1
    return exactLines(text, width - start - 2).map((line, index) => {
      const before = index === 0 ? `${indent}${paint('dim', padded)} ` : ' '.repeat(start)
      return `${before}${bar} ${line}`.trimEnd()
    })
  })
}

const textOf = (value: Json): string => {
  if (typeof value === 'string') return value
  const short = JSON.stringify(value)
  return short.length <= shortJson ? short : JSON.stringify(value, null, 2)
}
const shortJson = 60
