import type { ApprovalId, InteractionEvent } from '../../contracts/index.ts'
import { lastTurn, type RunTree, type SessionNodes } from './nodes.ts'
import { stepOf } from './take-step.ts'

type RequestEvent = InteractionEvent<'interaction.approval.requested' | 'interaction.approval.resolved'>

/** Takes in that somebody is asked, or has answered. */
export function takeRequest(session: SessionNodes, event: RequestEvent): void {
  const step = event.stepId === undefined ? lastTurn(session)?.steps.at(-1) : stepOf(session, event.stepId)
  if (event.type === 'interaction.approval.requested') {
    const { id, itemId, summary, reason, scope } = event.request
    const request = { itemId, summary, scope, ...(reason !== undefined && { reason }) }
    session.requests.set(id, request)
    step?.requests.set(id, request)
    return
  }
  const request = session.requests.get(event.approvalId)
  for (const each of session.steps.values()) each.requests.delete(event.approvalId)
  const call = request?.scope === 'unsandboxed' && event.decision.kind === 'approve' ? session.calls.get(request.itemId) : undefined
  if (call) call.walls = { kind: 'allowed', by: event.by }
}

/** What a turn waits for: where nothing but questions is open, answers. */
export function needOf({ sessions }: RunTree, approvals: readonly ApprovalId[]): 'approval' | 'answer' {
  const scopes = approvals.flatMap((id) => [...sessions.values()].flatMap(({ requests }) => requests.get(id)?.scope ?? []))
  return scopes.length > 0 && scopes.every((scope) => scope === 'question') ? 'answer' : 'approval'
}

/** Requests of a turn that is over are over, too. */
export function dropRequests(session: SessionNodes): void {
  for (const { requests } of lastTurn(session)?.steps ?? []) requests.clear()
}
