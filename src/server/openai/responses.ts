import { z } from 'zod'
import { mapItems } from '../../util/map-items.ts'
import { eventStream, ignoredHeaders, pageOf, type RouteRequest, sseBytes, turnFollower, unknownQuery } from '../http/index.ts'
import { deletedAfter, deleteEnded } from './deleted-after.ts'
import type { OpenAiError } from './errors.ts'
import { inputItems, inputItemsQuery, wholeItem } from './input-items.ts'
import type { OpenAiDependencies } from './openai-routes.ts'
import type { ResponseBody } from './response-body.ts'
import type { ResponseEvent } from './response-items.ts'
import { type ResponseObject, responseObject } from './response-object.ts'
import { forgetResponse, type StoredResponse, unknownResponse } from './response-records.ts'
import { isOver as isEnded, readState, untilEnded } from './response-state.ts'
import { ResponseStream } from './response-stream.ts'
import { answeredResponse, followResponse, isLastEvent } from './response-turn.ts'
import { findResponse, hasTools, startResponse } from './start-response.ts'

export async function createResponse(request: RouteRequest<ResponseBody>, dependencies: OpenAiDependencies): Promise<Response> {
  const { body, sessions } = request
  const { response, ignored, keepsSession } = await startResponse(request, dependencies)
  const { sessionId } = response
  const headers = { 'x-session-id': sessionId, ...ignoredHeaders([...ignored, ...unknownQuery(request.url)]) }
  const [isLive, isDetached] = [body.stream === true, body.background === true]
  if (isDetached && !isLive) return Response.json(await currentResponse(request, response), { headers })
  const remove = async (): Promise<void> => {
    const { isLast } = await forgetResponse(dependencies.records, response)
    if (isLast && !keepsSession) await deleteEnded(sessions, sessionId)
  }
  const interrupt = (): void => {
    const interrupted = sessions.cancel(sessionId, 'interrupt').then(() => (body.store === false ? remove() : undefined))
    interrupted.catch(() => {})
  }
  // A client with tools of its own may come back.
  const follower = hasTools(response.record) ? turnFollower(sessionId, dependencies.clock, interrupt) : undefined
  const leave = (): void => (follower ? follower.left() : interrupt())
  const events = followResponse(request, response, { isLive, ...(!isDetached && { leave }) })
  let isOver = false
  const watched = mapItems(events, (event) => {
    isOver ||= isLastEvent(event)
    if (isOver) follower?.done()
    return event
  })
  const answer = body.store === false ? deletedAfter(watched, sessionId, remove) : watched
  if (!isLive) return Response.json(await answeredResponse(answer), { headers })
  return streamed(answer, {
    request,
    clock: dependencies.clock,
    headers,
    left() {
      if (!isDetached && !isOver) leave()
    },
  })
}

interface Streamed {
  readonly request: Pick<RouteRequest, 'endsWith'>
  readonly clock: OpenAiDependencies['clock']
  readonly headers?: { readonly [name: string]: string }
  /** The last number that the client has. */
  readonly after?: number | undefined
  left?(): void
}

function streamed(events: AsyncIterable<ResponseEvent>, { request, clock, headers = {}, after, left = () => {} }: Streamed): Response {
  const stream = new ResponseStream(after)
  const encode = (event: ResponseEvent): Uint8Array => sseBytes({ event: event.type, data: JSON.stringify(event) })
  request.endsWith((body) => {
    const { error } = body as { readonly error: OpenAiError }
    return encode(stream.error({ type: 'error', message: error.message, code: error.code, param: error.param, error }))
  })
  return eventStream({ source: stream.numbered(events), encode, clock, headers, left })
}

/** As it is now, from the journal. */
async function currentResponse({ sessions }: Pick<RouteRequest, 'sessions'>, response: StoredResponse): Promise<ResponseObject> {
  const state = await readState(sessions, response)
  if (!state) throw unknownResponse(response.id)
  const approvals = state.turn.kind === 'suspended' ? await sessions.requests(response.sessionId) : []
  return responseObject(response, state, approvals)
}

export const responseQuery = z.looseObject({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: z.coerce.number().int().min(0).optional(),
})

/** As it is now, or its events from the beginning or after a number. Events of a response that runs follow as they happen. */
export async function getResponse(
  request: RouteRequest<undefined, z.infer<typeof responseQuery>>,
  { records, clock }: OpenAiDependencies,
): Promise<Response> {
  const { response } = await found(request, records)
  const headers = ignoredHeaders(unknownQuery(request.url, Object.keys(responseQuery.shape)))
  if (request.query.stream !== 'true') return Response.json(await currentResponse(request, response), { headers })
  const recorded = (await request.sessions.get(response.sessionId))?.seq ?? 0
  const events = followResponse(request, response, { isLive: true, recorded })
  return streamed(events, { request, clock, headers, after: request.query.starting_after })
}

export async function listInputItems(
  request: RouteRequest<undefined, z.infer<typeof inputItemsQuery>>,
  { records }: OpenAiDependencies,
): Promise<Response> {
  const { sessions, query, url } = request
  const { response } = await found(request, records)
  const items = await inputItems(sessions, response)
  const page = pageOf(query.order === 'asc' ? items : items.toReversed(), query)
  const data = await Promise.all(page.data.map((item) => wholeItem(item, sessions, response.sessionId)))
  const headers = ignoredHeaders(unknownQuery(url, Object.keys(inputItemsQuery.shape)))
  return Response.json({ object: 'list', ...page, data }, { headers })
}

/** Interrupts the turn and waits for its end. A response that has ended stays as it is. */
export async function cancelResponse(request: RouteRequest, { records }: OpenAiDependencies): Promise<Response> {
  const { sessions } = request
  const { response, state } = await found(request, records)
  if (!isEnded(state.turn)) {
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
  else if (!isEnded(state.turn)) await sessions.cancel(response.sessionId, 'interrupt')
  return Response.json({ id: response.id, object: 'response', deleted: true })
}

async function found(request: RouteRequest, records: OpenAiDependencies['records']): ReturnType<typeof findResponse> {
  const result = await findResponse(request.sessions, { id: request.params.id ?? '', records })
  request.concerns(result.response.sessionId)
  return result
}
