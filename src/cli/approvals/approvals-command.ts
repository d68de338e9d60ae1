import { TroupeError } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'
import type { ApprovalsInvocation } from '../options/project-invocations.ts'
import { answerRequest } from './answer-request.ts'
import { dropSessions } from './end-sessions.ts'
import { listApprovals } from './list-approvals.ts'
import { revokeGrants } from './revoke-grants.ts'

/** `troupe approvals`: open requests, and the grants of projects. */
export async function approvalsCommand(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  switch (invocation.action) {
    case 'list':
      refuseArguments(invocation)
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

function refuseArguments({ named: [first] }: ApprovalsInvocation): void {
  if (first === undefined) return
  const problems = [{ place: first, message: 'The action list takes no argument.', remedy: 'Remove it.' }]
  throw new TroupeError('usage', 'Invalid arguments for approvals list.', { problems })
}
