import type { ApprovalId, ApprovalRequest, Diagnostic, JsonObject } from '../../contracts/index.ts'
import { openRequests, requestsToPeople } from '../../core/index.ts'
import { decisionProblem, grantedBy, redactDecision } from '../../policy/grants.ts'
import { copyJson } from '../../util/json-values.ts'
import { messageOf } from '../../util/message-of.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { withTimeout } from './ask-tool.ts'
import { decideByRules, readProjectGrants, type Settlement } from './permission.ts'

// Current rules and grants decide first. Then the first answer decides: of the approver of this process, or from the inbox.

/** Submits new requests to the rules and then to the approver. Returns whether rules decided any; then the session is woken. */
export async function submitOpenRequests(session: ActiveSession): Promise<boolean> {
  const isNew = ({ id }: ApprovalRequest): boolean => !session.verdicts.has(id)
  const submitted = openRequests(session.state).filter(isNew)
  if (submitted.length === 0) return false
  for (const { id, scope } of submitted) session.verdicts.set(id, scope === 'client' ? 'suspend' : 'asked')
  if (submitted.every(({ scope }) => scope === 'client')) return false
  const grants = await readProjectGrants(session)
  // The session may have been released, or the request answered, while the grants were read.
  if (session.isReleased) return false
  let hasDecided = false
  for (const request of submitted) {
    if (request.scope === 'client' || !isOpen(session, request)) continue
    const settled = decideByRules(session, request, grants)
    if (settled) resolveRequest(session, request.id, settled)
    else void askApprover(session, request)
    hasDecided ||= settled !== undefined
  }
  if (hasDecided) session.wake()
  return hasDecided
}

const isOpen = (session: ActiveSession, { id }: ApprovalRequest): boolean => openRequests(session.state).some((open) => open.id === id)

/** New grants may decide open requests, except those that a person is looking at. */
export async function recheckOpenRequests(session: ActiveSession): Promise<void> {
  if (openRequests(session.state).length === 0) return
  const grants = await readProjectGrants(session)
  if (session.isReleased) return
  const { approver } = session.ports
  for (const request of requestsToPeople(session.state)) {
    const isSeen = session.verdicts.get(request.id) === 'asked' && approver.isInLine?.(request.id) !== true
    const settled = isSeen ? undefined : decideByRules(session, request, grants)
    if (!settled) continue
    resolveRequest(session, request.id, settled)
    session.wake()
  }
}

/** Waits for a decision; `suspended` if the approver defers all open requests. */
export async function wait(session: ActiveSession): Promise<'decided' | 'suspended'> {
  const woken = session.nextWake()
  if (await submitOpenRequests(session)) {
    await session.flush()
    return 'decided'
  }
  // A session that waits for a person holds no queue slot.
  session.slots?.leave()
  if (!isSuspended(session)) {
    await session.flush()
    await woken
    return 'decided'
  }
  if (session.turn.waiting.kind !== 'suspended') {
    const approvals = requestsToPeople(session.state).map((request) => request.id)
    session.note({ type: 'interaction.turn.suspended', reason: approvals.length > 0 ? 'approval' : 'client', approvals })
  }
  await session.flush()
  return isSuspended(session) ? 'suspended' : 'decided'
}

async function askApprover(session: ActiveSession, request: ApprovalRequest): Promise<void> {
  try {
    // The request must be durable before anyone is asked, so that an answer always finds it.
    await session.flush()
    const verdict = await session.ports.approver.decide(copyOf(request), session.interrupt.signal, session.place)
    if (session.isReleased) return
    if (verdict === 'wait' || verdict === 'suspend') session.verdicts.set(request.id, verdict)
    else {
      const decision = checkDecision(request, verdict)
      // Somebody in another process may have been faster.
      await session.ports.tree.readInbox()
      if (session.isReleased || !isOpen(session, request)) return
      await storeProjectGrant(session, request, decision)
      resolveRequest(session, request.id, decision)
    }
  } catch (error) {
    // A released session leaves the request open. Otherwise a failed approver denies.
    if (session.isReleased) return
    resolveRequest(session, request.id, { decision: { kind: 'deny', feedback: `the approver failed: ${messageOf(error)}` }, by: 'runtime' })
  }
  session.wake()
}

/** A copy: an approver cannot change what is asked or granted. */
const copyOf = (request: ApprovalRequest): ApprovalRequest => copyJson(request as unknown as JsonObject) as unknown as ApprovalRequest

/** Approvers are third-party code. @throws if the decision is invalid. */
function checkDecision(request: ApprovalRequest, verdict: Settlement): Settlement {
  const wrong = decisionProblem(request, verdict?.decision)
  if (wrong !== undefined) throw new Error(wrong)
  if (typeof verdict.by !== 'string') throw new Error('the decision has no "by"')
  return verdict
}

function resolveRequest(session: ActiveSession, approvalId: ApprovalId, { decision: given, by }: Settlement): void {
  const request = openRequests(session.state).find((open) => open.id === approvalId)
  if (!request) return
  const decision = redactDecision(session.ports.redactor, given)
  session.note({ type: 'interaction.approval.resolved', itemId: request.itemId, approvalId, decision, by })
  applyDecision(session, request, { decision, by })
}

/** Effects of a decision beyond its call: it aborts the tree, or grants keys to all sessions of the tree. */
export function applyDecision(session: ActiveSession, request: ApprovalRequest, { decision, by }: Settlement): void {
  if (decision.kind === 'abort') session.ports.tree.abort(session, by)
  const keys = grantedBy(request, decision)
  if (keys.length > 0) session.ports.tree.grant(session, keys, by)
}

/** Stored before the approval is recorded: a crash leaves the grant or an open request. On failure the grant is for the session only. */
export async function storeProjectGrant(session: ActiveSession, request: ApprovalRequest, { decision, by }: Settlement): Promise<void> {
  if (decision?.kind !== 'approve' || decision.breadth !== 'project') return
  const { grants, redactor } = session.ports
  const report = (why: string): void => session.note({ type: 'interaction.diagnostic', diagnostic: grantNotStored(why) })
  const keys = grantedBy(request, decision)
  if (!grants) report('there is no project')
  else if (keys.length === 0) report('the call has no keys to store')
  else {
    // Async, so that a synchronous throw of the port rejects.
    const add = async (): Promise<void> => grants.add(keys, by)
    await withTimeout(session, add()).catch((error: unknown) => report(redactor.text(messageOf(error))))
  }
}

const grantNotStored = (why: string): Diagnostic => ({
  code: 'grant_not_kept',
  severity: 'warning',
  message: `The approval for the project applies to this session only: ${why}.`,
})

function isSuspended(session: ActiveSession): boolean {
  const open = openRequests(session.state)
  return open.length > 0 && open.every((request) => session.verdicts.get(request.id) === 'suspend')
}
