import {
  addSpent,
  type Clock,
  type InputPart,
  type ModelFailure,
  noUsage,
  type Outcome,
  type SessionService,
  type StartOptions,
  type StreamEvent,
  type Usage,
} from '../../contracts/index.ts'
import { approvalRequired, waitsForClient } from './approval-required.ts'
import { type Returned, wireCall } from './client-calls.ts'
import { type Continued, continueTurn, records } from './continue-turn.ts'
import { HttpError } from './http-error.ts'
import type { RouteRequest } from './route.ts'
import { turnFollower } from './turn-follower.ts'
import { type TurnPart, TurnParts } from './turn-parts.ts'

// One answer for a client that waits: a new session, its events, its outcome.

interface TurnOptions extends StartOptions {
  readonly agent: string
  readonly input: string | readonly InputPart[]
  /** Present if the conversation ends in results of calls. */
  readonly returned?: Returned | undefined
  /** For clients with tools of their own. */
  readonly clock?: Pick<Clock, 'after'>
  /** The client has left for good. */
  readonly whenGone?: (sessionId: string) => Promise<void>
}

export interface Turn {
  readonly sessionId: string
  /**
   * The parts of the answer as they arrive; ends with `end` or `broken`. `whole`: texts are sent when they are complete, and never
   * broken, for clients that wait for the whole answer. `none`: no texts, see `TurnParts`.
   */
  parts(texts?: 'live' | 'whole' | 'none'): AsyncIterable<TurnPart>
  outcome(): Promise<Outcome>
  /** Names this answer: a session with calls of the client has several. */
  readonly answerId: string
  /** It began with results of the client. */
  readonly isContinued: boolean
  /** What the steps of this answer have used, after its parts. */
  readonly usage: Usage
  /** The client disconnected in mid stream. Interrupts the turn, unless it should continue. */
  left(): void
}

/**
 * Waits for a free place and starts the turn, or continues the one whose results the client has sent. Throws if the agent, the input or
 * the options are wrong. A client that disconnects interrupts the turn, unless it sent `Prefer: respond-async`; one with tools of its own
 * has a moment to come back.
 */
export async function startTurn(
  request: RouteRequest,
  { agent, input, returned, clock, whenGone, ...options }: TurnOptions,
): Promise<Turn> {
  const { sessions, signal } = request
  const isDetached = prefersAsync(request)
  const place = await request.admit(agent)
  const { clientTools = [], toolChoice = 'auto' } = options
  const continued = returned && (await continueTurn(request, { agent, returned, settings: { clientTools, toolChoice } }))
  if (continued && continued.requests.length > 0) throw approvalRequired(continued.sessionId, continued.requests)
  const sessionId = continued?.sessionId ?? (await sessions.start(input, { agent, ...options }))
  request.concerns(sessionId)
  // It runs on after its response.
  if (isDetached) place.keepUntil(sessions.outcome(sessionId))
  const hasTools = clientTools.length > 0 || continued !== undefined
  return followTurn(sessions, { sessionId, continued, ...(!isDetached && { signal }), ...(hasTools && clock && { clock, whenGone }) })
}

/** Whether the turn goes on without its client: RFC 7240. */
export const prefersAsync = ({ raw }: Pick<RouteRequest, 'raw'>): boolean =>
  /(?:^|[\s,])respond-async(?:$|[\s,;])/i.test(raw.headers.get('prefer') ?? '')

interface Followed {
  readonly sessionId: string
  /** Absent for a new session. */
  readonly continued: Continued | undefined
  /** Interrupts the turn. */
  readonly signal?: AbortSignal
  /** Present if the client may come back after a disconnection. */
  readonly clock?: Pick<Clock, 'after'>
  readonly whenGone?: TurnOptions['whenGone'] | undefined
}

function followTurn(sessions: SessionService, { sessionId, continued, signal, clock, whenGone }: Followed): Turn {
  const cancel = async (): Promise<void> => {
    await sessions.cancel(sessionId, 'interrupt').catch(() => {})
  }
  const follower = clock && turnFollower(sessionId, clock, () => void cancel().then(() => whenGone?.(sessionId)))
  const onAbort = (): void => (follower ? follower.left() : void cancel())
  const stopListening = (): void => signal?.removeEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort)
  let usage = noUsage
  /** The answer is complete. A turn that waits for its client is not interrupted when the connection ends. */
  let isComplete = false
  const complete = (): void => {
    isComplete = true
    stopListening()
    follower?.done()
  }
  return {
    sessionId,
    answerId: continued && continued.after > 0 ? `${sessionId}-${continued.after}` : sessionId,
    isContinued: continued !== undefined,
    get usage() {
      return usage
    },
    left() {
      if (signal && !isComplete) onAbort()
    },
    async *parts(texts = 'live') {
      const fold = new TurnParts({ texts: texts === 'none' ? 'none' : 'live' })
      if (continued && continued.open.length > 0) {
        complete()
        return yield* openCalls(continued)
      }
      for await (const event of answerEvents(sessions, { sessionId, continued, isLive: texts !== 'whole' })) {
        if (event.type === 'interaction.step.completed' || event.type === 'interaction.step.failed')
          usage = addSpent({ usage, cost: 0 }, event.usage, 0).usage
        for (const part of fold.read(event)) {
          if (part.type === 'broken') await cancel()
          if (part.type === 'client.call' || part.type === 'end' || part.type === 'broken') complete()
          yield part
          if (part.type === 'end' || part.type === 'broken') return
        }
      }
    },
    async outcome() {
      try {
        return await sessions.outcome(sessionId)
      } finally {
        complete()
      }
    },
  }
}

function* openCalls({ open }: Continued): Generator<TurnPart> {
  for (const call of open) yield { type: 'client.call', call: wireCall(call) }
  yield { type: 'end' }
}

interface AnswerEvents extends Pick<Followed, 'sessionId' | 'continued'> {
  readonly isLive: boolean
}

/** The events of the answer. Those of a continued turn begin after what the request has stored. */
async function* answerEvents(sessions: SessionService, { sessionId, continued, isLive }: AnswerEvents): AsyncGenerator<StreamEvent> {
  if (!continued) return yield* sessions.events(sessionId, { until: 'turn', live: isLive })
  const { begins } = continued
  let isBefore = begins !== undefined
  // The turn may still be suspended when the first event is read.
  for await (const event of sessions.events(sessionId, { after: continued.after, until: 'idle', live: isLive })) {
    if (!isBefore) yield event
    else if (begins !== undefined && records(event, begins)) isBefore = false
  }
}

/** The outcome of a turn with an answer, or the error that says why there is none. An answer of a child in a handoff is one. */
export async function requireAnswer(
  sessions: SessionService,
  outcome: Outcome,
  { isContinued = false }: { readonly isContinued?: boolean } = {},
): Promise<Outcome & { readonly report: NonNullable<Outcome['report']> }> {
  const { status, reason, report, sessionId } = outcome
  if ((status === 'completed' || status === 'partial' || isSpoken(outcome)) && report) return { ...outcome, report }
  if (status === 'suspended' && reason === 'client') throw waitsForClient(sessionId)
  if (status === 'suspended' && reason !== 'released') throw approvalRequired(sessionId, await sessions.requests(sessionId))
  if (status === 'suspended') throw driverLost(sessionId, isContinued)
  throw turnFailed(outcome)
}

/** A child that talks to the person has answered, and waits for the next message. */
export const isSpoken = ({ status, reason, speaker, report }: Outcome): boolean =>
  status === 'suspended' && reason === 'input' && speaker !== undefined && report !== undefined

/** Another server takes the turn over. A request that continued it can be repeated; another one would begin a second session. */
const driverLost = (sessionId: string, isContinued: boolean): HttpError =>
  new HttpError('unavailable', 'The server that worked on this turn has stopped. Another one continues it.', {
    sessionId,
    remedy: isContinued ? 'Send the same request again: it follows the turn.' : `Look at the session: GET /v1/sessions/${sessionId}`,
    ...(isContinued ? { retryAfterSeconds: 1 } : { isFinal: true }),
  })

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
