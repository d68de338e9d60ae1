import { TroupeError } from '../../../contracts/index.ts'
import type { ApprovalsInvocation } from '../../arguments/project-invocations.ts'
import type { Host } from '../../terminal/process-host.ts'
import { answerRequest } from './answer-request.ts'
import { dropSessions } from './end-sessions.ts'
import { listApprovals } from './list-approvals.ts'
import { revokeGrants } from './revoke-grants.ts'

/** `troupe approvals`: open requests, and the grants of projects. */
export async function approvalsCommand(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  refuseUnrelatedArguments(invocation)
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

/** Arguments and flags of another action would have no effect. */
function refuseUnrelatedArguments({ action, named: [first], isAll, content }: ApprovalsInvocation): void {
  const remedy = 'Remove it.'
  const problems = [
    ...(action === 'list' && first !== undefined ? [{ place: first, message: 'The action list takes no argument.', remedy }] : []),
    ...(content !== undefined && action !== 'answer' ? [{ place: '--content', message: 'Only answer has this flag.', remedy }] : []),
    ...(isAll && action !== 'revoke' ? [{ place: '--all', message: 'Only revoke has this flag.', remedy }] : []),
  ]
  if (problems.length > 0) throw new TroupeError('usage', `Invalid arguments for approvals ${action}.`, { problems })
}
