import { z } from 'zod'
import { usageGroupings } from '../../contracts/index.ts'
import { startOfLastDays } from '../../util/utc-day.ts'
import { HttpError, isAdmin, json, plainErrors, type Route, type RouteRequest, route } from '../http/index.ts'
import { modelRequestSchema, usageSchema } from './answer-schemas.ts'
import { sessionOf } from './find-session.ts'
import type { RestDependencies } from './rest-routes.ts'
import { rangeTimes, timeRange, timeSchemas } from './time-range.ts'
import { uncovered } from './wire.ts'

const defaultDays = 30
const base = { headend: 'rest', errors: plainErrors } as const

/** What sessions have used, and what models were sent. */
export const usageRoutes = ({ clock }: Pick<RestDependencies, 'clock'>): readonly Route[] => [
  route({
    ...base,
    method: 'GET',
    path: '/v1/usage',
    access: 'read',
    summary: 'Sum up tokens, cost and turns by agent, model, day or person',
    description:
      'Of turns that have ended, deleted sessions included. Without `admin`: of the sessions of the caller. Days are days in UTC. Without `since` and `until`: of the last 30 days, today included.',
    query: z.strictObject({
      by: z.enum(usageGroupings).default('day').describe('What each group is of.'),
      ...timeSchemas,
      person: z.string().min(1).optional().describe('Only sessions of this principal. For `admin`.'),
    }),
    responses: {
      200: {
        description:
          '`{ since?, until?, by, groups, total }`. `since` and `until`: the times that were used. `unindexed`: number of sessions of an older version that are missing; `troupe store reindex` adds them.',
        content: json(usageSchema),
      },
    },
    async handle(request) {
      const { query, sessions } = request
      const now = clock.now()
      const { until, since = until === undefined ? startOfLastDays(defaultDays, now) : undefined } = timeRange(query, now)
      const range = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
      const owner = personOf(request, query.person)
      const report = await sessions.usage({ by: query.by, ...range, ...(owner !== undefined && { owner }) })
      return Response.json({ ...rangeTimes(range), ...report, ...(await uncovered(sessions, owner)) })
    },
  }),
  route({
    ...base,
    method: 'GET',
    path: '/v1/sessions/:id/model-request',
    access: 'admin',
    summary: 'Read what a model was sent',
    pathParameters: { id: 'The `sessionId` of a root session.' },
    query: z.strictObject({
      step: z.string().min(1).describe('The `stepId` of an event.'),
      session: z.string().min(1).optional().describe('The `sessionId` of a child. Default: the session itself.'),
      attempt: z.coerce.number().int().min(1).optional().describe('Number of the attempt, from 1. Default: the last one.'),
    }),
    responses: {
      200: { description: 'System prompt, messages, tools and parameters as they were sent.', content: json(modelRequestSchema) },
    },
    async handle(request) {
      const { sessionId } = await sessionOf(request)
      const { step: stepId, session, attempt } = request.query
      const place = { stepId, ...(session !== undefined && { sessionId: session }), ...(attempt !== undefined && { attempt }) }
      return Response.json(await request.sessions.modelRequest(sessionId, place))
    },
  }),
]

function personOf({ caller }: Pick<RouteRequest, 'caller'>, person: string | undefined): string | undefined {
  if (person === undefined || isAdmin(caller) || person === caller.principal.id) return person
  throw new HttpError('forbidden', 'person: only tokens with the scope admin see the usage of others.', {
    parameter: 'person',
    remedy: 'Leave it out, or use a token with the scope admin.',
  })
}
