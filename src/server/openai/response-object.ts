import type { ApprovalRequest, ModelFailure } from '../../contracts/index.ts'
import type { StoredResponse } from './response-records.ts'
import { type EndedTurn, isOver, type ResponseState } from './response-state.ts'
import { responseUsage } from './settings.ts'

type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'

export interface ResponseObject {
  readonly id: string
  readonly object: 'response'
  readonly status: ResponseStatus
  readonly [field: string]: unknown
}

/** `approvals`: of a response that waits for a person. */
export function responseObject(
  { id, sessionId, record }: StoredResponse,
  state: ResponseState,
  approvals: readonly ApprovalRequest[] = [],
): ResponseObject {
  const { turn, output, usage, broken } = state
  const ending = isOver(turn) ? endingOf(turn.end, broken) : { status: turn.kind === 'queued' ? 'queued' : 'in_progress' }
  return {
    id,
    object: 'response',
    created_at: record.createdAt,
    model: record.agent,
    background: record.background,
    completed_at: null,
    error: null,
    incomplete_details: null,
    output,
    // No agent can have others.
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    service_tier: 'default',
    usage: usage ? responseUsage(usage) : null,
    ...record.request,
    ...(ending as { readonly status: ResponseStatus }),
    session_id: sessionId,
    ...(approvals.length > 0 && { approvals: approvals.map(({ id: approvalId, summary }) => ({ id: approvalId, summary })) }),
  }
}

function endingOf(end: EndedTurn['end'], broken?: ModelFailure): object {
  const completed_at = Math.floor(end.at / 1000)
  if (broken) return { completed_at, ...failedFields(broken, `The answer broke off: ${broken.message}`) }
  if (end.type === 'interaction.turn.suspended') return { status: 'completed', completed_at }
  const { ending } = end
  switch (ending.status) {
    case 'completed':
      return { status: 'completed', completed_at }
    case 'partial':
      return ending.reason === 'stopped'
        ? { status: 'completed', completed_at }
        : { status: 'incomplete', completed_at, incomplete_details: { reason: 'max_output_tokens', limit: ending.reason } }
    case 'interrupted':
      return { status: 'cancelled', completed_at }
    case 'failed':
      return { completed_at, ...failedFields(ending.failure, ending.message) }
    default:
      return ending satisfies never
  }
}

/** `withheld`: the content filter of a provider stopped the answer. */
function failedFields(failure: ModelFailure | undefined, message: string): object {
  if (failure?.withheld) return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
  const code = failure?.class === 'rate_limit' || failure?.class === 'quota' ? 'rate_limit_exceeded' : 'server_error'
  return { status: 'failed', error: { code, message } }
}
