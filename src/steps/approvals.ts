import type { ApprovalDecision, ApprovalId, ApprovalRequest } from '../contracts/index.ts'
import { openRequests } from '../core/index.ts'
import { copyJson } from '../util/copy-json.ts'
import { messageOf } from '../util/message-of.ts'
import type { ActiveSession } from './active-session.ts'

// Whoever answers first decides: the approver of this process, or a row in the inbox from anywhere.

/** Puts every open request that nobody was asked about yet before the approver. */
export function consult(session: ActiveSession): void {
  for (const request of openRequests(session.state)) {
    if (session.verdicts.has(request.id)) continue
    session.verdicts.set(request.id, 'asked')
    void askApprover(session, request)
  }
}

/** Waits for a decision, or finds that everybody has put it off: then nobody need stay. */
export async function wait(session: ActiveSession): Promise<'decided' | 'suspended'> {
  consult(session)
  // Whoever waits for a person takes nobody's place.
  session.hold?.leave()
  if (!isPutOff(session)) {
    const woken = session.woken()
    await session.flush()
    await woken
    return 'decided'
  }
  if (session.turn.waiting.kind !== 'suspended') {
    session.note({
      type: 'interaction.turn.suspended',
      reason: 'approval',
      approvals: openRequests(session.state).map((request) => request.id),
    })
  }
  await session.flush()
  return isPutOff(session) ? 'suspended' : 'decided'
}

async function askApprover(session: ActiveSession, request: ApprovalRequest): Promise<void> {
  try {
    // A request is durable before anybody is asked, so that an answer always finds it.
    await session.flush()
    const verdict = await session.ports.approver.decide({ ...request, input: copyJson(request.input) }, session.interrupt.signal)
    if (verdict === 'wait' || verdict === 'suspend') session.verdicts.set(request.id, verdict)
    else resolve(session, request.id, checked(verdict))
  } catch (error) {
    // An approver that fails has not said yes.
    resolve(session, request.id, { decision: { kind: 'deny', feedback: `the approver failed: ${messageOf(error)}` }, by: 'runtime' })
  }
  session.wake()
}

interface Verdict {
  readonly decision: ApprovalDecision
  readonly by: string
}

/** Approvers are other people's code: what is no decision has not said yes either. */
function checked(verdict: Verdict): Verdict {
  const decision: unknown = verdict?.decision
  const { kind, breadth } = (typeof decision === 'object' && decision !== null ? decision : {}) as { kind?: unknown; breadth?: unknown }
  if (kind === 'deny' || kind === 'abort' || (kind === 'approve' && (breadth === 'once' || breadth === 'session'))) return verdict
  throw new Error('it gave no decision that there is')
}

function resolve(session: ActiveSession, approvalId: ApprovalId, { decision, by }: Verdict): void {
  const request = openRequests(session.state).find((open) => open.id === approvalId)
  if (!request) return
  const told =
    decision.kind === 'deny' && decision.feedback !== undefined
      ? { ...decision, feedback: session.ports.redactor.text(decision.feedback) }
      : decision
  session.note({ type: 'interaction.approval.resolved', itemId: request.itemId, approvalId, decision: told, by })
}

function isPutOff(session: ActiveSession): boolean {
  const open = openRequests(session.state)
  return open.length > 0 && open.every((request) => session.verdicts.get(request.id) === 'suspend')
}
