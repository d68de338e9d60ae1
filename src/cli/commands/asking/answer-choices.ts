import type { ApprovalDecision, ApprovalKey, ApprovalRequest, Question } from '../../../contracts/index.ts'
import { contentProblem } from '../../../policy/form-fields.ts'
import { parseJsonObject } from '../../../util/json-values.ts'
import { requestSummary } from '../../../view/index.ts'
import { exactLine } from '../../terminal/exact-text.ts'

// Choices of a request and the meaning of typed answers. Pure.

interface Choice {
  readonly word: string
  readonly decision: ApprovalDecision
}

/** A grant that is wider than one call, for the session or for the project. */
export interface GrantChoices {
  readonly session: Choice
  readonly project: Choice
  /** What is granted, for people. */
  readonly labels: readonly string[]
}

export const once: Choice = { word: 'y', decision: { kind: 'approve', breadth: 'once' } }
export const denyChoice: Choice = { word: 'n', decision: { kind: 'deny' } }
export const abortChoice: Choice = { word: 'x', decision: { kind: 'abort' } }
/** For a form or a URL: neither accept nor decline. */
export const cancelChoice: Choice = { word: 'c', decision: { kind: 'deny', cancel: true } }

/** From the keys of the call to wider ones. Wider grants have a number, so that users do not pick one by mistake. */
export function grantChoicesOf({ keys, wider = [] }: Pick<ApprovalRequest, 'keys' | 'wider'>): readonly GrantChoices[] {
  // A call without keys cannot be remembered.
  const exactly = keys.length === 0 ? [] : [breadth(keys.map(({ label }) => label))]
  return [...exactly, ...wider.map((each, index) => breadth([each.label], each, index + 1))]
}

function breadth(labels: readonly string[], wider?: ApprovalKey, number?: number): GrantChoices {
  const choice = (letter: 's' | 'p', grants: 'session' | 'project'): Choice => ({
    word: `${letter}${number ?? ''}`,
    decision: { kind: 'approve', breadth: grants, ...(wider && { key: wider.key }) },
  })
  return { session: choice('s', 'session'), project: choice('p', 'project'), labels }
}

export const decisionText = { approve: 'approved', answer: 'answered', result: 'returned', deny: 'denied', abort: 'denied' } as const

/** Shown after an invalid answer. */
export function answerHint(request: ApprovalRequest): string {
  if (request.question && isStructured(request.question)) return request.question.form ? formHint : urlHint
  if (request.question) {
    const { length } = request.question.options ?? []
    return length > 0 ? `Type a number from 1 to ${length}, or your own answer.` : 'Type an answer.'
  }
  const grants = grantChoicesOf(request).flatMap(({ session, project }) => [session.word, project.word])
  const words = [once.word, denyChoice.word, 'no REASON', abortChoice.word, ...grants]
  return `Type ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`
}

/** The grant of an approval that covers more than one call. */
export function grantOf(decision: ApprovalDecision, { keys, wider = [] }: Pick<ApprovalRequest, 'keys' | 'wider'>): Grant | undefined {
  if (decision.kind !== 'approve' || decision.breadth === 'once') return undefined
  const { breadth: grants, key } = decision
  const granted = key === undefined ? keys : wider.filter((each) => each.key === key)
  return { breadth: grants, granted: granted.map((each) => ({ key: each.key, label: each.label })) }
}

interface Grant {
  readonly breadth: 'session' | 'project'
  readonly granted: readonly Pick<ApprovalKey, 'key' | 'label'>[]
}

/** It has a form or a URL: the answer is no free text. */
const isStructured = ({ form, url }: Question): boolean => form !== undefined || url !== undefined

const formHint = 'Type y to fill in the form, a JSON object with its fields, n to decline, no REASON, c to cancel, or x.'
const urlHint = 'Type y when you are done, n to decline, no REASON, c to cancel, or x.'

/** `n`, `no`, `no not there`, `No, thanks`, `no: not there`, `n - later`. */
const denial = /^no?(?:[\s,;:.!–—-]+(.*))?$/is

/** Undefined for an invalid answer: the question is asked again. */
export function parseDecision(line: string, request: ApprovalRequest): ApprovalDecision | undefined {
  const typed = line.trim()
  if (request.question && !isStructured(request.question)) return parseAnswer(typed, request.question.options ?? [])
  const no = denial.exec(typed)
  if (no) {
    const feedback = no[1] ?? ''
    return feedback === '' ? denyChoice.decision : { kind: 'deny', feedback }
  }
  const lower = typed.toLowerCase()
  if (request.question) return parseStructured(typed, lower, request.question)
  const choices = [once, abortChoice, ...grantChoicesOf(request).flatMap(({ session, project }) => [session, project])]
  return choices.find((choice) => choice.word === (lower === 'yes' ? once.word : lower))?.decision
}

function parseStructured(typed: string, lower: string, { form }: Question): ApprovalDecision | undefined {
  const said = [cancelChoice, abortChoice].find(({ word }) => word === (lower === 'cancel' ? cancelChoice.word : lower))
  if (said) return said.decision
  if (!form) return /^(?:y|yes|done)$/.test(lower) ? { kind: 'answer', text: 'done' } : undefined
  const content = parseJsonObject(typed)
  return content && contentProblem(form, content) === undefined ? { kind: 'answer', text: '', content } : undefined
}

/** An option, its number, or any other text. A number that is out of range is a typing error. */
function parseAnswer(typed: string, options: readonly string[]): ApprovalDecision | undefined {
  if (typed === '') return undefined
  if (options.length === 0 || options.includes(typed)) return { kind: 'answer', text: typed }
  if (!/^\d+$/.test(typed)) return { kind: 'answer', text: typed }
  const option = options[Number(typed) - 1]
  return option === undefined ? undefined : { kind: 'answer', text: option }
}

/** The request in one line, with what an approval grants beyond this call. */
export function answerSummary(request: ApprovalRequest, decision: ApprovalDecision): string {
  const grant = grantOf(decision, request)
  const summary = exactLine(requestSummary(request))
  return grant ? `${summary}; ${howLong[grant.breadth]}: ${labelsLine(grant.granted.map(({ label }) => label))}` : summary
}

/** Several labels are quoted, so that it is clear where each ends. */
export function labelsLine(labels: readonly string[]): string {
  const lines = labels.map(exactLine)
  return lines.length > 1 ? lines.map((line) => `“${line}”`).join(', ') : lines.join('')
}

const howLong = { session: 'for this session', project: 'for this project, until revoked' } as const
