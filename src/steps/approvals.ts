import type { ApprovalDecision, ApprovalId, ApprovalRequest, Diagnostic } from '../contracts/index.ts'
import { openRequests } from '../core/index.ts'
import { copyJson } from '../util/copy-json.ts'
import { decisionProblem, grantedBy } from '../util/grants.ts'
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
    else resolve(session, request.id, checked(request, verdict))
  } catch (error) {
    // An approver that fails has not said yes.
    resolve(session, request.id, { decision: { kind: 'deny', feedback: `the approver failed: ${messageOf(error)}` }, by: 'runtime' })
  }
  session.wake()
}

export interface Verdict {
  readonly decision: ApprovalDecision
  readonly by: string
}

/** Approvers are other people's code: what is no decision has not said yes either. */
function checked(request: ApprovalRequest, verdict: Verdict): Verdict {
  const wrong = decisionProblem(request, verdict?.decision)
  if (wrong !== undefined) throw new Error(wrong)
  return verdict
}

function resolve(session: ActiveSession, approvalId: ApprovalId, { decision, by }: Verdict): void {
  const request = openRequests(session.state).find((open) => open.id === approvalId)
  if (!request) return
  session.note({
    type: 'interaction.approval.resolved',
    itemId: request.itemId,
    approvalId,
    decision: withoutSecrets(session, decision),
    by,
  })
  keepGrants(session, request, { decision, by })
}

/** People may type what must not be told. */
export function withoutSecrets({ ports: { redactor } }: ActiveSession, decision: ApprovalDecision): ApprovalDecision {
  if (decision.kind === 'answer') return { ...decision, text: redactor.text(decision.text) }
  if (decision.kind !== 'deny' || decision.feedback === undefined) return decision
  return { ...decision, feedback: redactor.text(decision.feedback) }
}

/** What was approved for the project is kept beyond the session; where that fails, the session has it all the same. */
export function keepGrants(session: ActiveSession, request: ApprovalRequest, { decision, by }: Verdict): void {
  if (decision.kind !== 'approve' || decision.breadth !== 'project') return
  const { grants } = session.ports
  const tell = (why: string): void => session.note({ type: 'interaction.diagnostic', diagnostic: notKept(why) })
  if (!grants) tell('there is no project here')
  grants?.add(grantedBy(request, decision), by).catch((error: unknown) => tell(messageOf(error)))
}

const notKept = (why: string): Diagnostic => ({
  code: 'grant_not_kept',
  severity: 'warning',
  message: `An approval for the project counts for this session alone: ${why}.`,
})

function isPutOff(session: ActiveSession): boolean {
  const open = openRequests(session.state)
  return open.length > 0 && open.every((request) => session.verdicts.get(request.id) === 'suspend')
}
