import type { ApprovalId, InteractionEvent } from '../../contracts/index.ts'
import { type CallWalls, lastTurn, type RequestNode, type RunTree, type SessionNodes } from './nodes.ts'
import { requestSummary } from './request-summary.ts'
import { stepOf } from './take-step.ts'

type RequestEvent = InteractionEvent<'interaction.approval.requested' | 'interaction.approval.resolved'>

/** Takes in that somebody is asked, or has answered. */
export function takeRequest(session: SessionNodes, event: RequestEvent): void {
  const step = event.stepId === undefined ? lastTurn(session)?.steps.at(-1) : stepOf(session, event.stepId)
  if (event.type === 'interaction.approval.requested') {
    const { id, itemId, reason, scope, lane } = event.request
    const told = { itemId, summary: requestSummary(event.request), scope, ...(reason !== undefined && { reason }) }
    const request = lane ? { ...told, lane } : told
    session.requests.set(id, request)
    step?.requests.set(id, request)
    setWalls(session, request, { kind: 'asking' })
    return
  }
  const request = session.requests.get(event.approvalId)
  for (const each of session.steps.values()) each.requests.delete(event.approvalId)
  if (request) setWalls(session, request, event.decision.kind === 'approve' ? { kind: 'allowed', by: event.by } : { kind: 'usual' })
}

function setWalls({ calls }: SessionNodes, { scope, itemId }: RequestNode, walls: CallWalls): void {
  const call = scope === 'unsandboxed' ? calls.get(itemId) : undefined
  if (call) call.walls = walls
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
