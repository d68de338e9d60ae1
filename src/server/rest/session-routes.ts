import { z } from 'zod'
import { maxSearchChars, sessionFieldLimits, sessionStatuses, type TreeFilter } from '../../contracts/index.ts'
import { HttpError, json, plainErrors, type Route, route } from '../http/index.ts'
import { exportedSession, sessionCreated, sessionList, sessionSchema, shownSession } from './answer-schemas.ts'
import { folderFilter, folderSchema, keyFor, sessionOf } from './find-session.ts'
import type { RestDependencies } from './rest-routes.ts'
import { timeRange, timeSchemas } from './time-range.ts'
import { answerDocument, labelsSchema, sessionDocument, uncovered } from './wire.ts'

const base = { headend: 'rest', errors: plainErrors } as const
/** An amount in a query. A name without a value is not 0. */
const usd = (name: string) =>
  z
    .string()
    .refine((written) => /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(written) && Number.isFinite(Number(written)), {
      error: 'expected US dollars, 0 or more',
      params: { remedy: `Write it like ${name}=0.50, or leave it out.` },
    })
    .transform(Number)
    .meta({ type: 'number', minimum: 0 })
const oneOrMany = <Each extends z.ZodType>(each: Each) => z.union([each.transform((one) => [one]), z.array(each)])

const listSessions = (dependencies: RestDependencies): Route =>
  route({
    ...base,
    method: 'GET',
    path: '/v1/sessions',
    access: 'read',
    summary: 'List sessions, newest first',
    query: z.strictObject({
      agent: z.string().optional().describe('Only sessions of this agent.'),
      status: oneOrMany(z.enum(sessionStatuses)).optional().describe('Only sessions with this status. Repeat it for several.'),
      label: oneOrMany(z.string()).optional().describe('Only sessions with this label. Repeat it: sessions that have all of them.'),
      key: z.string().optional().describe('The session with this key, if there is one. Other parameters have no effect then.'),
      folder: folderSchema,
      owner: z.string().optional().describe('Only sessions of this principal.'),
      text: z.string().max(200).optional().describe('A part of the title.'),
      search: z
        .string()
        .max(maxSearchChars)
        .refine((written) => /\S/.test(written), {
          error: 'expected words',
          params: { remedy: 'Write it like search=weekend%20oslo, or leave it out.' },
        })
        .optional()
        .describe('Words of one message or answer, in any case. A word may be the beginning of a longer one.'),
      minCost: usd('minCost').optional().describe('Only sessions that cost at least this much, in US dollars.'),
      maxCost: usd('maxCost').optional().describe('Only sessions that cost at most this much, in US dollars.'),
      ...timeSchemas,
      limit: z.coerce.number().int().min(1).max(200).default(50).describe('Sessions of one page.'),
      before: z.coerce.number().optional().describe('`next` of the page before.'),
    }),
    responses: {
      200: {
        description:
          '`{ sessions, next? }`. `next` is the `before` of the next page. With `search`, `minCost` or `maxCost`, `unindexed`: number of sessions of an older version that are not covered; `troupe store reindex` adds them.',
        content: json(sessionList),
      },
    },
    async handle(request) {
      const { query, sessions } = request
      if (query.key !== undefined) {
        const found = await sessions.find(keyFor(request, query.key))
        return Response.json({ sessions: found ? [sessionDocument(found)] : [] })
      }
      const { agent, status, label, text, search, minCost, maxCost, limit, before, owner, folder } = query
      if (minCost !== undefined && maxCost !== undefined && minCost > maxCost)
        throw new HttpError('invalid_request', `maxCost: expected at least minCost, ${minCost}, not ${maxCost}`, {
          parameter: 'maxCost',
          remedy: 'Raise maxCost, or lower minCost.',
        })
      const filter: TreeFilter = {
        ...folderFilter(folder, dependencies),
        ...(agent !== undefined && { agent }),
        ...(status && { status }),
        ...(label && { labels: label }),
        ...(text !== undefined && { text }),
        ...(search !== undefined && { search }),
        ...(minCost !== undefined && { minCostUsd: minCost }),
        ...(maxCost !== undefined && { maxCostUsd: maxCost }),
        ...timeRange(query, dependencies.clock.now()),
        ...(before !== undefined && { before }),
        ...(owner !== undefined && { owner }),
        limit: limit + 1,
      }
      const found = await sessions.list(filter)
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      const needsIndex = search !== undefined || minCost !== undefined || maxCost !== undefined
      return Response.json({
        sessions: shown.map(sessionDocument),
        ...(found.length > limit && last && { next: last.createdAt }),
        ...(needsIndex && (await uncovered(sessions, owner))),
      })
    },
  })

const showSession = route({
  ...base,
  method: 'GET',
  path: '/v1/sessions/:id',
  access: 'read',
  summary: 'Show a session: its summary, its last answer and the tree of its operations',
  responses: {
    200: { description: '`{ session, approvals, outcome? }`. There is no outcome while a turn runs.', content: json(shownSession) },
  },
  async handle(request) {
    const { sessions } = request
    const before = await sessionOf(request)
    const outcome = before.status === 'running' ? undefined : await sessions.outcome(before.sessionId)
    // It may have changed meanwhile: the summary is never older than the outcome.
    const session = outcome ? await sessionOf(request) : before
    const approvals = session.openRequests > 0 ? await sessions.requests(session.sessionId) : []
    const document = { session: sessionDocument(session), approvals }
    if (!outcome || session.status === 'running') return Response.json(document)
    return Response.json({ ...document, outcome: { ...answerDocument(outcome), operations: outcome.operations, trace: outcome.trace } })
  },
})

const updateSession = route({
  ...base,
  method: 'PATCH',
  path: '/v1/sessions/:id',
  access: 'run',
  summary: 'Change title and labels',
  body: z.strictObject({ title: z.string().min(1).max(sessionFieldLimits.titleChars).optional(), labels: labelsSchema.optional() }),
  responses: { 200: { description: 'The session.', content: json(sessionSchema) } },
  async handle(request) {
    const { sessionId } = await sessionOf(request)
    const { title, labels } = request.body
    return Response.json(
      sessionDocument(await request.sessions.update(sessionId, { ...(title !== undefined && { title }), ...(labels && { labels }) })),
    )
  },
})

const deleteSession = ({ audit }: RestDependencies): Route =>
  route({
    ...base,
    method: 'DELETE',
    path: '/v1/sessions/:id',
    access: 'run',
    endsWork: true,
    summary: 'Delete a session with its journal',
    responses: { 204: { description: 'It is deleted. A running turn was interrupted.' } },
    async handle(request) {
      const { sessionId, owner } = await sessionOf(request)
      await request.sessions.delete(sessionId)
      await audit({ by: request.caller.principal.id, action: 'session.delete', sessionId, ...(owner !== undefined && { owner }) })
      return new Response(null, { status: 204 })
    },
  })

const forkSession = route({
  ...base,
  method: 'POST',
  path: '/v1/sessions/:id/fork',
  access: 'run',
  summary: 'Copy a session up to an event into a new one',
  body: z.strictObject({ seq: z.number().int().positive().optional() }),
  responses: { 201: { description: '`{ sessionId }` of the copy.', content: json(sessionCreated) } },
  async handle(request) {
    const { sessionId } = await sessionOf(request)
    const { seq } = request.body
    const copy = await request.sessions.fork(sessionId, seq === undefined ? {} : { seq })
    return Response.json({ sessionId: copy }, { status: 201, headers: { location: `/v1/sessions/${copy}` } })
  },
})

const downloadOutput = route({
  ...base,
  method: 'GET',
  path: '/v1/sessions/:id/outputs/:handle',
  access: 'read',
  summary: 'Download a stored output',
  responses: {
    200: {
      description: 'The text, or the bytes with their media type.',
      content: { 'text/plain': z.string(), '*/*': z.string().meta({ format: 'binary' }) },
    },
  },
  async handle(request) {
    const { sessionId } = await sessionOf(request)
    const handle = request.params.handle ?? ''
    const output = await request.sessions.output(sessionId, handle)
    if (!output) throw new HttpError('not_found', `The session has no output ${handle}.`)
    // Never shown as a page of this server.
    const headers = { 'content-security-policy': "sandbox; default-src 'none'", 'content-disposition': 'attachment' }
    if ('text' in output) return new Response(output.text, { headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' } })
    return new Response(output.bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, 'content-type': output.mediaType } })
  },
})

const exportSession = route({
  ...base,
  method: 'GET',
  path: '/v1/sessions/:id/export',
  access: 'read',
  summary: 'Download a session with its journal, without secrets',
  responses: { 200: { description: 'One JSON document.', content: json(exportedSession) } },
  async handle(request) {
    const { sessionId } = await sessionOf(request)
    const document = await request.sessions.export(sessionId)
    return Response.json(document, {
      headers: { 'content-disposition': `attachment; filename="session-${sessionId.replaceAll(/[^\w-]/g, '_')}.json"` },
    })
  },
})

export const sessionRoutes = (dependencies: RestDependencies): readonly Route[] => [
  listSessions(dependencies),
  showSession,
  updateSession,
  deleteSession(dependencies),
  forkSession,
  downloadOutput,
  exportSession,
]
