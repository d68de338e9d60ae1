import type { ApprovalBreadth, ApprovalDecision, ApprovalKey, ApprovalRequest } from '../contracts/index.ts'

/** What a decision allows beyond the call that it was asked for. */
export function grantedBy({ keys, wider = [] }: ApprovalRequest, decision: ApprovalDecision): readonly ApprovalKey[] {
  if (decision.kind !== 'approve' || decision.breadth === 'once') return []
  return (decision.key === undefined ? keys : wider.filter(({ key }) => key === decision.key)).map(asGranted)
}

/** What is said for rules does not belong to a grant: it is found by its key. */
const asGranted = ({ key, label, isPrefix }: ApprovalKey): ApprovalKey => ({ key, label, ...(isPrefix === true && { isPrefix }) })

/** Whether what was granted includes a key. */
export const isGranted = (grants: readonly ApprovalKey[], wanted: string): boolean =>
  grants.some(({ key, isPrefix }) => key === wanted || (isPrefix === true && wanted.startsWith(key)))

/** Whether all that a call needs was granted; what has to be named by nothing broader than itself. */
export const areGranted = (grants: readonly ApprovalKey[], keys: readonly ApprovalKey[]): boolean =>
  keys.every(({ key, mustBeNamed }) => isGranted(mustBeNamed === true ? grants.filter(({ isPrefix }) => isPrefix !== true) : grants, key))

/** Whether it is a decision at all, whatever was asked. */
export function isDecision(value: unknown): value is ApprovalDecision {
  const { key } = (typeof value === 'object' && value !== null ? value : {}) as LooseDecision
  const wider = typeof key === 'string' ? [{ key, label: '' }] : []
  return (['call', 'question'] as const).some((scope) => decisionProblem({ scope, wider }, value) === undefined)
}

/** What is wrong with a decision, which may come from anywhere; nothing where it fits what was asked. */
export function decisionProblem({ scope, wider = [] }: Pick<ApprovalRequest, 'scope' | 'wider'>, decision: unknown): string | undefined {
  const { kind, breadth, key, text, feedback } = (typeof decision === 'object' && decision !== null ? decision : {}) as LooseDecision
  if (kind === 'abort') return undefined
  if (kind === 'deny') return feedback === undefined || typeof feedback === 'string' ? undefined : 'its feedback is no text'
  if (kind === 'answer') {
    if (scope !== 'question') return 'it answers a question, and was asked for a yes or a no'
    return typeof text === 'string' ? undefined : 'its answer is no text'
  }
  if (kind !== 'approve') return 'it gave no decision that there is'
  if (scope === 'question') return 'it says yes where an answer is wanted'
  if (!breadths.includes(breadth)) return `its breadth is none of ${breadths.join(', ')}`
  if (key !== undefined && typeof key !== 'string') return 'its key is no text'
  if (key === undefined || wider.some((each) => each.key === key)) return undefined
  return 'it grants a key that was not offered'
}

/** A decision with what belongs to one and nothing else: whoever gave it may have put anything beside that. */
export function plainDecision(decision: ApprovalDecision): ApprovalDecision {
  switch (decision.kind) {
    case 'approve': {
      const { kind, breadth, key } = decision
      return key === undefined ? { kind, breadth } : { kind, breadth, key }
    }
    case 'answer':
      return { kind: decision.kind, text: decision.text }
    case 'deny':
      return decision.feedback === undefined ? { kind: decision.kind } : { kind: decision.kind, feedback: decision.feedback }
    case 'abort':
      return { kind: decision.kind }
    default:
      return decision satisfies never
  }
}

type LooseDecision = { readonly [Key in 'kind' | 'breadth' | 'key' | 'text' | 'feedback']?: unknown }
const breadths: readonly unknown[] = ['once', 'session', 'project'] satisfies ApprovalBreadth[]
