import type { ApprovalDecision, ApprovalKey, ApprovalRequest } from '../../contracts/index.ts'
import { requestSummary } from '../../view/index.ts'
import { exactLine } from '../terminal/exact-text.ts'

// What a person at a terminal may answer, and what the answers mean. Pure.

export interface Choice {
  /** What is typed. */
  readonly word: string
  readonly decision: ApprovalDecision
}

/** What is granted beyond this once, by the words for a session and for the project. */
export interface GrantChoices {
  readonly session: Choice
  readonly project: Choice
  /** All that it stands for, as a person reads it. */
  readonly labels: readonly string[]
}

export const once: Choice = { word: 'y', decision: { kind: 'approve', breadth: 'once' } }
export const denyChoice: Choice = { word: 'n', decision: { kind: 'deny' } }
export const abortChoice: Choice = { word: 'x', decision: { kind: 'abort' } }

/** From what the call needs to what it belongs to. A broader yes has a number, so that nobody gives it by mistake. */
export function grantChoicesOf({ keys, wider = [] }: Pick<ApprovalRequest, 'keys' | 'wider'>): readonly GrantChoices[] {
  // Where the call names nothing, there is nothing that could be remembered.
  const exactly = keys.length === 0 ? [] : [breadth(keys.map(({ label }) => label))]
  return [...exactly, ...wider.map((each, index) => breadth([each.label], each, index + 1))]
}

function breadth(labels: readonly string[], wider?: ApprovalKey, number?: number): GrantChoices {
  const choice = (letter: 's' | 'p', kept: 'session' | 'project'): Choice => ({
    word: `${letter}${number ?? ''}`,
    decision: { kind: 'approve', breadth: kept, ...(wider && { key: wider.key }) },
  })
  return { session: choice('s', 'session'), project: choice('p', 'project'), labels }
}

/** What was said, as a person reads it. */
export const decisionText = { approve: 'approved', answer: 'answered', deny: 'denied', abort: 'denied' } as const

/** What may be typed, for whoever has typed something else. */
export function answerHint(request: ApprovalRequest): string {
  if (request.question) {
    const { length } = request.question.options ?? []
    return length > 0 ? `Type a number from 1 to ${length}, or your own answer.` : 'Type an answer.'
  }
  const kept = grantChoicesOf(request).flatMap(({ session, project }) => [session.word, project.word])
  const words = [once.word, denyChoice.word, `${denyChoice.word} WHY`, abortChoice.word, ...kept]
  return `Type ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`
}

/** What a yes for more than this once grants, and for how long; nothing for any other answer. */
export function grantOf(decision: ApprovalDecision, { keys, wider = [] }: Pick<ApprovalRequest, 'keys' | 'wider'>): Grant | undefined {
  if (decision.kind !== 'approve' || decision.breadth === 'once') return undefined
  const { breadth: kept, key } = decision
  const granted = key === undefined ? keys : wider.filter((each) => each.key === key)
  return { breadth: kept, granted: granted.map((each) => ({ key: each.key, label: each.label })) }
}

export interface Grant {
  readonly breadth: 'session' | 'project'
  readonly granted: readonly Pick<ApprovalKey, 'key' | 'label'>[]
}

/** `n`, `no`, `no not there`, `No, thanks`, `no: not there`, `n - later`. */
const refused = /^no?(?:[\s,;:.!–—-]+(.*))?$/is

/** What an answer means; nothing where it means nothing, so that it is asked again. */
export function parseDecision(line: string, request: ApprovalRequest): ApprovalDecision | undefined {
  const said = line.trim()
  if (request.question) return parseAnswer(said, request.question.options ?? [])
  const no = refused.exec(said)
  if (no) {
    const feedback = no[1] ?? ''
    return feedback === '' ? denyChoice.decision : { kind: 'deny', feedback }
  }
  const lower = said.toLowerCase()
  const choices = [once, abortChoice, ...grantChoicesOf(request).flatMap(({ session, project }) => [session, project])]
  return choices.find((choice) => choice.word === (lower === 'yes' ? once.word : lower))?.decision
}

/** An option by its own words or by its number, or anything else; a bare number that is neither is a slip. */
function parseAnswer(said: string, options: readonly string[]): ApprovalDecision | undefined {
  if (said === '') return undefined
  if (options.length === 0 || options.includes(said)) return { kind: 'answer', text: said }
  if (!/^\d+$/.test(said)) return { kind: 'answer', text: said }
  const option = options[Number(said) - 1]
  return option === undefined ? undefined : { kind: 'answer', text: option }
}

/** What was answered, in a line: what was asked, and what a yes grants beyond this once. */
export function answerSummary(request: ApprovalRequest, decision: ApprovalDecision): string {
  const grant = grantOf(decision, request)
  const summary = exactLine(requestSummary(request))
  return grant ? `${summary}; ${howLong[grant.breadth]}: ${labelsLine(grant.granted.map(({ label }) => label))}` : summary
}

/** All of them; several are quoted, so that it is seen where each of them ends. */
export function labelsLine(labels: readonly string[]): string {
  const lines = labels.map(exactLine)
  return lines.length > 1 ? lines.map((line) => `“${line}”`).join(', ') : lines.join('')
}

const howLong = { session: 'for this session', project: 'for this project, until revoked' } as const
