import { z } from 'zod'
import type { InteractionEvent, SessionChange, StreamEvent } from '../../contracts/index.ts'
import { jsonWeight } from '../../util/json-weight.ts'
import {
  encodedOnce,
  eventStream,
  HttpError,
  json,
  plainErrors,
  published,
  type Route,
  type RouteRequest,
  route,
  sseBytes,
} from '../http/index.ts'
import { eventPage, watchEvents } from './answer-schemas.ts'
import { folderSchema, sessionOf } from './find-session.ts'
import { merged, signals } from './merged.ts'
import type { RestDependencies } from './rest-routes.ts'
import { sessionDocument } from './wire.ts'

const maxPage = 1_000
/** Approximate size of the events of a page. */
const maxPageBytes = 1024 ** 2

/** A durable event has its `seq` as id: a client that reconnects sends it as Last-Event-ID. */
const eventMessage = (event: StreamEvent): Uint8Array =>
  sseBytes({ ...('seq' in event && { id: String(event.seq) }), event: event.type, data: JSON.stringify(event) })

/** Once for all readers. */
export const encodeEvent = encodedOnce(eventMessage)
/** Each watcher gets changes of its own. */
const encodeChange = (change: SessionChange): Uint8Array =>
  sseBytes(
    change.kind === 'changed'
      ? { event: 'session.changed', data: JSON.stringify(sessionDocument(change.session)) }
      : { event: 'session.deleted', data: JSON.stringify({ sessionId: change.sessionId }) },
  )

const cursor = z.coerce.number().int().nonnegative()

/** Agents, extensions or warnings of the server have changed: what, is read again. */
const serverChange = { type: 'server.changed' } as const
const encodeServerChange = encodedOnce(({ type }: typeof serverChange) => sseBytes({ event: type, data: '{}' }))

type WatchItem = StreamEvent | SessionChange | typeof serverChange

function encodeItem(item: WatchItem): Uint8Array | undefined {
  if (item === serverChange) return encodeServerChange(serverChange)
  return 'kind' in item && !('type' in item) ? encodeChange(item) : encodeEvent(item as StreamEvent)
}

/** A change of another folder's session, unless it is the one that is followed. */
const isElsewhere = (item: WatchItem, followed: string | undefined): boolean =>
  'session' in item && item.kind === 'changed' && item.session.project === 'elsewhere' && item.session.sessionId !== followed

export function eventRoutes({ clock, onChange }: RestDependencies): readonly Route[] {
  return [
    route({
      headend: 'rest',
      errors: plainErrors,
      method: 'GET',
      path: '/v1/sessions/:id/events',
      access: 'read',
      summary: 'Read the events of a session',
      description:
        'With Accept: text/event-stream, the events after `after` or Last-Event-ID (the later one), then new ones until the turn ends or is suspended (`until=turn`), or the session is deleted (`until=closed`). Otherwise one page of durable events: at most `limit`, and about 1 MB.',
      query: z.strictObject({
        after: cursor.optional(),
        limit: z.coerce.number().int().min(1).max(maxPage).default(maxPage),
        until: z.enum(['turn', 'closed']).default('closed'),
        live: z.enum(['true', 'false']).default('true'),
      }),
      responses: {
        200: {
          description: 'A page `{ events, next? }`, or a stream.',
          content: { ...json(eventPage), 'text/event-stream': published('StreamEvent') },
        },
      },
      async handle(request) {
        const { query, sessions, raw } = request
        const { sessionId: id, seq: last } = await sessionOf(request)
        const after = cursorOf(request)
        if (!raw.headers.get('accept')?.includes('text/event-stream')) return page(request, { id, after, last, limit: query.limit })
        return eventStream({
          source: sessions.events(id, { after, until: query.until, live: query.live === 'true' }),
          encode: encodeEvent,
          clock,
        })
      },
    }),
    route({
      headend: 'rest',
      errors: plainErrors,
      method: 'GET',
      path: '/v1/watch',
      access: 'read',
      summary: 'Follow the list of sessions and one session, in one stream',
      query: z.strictObject({ session: z.string().optional(), after: cursor.optional(), folder: folderSchema }),
      responses: {
        200: {
          description:
            'Server-sent events: `session.changed`, `session.deleted`, `server.changed` (read `/v1/status` and `/v1/agents` again), and the events of the session.',
          content: { 'text/event-stream': watchEvents },
        },
      },
      async handle(request) {
        const { query, sessions } = request
        const { session: id } = query
        if (id !== undefined) await sessionOf(request, id)
        const after = cursorOf(request)
        const source = merged<WatchItem>(
          sessions.watch(),
          ...(onChange ? [signals(serverChange, onChange)] : []),
          ...(id === undefined ? [] : [sessions.events(id, { after, until: 'closed' })]),
        )
        return eventStream({
          source,
          encode: (item) => (query.folder === 'here' && isElsewhere(item, id) ? undefined : encodeItem(item)),
          clock,
        })
      },
    }),
  ]
}

/** A browser that reconnects repeats the address with its old `after`: the later of the two counts. */
const cursorOf = (request: RouteRequest<unknown, { readonly after?: number | undefined }>): number =>
  Math.max(request.query.after ?? 0, lastEventId(request))

function lastEventId({ raw }: Pick<RouteRequest, 'raw'>): number {
  const given = raw.headers.get('last-event-id')
  if (given === null || given === '') return 0
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new HttpError('invalid_request', `Last-Event-ID is "${given.slice(0, 40)}"; expected the id of an event of this session.`, {
    parameter: 'last-event-id',
  })
}

async function page(
  { sessions }: RouteRequest,
  { id, after, last, limit }: { readonly id: string; readonly after: number; readonly last: number; readonly limit: number },
): Promise<Response> {
  const events: InteractionEvent[] = []
  let bytes = 0
  if (after < last)
    for await (const event of sessions.events(id, { after, live: false })) {
      if (!('seq' in event)) continue
      events.push(event)
      bytes += jsonWeight(event)
      if (events.length === limit || event.seq >= last || bytes >= maxPageBytes) break
    }
  const end = events.at(-1)?.seq ?? after
  return Response.json({ events, ...(end < last && { next: end }) })
}
