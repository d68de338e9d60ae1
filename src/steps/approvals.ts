import type { ApprovalDecision, ApprovalId, ApprovalRequest } from '../contracts/index.ts'
import type { Stage } from './stage.ts'

// Whoever answers first decides: the approver of this process, or a row in the inbox from anywhere.

/** Open requests of the turn, in call order. */
export function openRequests(stage: Stage): readonly ApprovalRequest[] {
  const { turn } = stage.state
  if (turn.kind !== 'open' || turn.step.kind !== 'calling') return []
  return turn.step.calls.flatMap((call) => {
    if (call.kind === 'awaiting') return [call.request]
    return call.kind === 'started' && call.escalation ? [call.escalation] : []
  })
}

/** Puts every open request that nobody was asked about yet before the approver. */
export function consult(stage: Stage): void {
  for (const request of openRequests(stage)) {
    if (stage.verdicts.has(request.id)) continue
    stage.verdicts.set(request.id, 'asked')
    void review(stage, request)
  }
}

async function review(stage: Stage, request: ApprovalRequest): Promise<void> {
  try {
    await stage.flush()
    const verdict = await stage.ports.approver.review(request, stage.interrupt.signal)
    if (typeof verdict === 'string') stage.verdicts.set(request.id, verdict)
    else resolve(stage, request.id, verdict)
  } catch (error) {
    // An approver that fails has not said yes.
    const cause = error instanceof Error ? error.message : String(error)
    resolve(stage, request.id, { kind: 'deny', feedback: `the approver failed: ${cause}`, by: 'runtime' })
  }
  stage.wake()
}

function resolve(stage: Stage, approvalId: ApprovalId, { by, ...decision }: ApprovalDecision & { readonly by: string }): void {
  const request = openRequests(stage).find((open) => open.id === approvalId)
  if (!request) return
  stage.note({ type: 'interaction.approval.resolved', itemId: request.itemId, approvalId, decision: decision as ApprovalDecision, by })
}

/** True when everybody who could be asked has put the answer off. */
function isPutOff(stage: Stage): boolean {
  const open = openRequests(stage)
  return open.length > 0 && open.every((request) => stage.verdicts.get(request.id) === 'suspend')
}

/** Waits for a decision; true when it was put off and nobody need stay. */
export async function wait(stage: Stage): Promise<boolean> {
  consult(stage)
  const putOff = isPutOff(stage)
  if (putOff && !stage.turn.suspended) {
    stage.note({ type: 'interaction.turn.suspended', reason: 'approval', approvals: openRequests(stage).map((request) => request.id) })
  }
  if (putOff) stage.summarise('suspended')
  const woken = putOff ? undefined : stage.woken()
  await stage.flush()
  await woken
  return putOff && isPutOff(stage)
}
