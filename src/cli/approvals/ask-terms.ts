import type { ApprovalDecision, ApprovalKey, ApprovalRequest } from '../../contracts/index.ts'
import { type Paint, printable } from '../paint.ts'

// What a person at a terminal is shown before a call runs, and what the answers mean. Pure.

/** Who asks, and for what. */
export interface Asked {
  readonly request: ApprovalRequest
  /** The child that wants it, as it is called in the tree; empty for the root. */
  readonly label: string
}

export function questionLines({ request, label }: Asked, paint: Paint): readonly string[] {
  const { tool, summary, scope, input, question } = request
  const who = label === '' ? '' : `${printable(label)} · `
  if (question) {
    return [
      `${paint('yellow', '?')} ${who}${paint('bold', printable(question.text))}`,
      ...(question.options ?? []).map((option, index) => `  ${paint('cyan', String(index + 1))}  ${printable(option)}`),
    ]
  }
  return [
    `${paint('yellow', '?')} ${who}${paint('bold', printable(summary))}`,
    ...(scope === 'unsandboxed' ? [`  ${paint('red', 'outside the sandbox: with all that you may do yourself')}`] : []),
    `  ${paint('dim', printable(tool))}`,
    ...argumentLines(input).map((line) => `  ${line}`),
    ...choicesOf(request).map(({ word, says }) => `  ${paint('cyan', word.padEnd(2))}  ${printable(says)}`),
  ]
}

/** Exactly what the call would run with: nothing is cut, and control characters are shown as what they are. */
function argumentLines(input: ApprovalRequest['input']): readonly string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    const [first = '', ...more] = text.split('\n').map(printable)
    return more.length === 0 ? [`${printable(name)}: ${first}`] : [`${printable(name)}:`, `  ${first}`, ...more.map((line) => `  ${line}`)]
  })
}

export interface Choice {
  readonly word: string
  readonly says: string
  readonly decision: ApprovalDecision
}

/** What may be answered, by what is typed. A broader yes is a number of its own, so that nobody gives it by mistake. */
export function choicesOf({ keys, wider = [] }: ApprovalRequest): readonly Choice[] {
  const exactly = keys.length === 0 ? 'this' : keys.map(({ label }) => label).join(', ')
  const broader = wider.flatMap((key, index): readonly Choice[] => granting(key, index + 1))
  return [
    { word: 'y', says: 'yes, this once', decision: { kind: 'approve', breadth: 'once' } },
    { word: 's', says: `yes, for this session: ${exactly}`, decision: { kind: 'approve', breadth: 'session' } },
    { word: 'p', says: `yes, for this project: ${exactly}`, decision: { kind: 'approve', breadth: 'project' } },
    ...broader,
    { word: 'n', says: 'no; what follows it on the line is told to the model', decision: { kind: 'deny' } },
    { word: 'x', says: 'no, and end the run', decision: { kind: 'abort' } },
  ]
}

const granting = ({ key, label }: ApprovalKey, number: number): readonly Choice[] => [
  { word: `s${number}`, says: `yes, for this session: ${label}`, decision: { kind: 'approve', breadth: 'session', key } },
  { word: `p${number}`, says: `yes, for this project: ${label}`, decision: { kind: 'approve', breadth: 'project', key } },
]

/** What an answer means; nothing where it means nothing, so that it is asked again. */
export function decisionOf(line: string, request: ApprovalRequest): ApprovalDecision | undefined {
  const said = line.trim()
  if (request.question) return answerOf(said, request.question.options ?? [])
  const [word = '', ...rest] = said.split(/\s+/)
  const lower = word.toLowerCase()
  if (lower === 'n' || lower === 'no') {
    const feedback = rest.join(' ')
    return feedback === '' ? { kind: 'deny' } : { kind: 'deny', feedback }
  }
  if (rest.length > 0) return undefined
  return choicesOf(request).find((choice) => choice.word === (lower === 'yes' ? 'y' : lower))?.decision
}

function answerOf(said: string, options: readonly string[]): ApprovalDecision | undefined {
  if (said === '') return undefined
  const option = /^\d+$/.test(said) ? options[Number(said) - 1] : undefined
  return { kind: 'answer', text: option ?? said }
}
