import type { ApprovalRequest, ToolOutput } from '../contracts/index.ts'
import { approvalIdOf, callIdOf, openRequests, type StartedCall } from '../core/index.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import type { ActiveSession } from './active-session.ts'
import { consult } from './approvals.ts'
import { grantFor, rulingFor } from './permission.ts'
import { leavingTheSandbox } from './rules.ts'

/** The tool hit the walls of a sandbox that there is a way out of. */
export function isWalledIn({ ports }: ActiveSession, output: ToolOutput): boolean {
  return !output.ok && output.error.class === 'sandbox' && ports.sandbox.confinement.kind === 'sandbox'
}

/** Asks to run again outside the sandbox. The second attempt is committed before it starts, like the first. */
export async function escalate(session: ActiveSession, call: StartedCall): Promise<boolean> {
  const { attempt, itemId } = call
  const request = requestFor(session, call)
  const { keys } = request
  const ruled = rulingFor(session, { names: [leavingTheSandbox], keys })
  if (ruled?.verdict === 'deny') return false
  const by = ruled?.verdict === 'allow' ? ruled.rule : grantFor(session, [], keys)
  // A driver before this one may have had the answer already.
  if (by === undefined && !isAllowed(session, itemId) && !(await isAgreed(session, request))) return false
  const update = { kind: 'attempt', attempt: attempt + 1, reason: 'unsandboxed' } as const
  session.note({ type: 'interaction.item.updated', itemId, update: by === undefined ? update : { ...update, by } })
  await session.flush()
  return session.interrupt.reason === undefined
}

function requestFor({ ports: { redactor }, state }: ActiveSession, { intent: { tool, input }, itemId }: StartedCall): ApprovalRequest {
  const scope = 'unsandboxed'
  // The arguments themselves are the key: nothing is granted for a fingerprint.
  const key = redactor.text(`${leavingTheSandbox}:${tool}:${canonicalJson(input)}`)
  const always = { key: `${leavingTheSandbox}:${tool}:`, label: `any call of ${tool}, outside the sandbox`, isPrefix: true }
  return {
    id: approvalIdOf(callIdOf(state.sessionId, itemId), scope),
    itemId,
    tool,
    summary: `Run ${tool} again outside the sandbox`,
    input,
    keys: [{ key, label: `${tool} with these arguments, outside the sandbox` }],
    wider: [always],
    scope,
  }
}

/** Asks, and waits. A call cannot be put off in mid run: where nobody decides now, it stays inside. */
async function isAgreed(session: ActiveSession, request: ApprovalRequest): Promise<boolean> {
  const { id: approvalId, itemId } = request
  session.note({ type: 'interaction.approval.requested', itemId, request })
  consult(session)
  while (openRequests(session.state).some((open) => open.id === approvalId)) {
    if (session.interrupt.reason !== undefined) return false
    if (session.verdicts.get(approvalId) === 'suspend' || session.turn.cancel !== 'no') {
      const decision = { kind: 'deny', feedback: 'put off' } as const
      session.note({ type: 'interaction.approval.resolved', itemId, approvalId, decision, by: 'runtime' })
      return false
    }
    await session.woken()
  }
  return isAllowed(session, itemId)
}

function isAllowed(session: ActiveSession, itemId: StartedCall['itemId']): boolean {
  const { step } = session.turn
  return (
    step.kind === 'calling' && step.calls.some((call) => call.itemId === itemId && call.kind === 'started' && call.walls.kind === 'allowed')
  )
}
