import type { ApprovalRequest } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'

export function approvalRequired(sessionId: string, requests: readonly ApprovalRequest[]): HttpError {
  const first = requests[0]
  return new HttpError('approval_required', `The session waits for a person${first ? `: ${first.summary}` : ''}.`, {
    sessionId,
    remedy: `Answer with POST /v1/sessions/${sessionId}/approvals/ID or \`troupe approvals\`; the session then continues.`,
    details: { approvals: requests.map(({ id, summary }) => ({ id, summary })) },
  })
}
