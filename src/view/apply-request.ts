import type { ApprovalId, InteractionEvent } from '../contracts/index.ts'
import { stepOf } from './apply-step.ts'
import { requestSummary } from './call-summary.ts'
import { type CallSandbox, lastTurn, markChanged, type RequestNode, type RunTree, type SessionNodes } from './nodes.ts'

type RequestEvent = InteractionEvent<'interaction.approval.requested' | 'interaction.approval.resolved'>

export function applyRequest(session: SessionNodes, event: RequestEvent): void {
  const step = event.stepId === undefined ? lastTurn(session)?.steps.at(-1) : stepOf(session, event.stepId)
  if (event.type === 'interaction.approval.requested') {
    if (event.request.scope === 'client') {
      setInClient(session, event.request.itemId, true)
      return
    }
    const { id, itemId, reason, scope, lane } = event.request
    const request: RequestNode = {
      ...{ itemId, summary: requestSummary(event.request), scope, at: event.at },
      ...(reason !== undefined && { reason }),
      ...(lane && { lane }),
      ...(session.tree.keepsContent && { request: event.request }),
    }
    session.requests.set(id, request)
    step?.requests.set(id, request)
    session.calls.get(itemId)?.asked.push(request)
    markChanged(session, step)
    setSandbox(session, request, { kind: 'asking' })
    setAsking(session, request)
    return
  }
  const request = session.requests.get(event.approvalId)
  if (!request && event.itemId !== undefined) setInClient(session, event.itemId, false)
  for (const each of session.steps.values()) if (each.requests.delete(event.approvalId)) markChanged(session, each)
  if (!request) return
  request.answer = { at: event.at, by: event.by, decision: event.decision }
  setSandbox(session, request, event.decision.kind === 'approve' ? { kind: 'allowed', by: event.by } : { kind: 'inside' })
  setAsking(session, request)
}

/** Such a request is to no person. */
function setInClient(session: SessionNodes, itemId: string, isInClient: boolean): void {
  const call = session.calls.get(itemId)
  if (call?.lane.kind !== 'client') return
  call.isInClient = isInClient
  markChanged(session, call)
}

function setAsking(session: SessionNodes, { itemId }: RequestNode): void {
  const call = session.calls.get(itemId)
  if (!call) return
  call.isAsking = [...session.steps.values()].some(({ requests }) => [...requests.values()].some((each) => each.itemId === itemId))
  markChanged(session, call)
}

function setSandbox(session: SessionNodes, { scope, itemId }: RequestNode, sandbox: CallSandbox): void {
  const call = scope === 'unsandboxed' ? session.calls.get(itemId) : undefined
  if (!call) return
  call.sandbox = sandbox
  markChanged(session, call)
}

/** What a suspended turn waits for: `answer` where only questions are open. */
export function needOf({ sessions }: RunTree, approvals: readonly ApprovalId[]): 'approval' | 'answer' {
  const scopes = approvals.flatMap((id) => [...sessions.values()].flatMap(({ requests }) => requests.get(id)?.scope ?? []))
  return scopes.length > 0 && scopes.every((scope) => scope === 'question') ? 'answer' : 'approval'
}

/** The open requests of a turn end with the turn. */
export function dropRequests(session: SessionNodes): void {
  for (const { requests } of lastTurn(session)?.steps ?? []) requests.clear()
}
