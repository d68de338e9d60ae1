import type {
  ApprovalDecision,
  ApprovalId,
  ApprovalKey,
  ApprovalRequest,
  Diagnostic,
  JsonObject,
  ProjectGrants,
} from '../../contracts/index.ts'
import { openRequests } from '../../core/index.ts'
import { decisionProblem, grantedBy, plainDecision } from '../../policy/grants.ts'
import { copyJson } from '../../util/copy-json.ts'
import { messageOf } from '../../util/message-of.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { withTimeout } from './ask-tool.ts'
import { decideByRules, type Settlement } from './decide-by-rules.ts'

// Rules that have changed since, and what was granted since, come first. Then whoever answers first decides: the approver
// of this process, or a row in the inbox from anywhere.

/** Puts every open request that nobody was asked about yet before the rules and the approver. Answers whether any is decided by now. */
export function submitOpenRequests(session: ActiveSession): boolean {
  let hasDecided = false
  for (const request of openRequests(session.state)) {
    if (session.verdicts.has(request.id)) continue
    session.verdicts.set(request.id, 'asked')
    const settled = decideByRules(session, request)
    if (settled) resolveRequest(session, request.id, settled)
    else void askApprover(session, request)
    hasDecided ||= settled !== undefined
  }
  return hasDecided
}

/** What was granted since may answer what is still open. A question that somebody is thinking about is theirs: a no counts. */
export function recheckOpenRequests(session: ActiveSession): void {
  const { approver } = session.ports
  for (const request of openRequests(session.state)) {
    const isBeforeSomebody = session.verdicts.get(request.id) === 'asked' && approver.isInLine?.(request.id) !== true
    const settled = isBeforeSomebody ? undefined : decideByRules(session, request)
    if (!settled) continue
    resolveRequest(session, request.id, settled)
    session.wake()
  }
}

/** Waits for a decision, or finds that everybody has put it off: then nobody need stay. */
export async function wait(session: ActiveSession): Promise<'decided' | 'suspended'> {
  if (submitOpenRequests(session)) {
    await session.flush()
    return 'decided'
  }
  // Whoever waits for a person takes nobody's place.
  session.slots?.leave()
  if (!isSuspended(session)) {
    const woken = session.nextWake()
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
  return isSuspended(session) ? 'suspended' : 'decided'
}

async function askApprover(session: ActiveSession, request: ApprovalRequest): Promise<void> {
  try {
    // A request is durable before anybody is asked, so that an answer always finds it.
    await session.flush()
    const verdict = await session.ports.approver.decide(copyOf(request), session.interrupt.signal)
    if (session.isReleased) return
    if (verdict === 'wait' || verdict === 'suspend') session.verdicts.set(request.id, verdict)
    else await decided(session, request, checkDecision(request, verdict))
  } catch (error) {
    // Nobody drives the session here any more: the request stays open.
    if (session.isReleased) return
    // An approver that fails has not said yes.
    resolveRequest(session, request.id, { decision: { kind: 'deny', feedback: `the approver failed: ${messageOf(error)}` }, by: 'runtime' })
  }
  session.wake()
}

/** What approvers do to a request changes nothing of what is asked, nor of what may be granted. */
const copyOf = (request: ApprovalRequest): ApprovalRequest => copyJson(request as unknown as JsonObject) as unknown as ApprovalRequest

/** Approvers are other people's code: what is no decision has not said yes either. */
function checkDecision(request: ApprovalRequest, verdict: Settlement): Settlement {
  const wrong = decisionProblem(request, verdict?.decision)
  if (wrong !== undefined) throw new Error(wrong)
  if (typeof verdict.by !== 'string') throw new Error('it does not say who has decided')
  return verdict
}

function resolveRequest(session: ActiveSession, approvalId: ApprovalId, { decision: given, by }: Settlement): void {
  const request = openRequests(session.state).find((open) => open.id === approvalId)
  if (!request) return
  const decision = redactDecision(session, given)
  session.note({ type: 'interaction.approval.resolved', itemId: request.itemId, approvalId, decision, by })
  applyDecision(session, request, { decision, by })
}

/** People may type what must not be told. */
export function redactDecision({ ports: { redactor } }: ActiveSession, given: ApprovalDecision): ApprovalDecision {
  const decision = plainDecision(given)
  if (decision.kind === 'answer') return { ...decision, text: redactor.text(decision.text) }
  if (decision.kind !== 'deny' || decision.feedback === undefined) return decision
  return { ...decision, feedback: redactor.text(decision.feedback) }
}

async function decided(session: ActiveSession, request: ApprovalRequest, verdict: Settlement): Promise<void> {
  await storeProjectGrant(session, request, verdict)
  resolveRequest(session, request.id, verdict)
}

/** What a decision means beyond the call that it is about: for more than this once, it counts for all sessions of the tree. */
export function applyDecision(session: ActiveSession, request: ApprovalRequest, { decision, by }: Settlement): void {
  if (decision.kind === 'abort') session.ports.tree.abort(session, by)
  const keys = grantedBy(request, decision)
  if (keys.length > 0) session.ports.tree.grant(session, keys, by)
}

/**
 * What is approved for the project is kept before the approval is on record: whatever ends the process, whoever goes on finds
 * it kept, or the question still open. Where keeping fails, or takes too long, the session has it all the same.
 */
export async function storeProjectGrant(session: ActiveSession, request: ApprovalRequest, { decision, by }: Settlement): Promise<void> {
  if (decision?.kind !== 'approve' || decision.breadth !== 'project') return
  const { grants, redactor } = session.ports
  const tell = (why: string): void => session.note({ type: 'interaction.diagnostic', diagnostic: grantNotStored(why) })
  const keys = grantedBy(request, decision)
  if (!grants) tell('there is no project here')
  else if (keys.length === 0) tell('the call names nothing that could be remembered')
  else await withTimeout(session, addGrants(grants, keys, by)).catch((error: unknown) => tell(redactor.text(messageOf(error))))
}

/** However the port fails. */
async function addGrants(grants: ProjectGrants, keys: readonly ApprovalKey[], by: string): Promise<void> {
  await grants.add(keys, by)
}

const grantNotStored = (why: string): Diagnostic => ({
  code: 'grant_not_kept',
  severity: 'warning',
  message: `An approval for the project counts for this session alone: ${why}.`,
})

function isSuspended(session: ActiveSession): boolean {
  const open = openRequests(session.state)
  return open.length > 0 && open.every((request) => session.verdicts.get(request.id) === 'suspend')
}
