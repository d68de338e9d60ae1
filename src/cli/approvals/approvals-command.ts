import type { Host } from '../host/process-host.ts'
import type { ApprovalsInvocation } from '../options/project-invocations.ts'
import { answerRequest } from './answer-request.ts'
import { dropSessions } from './end-sessions.ts'
import { listApprovals } from './list-approvals.ts'
import { revokeGrants } from './revoke-grants.ts'

/** `troupe approvals`: pending requests, and the grants of projects. */
export function approvalsCommand(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  switch (invocation.action) {
    case 'list':
      return listApprovals(invocation, host)
    case 'answer':
      return answerRequest(invocation, host)
    case 'drop':
      return dropSessions(invocation, host)
    case 'revoke':
      return revokeGrants(invocation, host)
    default:
      return invocation.action satisfies never
  }
}
