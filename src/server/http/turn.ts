import type { ApprovalRequest, InputPart, ModelFailure, Outcome, SessionService, StartOptions } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'
import type { RouteRequest } from './route.ts'
import { type TurnPart, TurnParts } from './turn-parts.ts'

// One answer for a client that waits: a new session, its events, its outcome.

interface TurnOptions extends StartOptions {
  readonly agent: string
  readonly input: string | readonly InputPart[]
}

export interface Turn {
  readonly sessionId: string
  /**
   * The parts of the answer as they arrive; ends with `end` or `broken`. `whole`: texts are sent when they are complete, and never
   * broken, for clients that wait for the whole answer. `none`: no texts, see `TurnParts`.
   */
  parts(texts?: 'live' | 'whole' | 'none'): AsyncIterable<TurnPart>
  outcome(): Promise<Outcome>
  /** The client disconnected in mid stream. Interrupts the turn, unless it should continue. */
  left(): void
}

/**
 * Waits for a free place and starts the turn. Throws if the agent, the input or the options are wrong. A client that disconnects
 * interrupts the turn, unless it sent `Prefer: respond-async`.
 */
export async function startTurn(request: RouteRequest, { agent, input, ...options }: TurnOptions): Promise<Turn> {
  const { sessions, signal } = request
  const isDetached = prefersAsync(request)
  const place = await request.admit(agent)
  const sessionId = await sessions.start(input, { agent, ...options })
  request.concerns(sessionId)
  // It runs on after its response.
  if (isDetached) place.keepUntil(sessions.outcome(sessionId))
  return followTurn(sessions, { sessionId, ...(!isDetached && { signal }) })
}

/** Whether the turn goes on without its client: RFC 7240. */
export const prefersAsync = ({ raw }: Pick<RouteRequest, 'raw'>): boolean =>
  /(?:^|[\s,])respond-async(?:$|[\s,;])/i.test(raw.headers.get('prefer') ?? '')

/** `signal`: interrupts the turn. */
function followTurn(sessions: SessionService, { sessionId, signal }: { readonly sessionId: string; readonly signal?: AbortSignal }): Turn {
  const cancel = async (): Promise<void> => {
    await sessions.cancel(sessionId, 'interrupt').catch(() => {})
  }
  const onAbort = (): void => void cancel()
  const stopListening = (): void => signal?.removeEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort)
  return {
    sessionId,
    left() {
      if (signal) onAbort()
    },
    async *parts(texts = 'live') {
      const fold = new TurnParts({ texts: texts === 'none' ? 'none' : 'live' })
      for await (const event of sessions.events(sessionId, { until: 'turn', live: texts !== 'whole' })) {
        for (const part of fold.read(event)) {
          if (part.type === 'broken') await cancel()
          yield part
          if (part.type === 'end' || part.type === 'broken') return stopListening()
        }
      }
    },
    async outcome() {
      try {
        return await sessions.outcome(sessionId)
      } finally {
        stopListening()
      }
    },
  }
}

/** The outcome of a turn with an answer, or the error that says why there is none. An answer of a child in a handoff is one. */
export async function requireAnswer(
  sessions: SessionService,
  outcome: Outcome,
): Promise<Outcome & { readonly report: NonNullable<Outcome['report']> }> {
  const { status, reason, report, sessionId } = outcome
  if ((status === 'completed' || status === 'partial' || isSpoken(outcome)) && report) return { ...outcome, report }
  if (status === 'suspended' && reason !== 'released') throw approvalRequired(sessionId, await sessions.requests(sessionId))
  throw turnFailed(outcome)
}

/** A child that talks to the person has answered, and waits for the next message. */
export const isSpoken = ({ status, reason, speaker, report }: Outcome): boolean =>
  status === 'suspended' && reason === 'input' && speaker !== undefined && report !== undefined

export function approvalRequired(sessionId: string, requests: readonly ApprovalRequest[]): HttpError {
  const first = requests[0]
  return new HttpError('approval_required', `The session waits for a person${first ? `: ${first.summary}` : ''}.`, {
    sessionId,
    remedy: `Answer with POST /v1/sessions/${sessionId}/approvals/ID or \`troupe approvals\`; the session then continues.`,
    details: { approvals: requests.map(({ id, summary }) => ({ id, summary })) },
  })
}

function turnFailed({ status, reason, message, remedy, failure, sessionId, accounting }: Outcome): HttpError {
  // Clients repeat a request that was limited or found no store: only a turn without calls can be repeated.
  const hasActed = accounting.some(({ kind }) => kind === 'call')
  const isLimited = failure?.class === 'rate_limit' || failure?.class === 'quota'
  const kind = hasActed ? 'turn_failed' : isLimited ? 'rate_limited' : reason === 'store' ? 'unavailable' : 'turn_failed'
  return new HttpError(kind, message ?? failure?.message ?? `The turn ended with the status ${status}${reason ? ` (${reason})` : ''}.`, {
    ...(reason === 'store' && { code: 'store_failed' }),
    sessionId,
    // The session is stored up to its last commit, and its server continues it.
    remedy:
      reason === 'store' ? `The turn continues when the store works again: GET /v1/sessions/${sessionId}` : (remedy ?? failure?.remedy),
    details: { status, ...(reason !== undefined && { reason }), ...(failure && { failure: failure.class }) },
    ...(failure?.retryAfterMs !== undefined && { retryAfterSeconds: failure.retryAfterMs / 1000 }),
  })
}

/** A text was sent whose reply failed: it cannot be taken back. */
export const answerBroken = (sessionId: string, failure: ModelFailure): HttpError =>
  new HttpError('turn_failed', `The answer broke off: ${failure.message}`, {
    sessionId,
    remedy: failure.remedy,
    details: { failure: failure.class },
  })
