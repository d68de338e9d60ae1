import type { ApprovalDecision, ApprovalId, ApprovalRequest } from '../contracts/index.ts'
import type { Session } from './session.ts'

// Whoever answers first decides: the approver of this process, or a row in the inbox from anywhere.

/** Open requests of the turn, in call order. */
export function openRequests(session: Session): readonly ApprovalRequest[] {
  const { turn } = session.state
  if (turn.kind !== 'open' || turn.step.kind !== 'calling') return []
  return turn.step.calls.flatMap((call) => {
    if (call.kind === 'awaiting') return [call.request]
    return call.kind === 'started' && call.escalation ? [call.escalation] : []
  })
}

/** Puts every open request that nobody was asked about yet before the approver. */
export function consult(session: Session): void {
  for (const request of openRequests(session)) {
    if (session.verdicts.has(request.id)) continue
    session.verdicts.set(request.id, 'asked')
    void review(session, request)
  }
}

async function review(session: Session, request: ApprovalRequest): Promise<void> {
  try {
    await session.flush()
    const verdict = await session.ports.approver.review(request, session.interrupt.signal)
    if (typeof verdict === 'string') session.verdicts.set(request.id, verdict)
    else resolve(session, request.id, verdict)
  } catch (error) {
    // An approver that fails has not said yes.
    const cause = error instanceof Error ? error.message : String(error)
    resolve(session, request.id, { kind: 'deny', feedback: `the approver failed: ${cause}`, by: 'runtime' })
  }
  session.wake()
}

function resolve(session: Session, approvalId: ApprovalId, { by, ...decision }: ApprovalDecision & { readonly by: string }): void {
  const request = openRequests(session).find((open) => open.id === approvalId)
  if (!request) return
  session.note({ type: 'interaction.approval.resolved', itemId: request.itemId, approvalId, decision: decision as ApprovalDecision, by })
}

/** True when everybody who could be asked has put the answer off. */
export function isPutOff(session: Session): boolean {
  const open = openRequests(session)
  return open.length > 0 && open.every((request) => session.verdicts.get(request.id) === 'suspend')
}
