import type { ApprovalRequest } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'

/** Only requests of its client continue it. */
export const waitsForClient = (sessionId: string): HttpError =>
  new HttpError('conflict', 'The session waits for results of tools that its client runs.', {
    sessionId,
    remedy: 'The client sends them with its next request. Interrupt the turn to end it without them.',
  })

export function approvalRequired(sessionId: string, requests: readonly ApprovalRequest[]): HttpError {
  const first = requests[0]
  return new HttpError('approval_required', `The session waits for a person${first ? `: ${first.summary}` : ''}.`, {
    sessionId,
    remedy: `Answer with POST /v1/sessions/${sessionId}/approvals/ID or \`troupe approvals\`; the session then continues.`,
    details: { approvals: requests.map(({ id, summary }) => ({ id, summary })) },
  })
}
