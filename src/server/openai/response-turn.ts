import type { Outcome } from '../../contracts/index.ts'
import { approvalRequired, HttpError, type RouteRequest, requireAnswer } from '../http/index.ts'
import type { ResponseEvent } from './response-items.ts'
import { type ResponseObject, responseObject } from './response-object.ts'
import type { StoredResponse } from './response-records.ts'
import { isOver, ResponseState } from './response-state.ts'

interface FollowOptions {
  /** Texts are sent as they arrive. */
  readonly isLive: boolean
  /** The client has disconnected. Absent if the turn continues without it. */
  leave?(): void
  /** The last `seq` of the session, for a response that began earlier. Waits for a person before it are over. */
  readonly recorded?: number
}

/** The events of a response: `response.created`, its items, and last the response itself. Throws if it waits for a person. */
export async function* followResponse(
  { sessions, signal }: Pick<RouteRequest, 'sessions' | 'signal'>,
  response: StoredResponse,
  { isLive, leave, recorded = 0 }: FollowOptions,
): AsyncGenerator<ResponseEvent> {
  const { sessionId, id, record } = response
  const state = new ResponseState(response)
  let isBroken = false
  let stopped: Outcome | undefined
  const onAbort = (): void => leave?.()
  signal.addEventListener('abort', onAbort)
  try {
    if (signal.aborted) onAbort()
    const begun: ResponseObject = { ...responseObject(response, state), status: 'in_progress' }
    yield { type: 'response.created', response: begun }
    yield { type: 'response.in_progress', response: begun }
    yield* state.begin()
    if (isOver(state.turn)) return yield lastEvent(responseObject(response, state))
    const events = sessions.events(sessionId, { after: record.after, until: 'closed', live: isLive })[Symbol.asyncIterator]()
    // A store that fails ends the turn without an event.
    sessions.outcome(sessionId).then(
      (outcome) => {
        if (outcome.reason !== 'store') return
        stopped = outcome
        void events.return?.()
      },
      () => {},
    )
    for await (const event of { [Symbol.asyncIterator]: () => events }) {
      yield* state.read(event)
      if (state.turn.kind === 'suspended' && !isBroken && !('seq' in event && event.seq < recorded))
        throw withId(approvalRequired(sessionId, await sessions.requests(sessionId)), id)
      if (state.broken && !isBroken && leave) void sessions.cancel(sessionId, 'interrupt').catch(() => {})
      isBroken = state.broken !== undefined
      if (!isOver(state.turn)) continue
      // A client may leave as soon as it has its calls: the turn waits for it.
      signal.removeEventListener('abort', onAbort)
      return yield lastEvent(responseObject(response, state))
    }
    if (stopped) await requireAnswer(sessions, stopped)
    throw new HttpError('turn_failed', 'The server stopped before the answer was complete.', {
      sessionId,
      remedy: `Read it later: GET /v1/responses/${id}`,
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

export const withId = (error: HttpError, id: string): HttpError =>
  new HttpError(error.kind, error.message, { ...error.options, details: { response_id: id, ...error.options.details } })

const lastTypes: { readonly [status: string]: string } = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  // OpenAI has no event of its own for it. Clients keep the text before this one, and throw after `response.failed`.
  cancelled: 'response.incomplete',
}
const lastEvent = (response: ResponseObject): ResponseEvent => ({ type: lastTypes[response.status] ?? failed, response })
const failed = 'response.failed'
export const isLastEvent = ({ type }: ResponseEvent): boolean => type === failed || Object.values(lastTypes).includes(type)

/** The response at the end of the events, or the error that says why there is none. */
export async function answeredResponse(events: AsyncIterable<ResponseEvent>): Promise<ResponseObject> {
  let last: ResponseEvent | undefined
  for await (const event of events) last = event
  const response = last?.response as ResponseObject
  if (response.status === 'completed' || response.status === 'incomplete') return response
  const error = response.error as { readonly message: string; readonly code: string } | null
  throw new HttpError('turn_failed', error?.message ?? 'The response was cancelled.', {
    sessionId: String(response.session_id),
    details: { response_id: response.id, status: response.status },
  })
}
