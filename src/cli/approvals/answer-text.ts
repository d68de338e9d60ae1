import type { ApprovalDecision, ApprovalRequest } from '../../contracts/index.ts'
import { requestSummary } from '../../view/index.ts'
import { exactLine } from '../terminal/exact-text.ts'
import { grantOf } from './answer-choices.ts'

/** What was answered, in a line: what was asked, and what a yes grants beyond this once. */
export function answeredText(request: ApprovalRequest, decision: ApprovalDecision): string {
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
