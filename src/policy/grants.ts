import type { ApprovalBreadth, ApprovalDecision, ApprovalKey, ApprovalRequest, JsonObject } from '../contracts/index.ts'
import { isPlainObject } from '../util/json-schema/schema-values.ts'
import type { Redactor } from '../util/redact.ts'
import { contentProblem } from './form-fields.ts'

/** What a decision grants beyond its call. */
export function grantedBy({ keys, wider = [] }: ApprovalRequest, decision: ApprovalDecision): readonly ApprovalKey[] {
  if (decision.kind !== 'approve' || decision.breadth === 'once') return []
  return (decision.key === undefined ? keys : wider.filter(({ key }) => key === decision.key)).map(asGranted)
}

/** Without the parts that only rules need. */
const asGranted = ({ key, label, isPrefix }: ApprovalKey): ApprovalKey => ({ key, label, ...(isPrefix === true && { isPrefix }) })

export const isGranted = (grants: readonly ApprovalKey[], wanted: string): boolean =>
  grants.some(({ key, isPrefix }) => key === wanted || (isPrefix === true && wanted.startsWith(key)))

/** Whether all keys of a call are granted. A key with `mustBeNamed` is not granted by a prefix. */
export const areGranted = (grants: readonly ApprovalKey[], keys: readonly ApprovalKey[]): boolean =>
  keys.every(({ key, mustBeNamed }) => isGranted(mustBeNamed === true ? grants.filter(({ isPrefix }) => isPrefix !== true) : grants, key))

/** Whether it is a valid decision for any request. */
export function isDecision(value: unknown): value is ApprovalDecision {
  const { key } = (typeof value === 'object' && value !== null ? value : {}) as LooseDecision
  const wider = typeof key === 'string' ? [{ key, label: '' }] : []
  return (['call', 'question', 'client'] as const).some((scope) => decisionProblem({ scope, wider }, value) === undefined)
}

/** Why a decision, which may come from anywhere, is not valid for its request. */
export function decisionProblem({ scope, wider = [], question }: Decidable, decision: unknown): string | undefined {
  const { kind, breadth, key, text, content, feedback, cancel, ok, parts } = (
    typeof decision === 'object' && decision !== null ? decision : {}
  ) as LooseDecision
  if (kind === 'abort') return undefined
  if (kind === 'deny') {
    if (cancel !== undefined && cancel !== true) return 'its cancel is not true'
    return feedback === undefined || typeof feedback === 'string' ? undefined : 'its feedback is not a string'
  }
  if (kind === 'result') {
    if (scope !== 'client') return 'it is a result, but a person is asked'
    if (typeof ok !== 'boolean' || typeof content !== 'string') return 'its ok is not a boolean, or its content not a string'
    return parts === undefined || areInputParts(parts) ? undefined : 'its parts are not texts, images or files with base64'
  }
  if (scope === 'client') return 'the client runs the call: its result was expected'
  if (kind === 'answer') {
    if (scope !== 'question') return 'it is an answer, but approve or deny was expected'
    if (typeof text !== 'string') return 'its text is not a string'
    if (question?.form) return contentProblem(question.form, content)
    if (content === undefined) return undefined
    if (question) return 'it has content, but the question has no form'
    return isPlainObject(content) ? undefined : 'its content is not an object'
  }
  if (kind !== 'approve') return 'unknown decision kind'
  if (scope === 'question') return 'it approves, but an answer was expected'
  if (!breadths.includes(breadth)) return `its breadth is not one of ${breadths.join(', ')}`
  if (key !== undefined && typeof key !== 'string') return 'its key is not a string'
  if (key === undefined || wider.some((each) => each.key === key)) return undefined
  return 'its key was not offered'
}

const areInputParts = (parts: unknown): boolean => Array.isArray(parts) && parts.every(isInputPart)

/** Base64, or what is stored of it. */
function isInputPart(part: unknown): boolean {
  const { type, text, data, mediaType } = (isPlainObject(part) ? part : {}) as { readonly [key: string]: unknown }
  if (type === 'text') return typeof text === 'string'
  return (type === 'image' || type === 'file') && typeof mediaType === 'string' && typeof data === 'string' && !/^(?!blob:)\w+:/.test(data)
}

/** A decision without unknown fields. */
function plainDecision(decision: ApprovalDecision): ApprovalDecision {
  switch (decision.kind) {
    case 'approve': {
      const { kind, breadth, key } = decision
      return key === undefined ? { kind, breadth } : { kind, breadth, key }
    }
    case 'answer': {
      const { kind, text, content } = decision
      return content === undefined ? { kind, text } : { kind, text, content }
    }
    case 'result': {
      const { kind, ok, content, parts } = decision
      return { kind, ok, content, ...(parts && parts.length > 0 && { parts }) }
    }
    case 'deny': {
      const { kind, feedback, cancel } = decision
      return { kind, ...(feedback !== undefined && { feedback }), ...(cancel && { cancel }) }
    }
    case 'abort':
      return { kind: decision.kind }
    default:
      return decision satisfies never
  }
}

/** People may type secrets. */
export function redactDecision({ text, json }: Redactor, given: ApprovalDecision): ApprovalDecision {
  const decision = plainDecision(given)
  if (decision.kind === 'answer') {
    const { content } = decision
    return { ...decision, text: text(decision.text), ...(content && { content: json(content) as JsonObject }) }
  }
  if (decision.kind === 'result') {
    const { parts } = decision
    const hidden = parts?.map((part) => (part.type === 'text' ? { ...part, text: text(part.text) } : part))
    return { ...decision, content: text(decision.content), ...(hidden && { parts: hidden }) }
  }
  return decision.kind === 'deny' && decision.feedback !== undefined ? { ...decision, feedback: text(decision.feedback) } : decision
}

type Decidable = Pick<ApprovalRequest, 'scope' | 'wider' | 'question'>
type LooseDecision = {
  readonly [Key in 'kind' | 'breadth' | 'key' | 'text' | 'content' | 'feedback' | 'cancel' | 'ok' | 'parts']?: unknown
}
const breadths: readonly unknown[] = ['once', 'session', 'project'] satisfies ApprovalBreadth[]
