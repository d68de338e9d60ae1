import type { ElicitRequestFormParams, InputRequiredResult } from '@modelcontextprotocol/server'
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { type ApprovalRequest, TroupeError } from '../../contracts/index.ts'
import type { Peer } from '../http/index.ts'
import { type Decided, decisionOf, type ElicitationAnswer, formFor } from './approval-forms.ts'
import type { McpDependencies } from './dependencies.ts'
import { type Followed, untilDecided } from './follow-session.ts'

// How a person behind an MCP client answers the requests of a session.

/** `return`: the result of the call asks (2026-07-28). `request`: the server asks while the call is open (2025-11-25). */
export type Asking =
  | { readonly kind: 'return' }
  | { readonly kind: 'request'; elicit(form: ElicitRequestFormParams, signal: AbortSignal): Promise<ElicitationAnswer> }
  | { readonly kind: 'none'; readonly why: string }

export interface AskContext {
  readonly peer: Peer
  readonly dependencies: Pick<McpDependencies, 'audit'>
  readonly followed: Followed
  readonly signal: AbortSignal
}

/** The state that the client sends back names the session; its owner is checked again. So nothing is signed, and restarts do no harm. */
const stateOf = ({ sessionId, seq }: Followed): string => `${sessionId} ${seq}`

export function followedOf(state: string): Followed | undefined {
  const [, sessionId, seq] = /^([\w-]{1,200}) (\d{1,15})$/.exec(state) ?? []
  return sessionId === undefined ? undefined : { sessionId, seq: Number(seq) }
}

export const askByResult = (followed: Followed, requests: readonly ApprovalRequest[]): InputRequiredResult =>
  inputRequired({
    inputRequests: Object.fromEntries(requests.map((request) => [request.id, inputRequired.elicit(formFor(request))])),
    requestState: stateOf(followed),
  })

/** Records the answers that a client sent with its retry. Returns the requests that are still open. */
export async function acceptResponses(
  context: AskContext,
  requests: readonly ApprovalRequest[],
  responses: { readonly [key: string]: unknown } | undefined,
): Promise<{ readonly open: readonly ApprovalRequest[]; readonly isDismissed: boolean }> {
  const open: ApprovalRequest[] = []
  let isDismissed = false
  for (const request of requests) {
    const response = inputResponse(responses, request.id)
    const decided: Decided = response.kind === 'elicit' ? decisionOf(request, response) : { kind: 'invalid' }
    if (decided.kind === 'decision' && (await decide(context, request, decided))) continue
    if (decided.kind === 'dismissed') isDismissed = true
    open.push(request)
  }
  return { open, isDismissed }
}

/** A client that does not follow the form is asked again this often. */
const maxTries = 3

/** Asks one request after the other while the call is open. `false`: one of them stays open. Somebody else may answer first. */
export async function askWhileOpen(
  context: AskContext,
  requests: readonly ApprovalRequest[],
  elicit: Extract<Asking, { kind: 'request' }>['elicit'],
): Promise<boolean> {
  for (const request of requests) if (!(await askOne(context, request, elicit))) return false
  return true
}

async function askOne(
  context: AskContext,
  request: ApprovalRequest,
  elicit: Extract<Asking, { kind: 'request' }>['elicit'],
): Promise<boolean> {
  const { peer, followed, signal } = context
  const ended = new AbortController()
  const isElsewhere = untilDecided(peer.sessions, followed, { approvalId: request.id, signal: ended.signal }).then(
    () => 'elsewhere' as const,
  )
  isElsewhere.catch(() => {})
  try {
    for (let tries = 0; tries < maxTries; tries++) {
      const answer = await Promise.race([isElsewhere, elicit(formFor(request), AbortSignal.any([signal, ended.signal]))])
      if (answer === 'elsewhere') return true
      const decided = decisionOf(request, answer)
      if (decided.kind === 'dismissed') return false
      if (decided.kind === 'decision' && (await decide(context, request, decided))) return true
    }
    return false
  } catch {
    // The client failed to ask, or left.
    return false
  } finally {
    ended.abort()
  }
}

/** `false`: the answer does not fit the question. */
async function decide(
  { peer, dependencies, followed: { sessionId } }: AskContext,
  { id: approvalId }: ApprovalRequest,
  { decision }: Extract<Decided, { kind: 'decision' }>,
): Promise<boolean> {
  try {
    const { first } = await peer.sessions.approve(sessionId, { approvalId, decision })
    if (first) return true
  } catch (error) {
    if (error instanceof TroupeError && error.code === 'usage') return false
    // Somebody else was faster. What follows from that answer is the result of the call.
    if (error instanceof TroupeError && error.code === 'approval_answered') return true
    throw error
  }
  await dependencies.audit({
    by: peer.caller.principal.id,
    action: `approval.${decision.kind}`,
    sessionId,
    approvalId,
    ...(decision.kind === 'approve' && { breadth: decision.breadth }),
  })
  return true
}
