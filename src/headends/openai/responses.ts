import { eventStream, ignoredHeaders, type RouteRequest, sseBytes, toHttpError } from '../server/index.ts'
import { deletedAfter } from './deleted-after.ts'
import { openAiError } from './errors.ts'
import type { OpenAiDependencies } from './openai-routes.ts'
import type { ResponseBody } from './response-body.ts'
import { type ResponseObject, responseObject } from './response-object.ts'
import { forgetResponse, type StoredResponse, unknownResponse } from './response-records.ts'
import { isOver, readState, untilEnded } from './response-state.ts'
import { answeredResponse, followResponse } from './response-turn.ts'
import { findResponse, startResponse } from './start-response.ts'

export async function createResponse(request: RouteRequest<ResponseBody>, dependencies: OpenAiDependencies): Promise<Response> {
  const { body, sessions } = request
  const { response, ignored } = await startResponse(request, dependencies)
  const { sessionId } = response
  const headers = { 'x-session-id': sessionId, ...ignoredHeaders(ignored) }
  const [isLive, isDetached] = [body.stream === true, body.background === true]
  if (isDetached && !isLive) return Response.json(await currentResponse(request, response), { headers })
  const events = followResponse(request, response, { isLive, isDetached })
  const remove = async (): Promise<void> => {
    await forgetResponse(dependencies.records, response)
    await sessions.delete(sessionId)
  }
  const answer = body.store === false ? deletedAfter(events, remove) : events
  if (!isLive) return Response.json(await answeredResponse(answer), { headers })
  let number = 0
  const encode = (event: { readonly type: string }): Uint8Array =>
    sseBytes({ event: event.type, data: JSON.stringify({ ...event, sequence_number: number++ }) })
  return eventStream({
    source: answer,
    encode,
    clock: dependencies.clock,
    headers,
    failed(thrown) {
      const error = openAiError(toHttpError(thrown))
      return encode({ type: 'error', ...({ message: error.message, code: error.code, param: error.param, error } as object) })
    },
    left() {
      if (!isDetached) void sessions.cancel(sessionId, 'interrupt').catch(() => {})
    },
  })
}

/** As it is now, from the journal. */
async function currentResponse({ sessions }: Pick<RouteRequest, 'sessions'>, response: StoredResponse): Promise<ResponseObject> {
  const state = await readState(sessions, response)
  if (!state) throw unknownResponse(response.id)
  const approvals = state.turn.kind === 'suspended' ? await sessions.requests(response.sessionId) : []
  return responseObject(response, state, approvals)
}

export async function getResponse(request: RouteRequest, { records }: OpenAiDependencies): Promise<Response> {
  const { response } = await found(request, records)
  return Response.json(await currentResponse(request, response))
}

/** Interrupts the turn and waits for its end. A response that has ended stays as it is. */
export async function cancelResponse(request: RouteRequest, { records }: OpenAiDependencies): Promise<Response> {
  const { sessions } = request
  const { response, state } = await found(request, records)
  if (!isOver(state.turn)) {
    await sessions.cancel(response.sessionId, 'interrupt')
    await untilEnded(sessions, response)
  }
  return Response.json(await currentResponse(request, response))
}

/** The session is deleted with its last response. Before that, its turns are still needed by the others. */
export async function deleteResponse(request: RouteRequest, { records }: OpenAiDependencies): Promise<Response> {
  const { sessions } = request
  const { response, state } = await found(request, records)
  const { isLast } = await forgetResponse(records, response)
  if (isLast) await sessions.delete(response.sessionId)
  else if (!isOver(state.turn)) await sessions.cancel(response.sessionId, 'interrupt')
  return Response.json({ id: response.id, object: 'response', deleted: true })
}

async function found(request: RouteRequest, records: OpenAiDependencies['records']): ReturnType<typeof findResponse> {
  const result = await findResponse(request.sessions, { id: request.params.id ?? '', records })
  request.concerns(result.response.sessionId)
  return result
}
