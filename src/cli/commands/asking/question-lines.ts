import type { ApprovalRequest, Json } from '../../../contracts/index.ts'
import { requestSummary, runAgainOutside } from '../../../view/index.ts'
import { exactLine, exactLines, exactText } from '../../terminal/exact-text.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'
import { choiceLines } from './choice-lines.ts'
import { formLines } from './form-answer.ts'
import { diffLines, indent, type QuestionStyle, sandboxLines } from './question-details.ts'

// A request for approval as it is shown before the call runs. Pure.

export interface ShownRequest {
  readonly request: ApprovalRequest
  /** The label of the child that asks; empty for the root. */
  readonly label: string
}

export function questionLines(asked: ShownRequest, style: QuestionStyle): readonly string[] {
  const { request } = asked
  if (request.question) return openQuestionLines(asked, style)
  const lines = permissionLines(asked, style)
  const choices = choiceLines(request, style)
  // The answer takes one row.
  const fits = lines.length + choices.length < (style.height ?? Number.POSITIVE_INFINITY)
  return [...lines, ...(fits ? [] : reminder(request, lines, style)), ...choices]
}

/** When the beginning has scrolled off, the subject is repeated above the choices: a long call must not hide what it does. */
function reminder(request: ApprovalRequest, lines: readonly string[], style: QuestionStyle): readonly string[] {
  const [title = ''] = lines
  const above = fitted(`${lines.length} lines; scroll up to read all of them before you answer`, style.width - indent.length)
  return [title, ...outsideLines(request, style), `${indent}${style.paint('yellow', above)}`]
}

function openQuestionLines({ request: { question, tool }, label }: ShownRequest, style: QuestionStyle): readonly string[] {
  const { paint, width } = style
  const { text = '', options = [], form, url, from } = question ?? {}
  const asker = from !== undefined || form || url !== undefined ? `asked by ${exactLine(from ?? tool)}` : undefined
  // Untrusted text: continuation lines have a bar, so that they cannot pass for lines of Troupe.
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
    ...(asker === undefined ? [] : [`${indent}${paint('dim', fitted(asker, width - indent.length))}`]),
    ...(url === undefined ? [] : urlLines(url, style)),
    ...(form ? formLines(form, style) : []),
    ...(form || url !== undefined ? [structuredChoices(form ? 'fill in' : 'I am done', paint)] : []),
    ...(options.length > 0 ? [`${indent}${paint('dim', 'a number, or your own answer')}`] : []),
  ]
}

/** The host first: it may hide in a long address. */
function urlLines(url: string, { paint, width }: QuestionStyle): readonly string[] {
  const bar = paint('dim', '│')
  const room = width - indent.length - 2
  return [
    `${indent}${paint('yellow', fitted(`Open this address of ${exactLine(URL.parse(url)?.host ?? '')} yourself:`, width - indent.length))}`,
    ...exactLines(url, room).map((line) => `${indent}${bar} ${line}`),
  ]
}

const structuredChoices = (yes: string, paint: QuestionStyle['paint']): string =>
  `${indent}${[`${paint('cyan', 'y')} ${yes}`, `${paint('cyan', 'n')} decline`, `${paint('cyan', 'c')} cancel`, `${paint('cyan', 'x')} no, and end the run`].join(paint('dim', ' · '))}`

function permissionLines({ request, label }: ShownRequest, style: QuestionStyle): readonly string[] {
  const { paint, width } = style
  const { tool, input, reason } = request
  const who = labelPrefix(label)
  const room = Math.max(1, width - indent.length - widthOf(who) - widthOf(tool) - 2)
  const summarised = argumentInSummary(request, room)
  const others = Object.entries(input).filter(([name]) => name !== summarised)
  return [
    `${paint('yellow', '?')} ${who}${paint('bold', summaryIn(requestSummary(request), room))}  ${paint('dim', printable(tool))}`,
    ...(reason === undefined ? [] : [`${indent}${paint('dim', fitted(`“${printable(reason)}”`, width - indent.length))}`]),
    ...outsideLines(request, style),
    ...sandboxLines(request, style),
    ...argumentLines(others, style),
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

/** The argument that the summary contains verbatim after its verb: `Run npm test`, `Write a.txt, a new file`. It is not repeated. */
function argumentInSummary(request: ApprovalRequest, width: number): string | undefined {
  const { input } = request
  const summary = requestSummary(request)
  if (widthOf(summary) > width || exactText(summary) !== summary || /[\n\t]| {2}/.test(summary)) return undefined
  const [, object] = summary.startsWith(runAgainOutside)
    ? [runAgainOutside, summary.slice(runAgainOutside.length)]
    : (/^\p{L}+ (.+)$/u.exec(summary) ?? [])
  return Object.entries(input).find(([, value]) => value === object || `${String(value)}, a new file` === object)?.[0]
}

/** Longer names are not aligned. */
const maxNameWidth = 16

/** The exact arguments, complete, with a bar before each line. */
function argumentLines(
  given: readonly (readonly [name: string, value: Json | undefined])[],
  { paint, width }: QuestionStyle,
): readonly string[] {
  const named = given.map(([name, value]) => ({ name: exactText(name), text: textOf(value ?? null) }))
  const column = named.reduce((max, { name }) => Math.max(max, Math.min(maxNameWidth, widthOf(name))), 0)
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
