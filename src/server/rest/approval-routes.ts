import { z } from 'zod'
import type { ApprovalDecision, JsonObject } from '../../contracts/index.ts'
import { HttpError, isAdmin, json, plainErrors, type Route, route } from '../http/index.ts'
import { allRequests, receiptSchema, requestList } from './answer-schemas.ts'
import { folderFilter, folderSchema, sessionOf } from './find-session.ts'
import type { RestDependencies } from './rest-routes.ts'
import { jsonObject, receiptDocument, receiptText, sessionDocument } from './wire.ts'

const base = { headend: 'rest', errors: plainErrors } as const

const decision = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('approve'),
    breadth: z.enum(['once', 'session', 'project']).default('once'),
    key: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('answer'), text: z.string(), content: jsonObject.optional() }),
  z.strictObject({ kind: z.literal('deny'), feedback: z.string().max(10_000).optional() }),
  z.strictObject({ kind: z.literal('abort') }),
])

/** Sessions that are looked at for open requests. */
const maxSessions = 200

export function approvalRoutes({ audit, ...dependencies }: RestDependencies): readonly Route[] {
  return [
    route({
      ...base,
      method: 'GET',
      path: '/v1/approvals',
      access: 'read',
      summary: 'List the open requests of all own sessions',
      query: z.strictObject({ folder: folderSchema }),
      responses: { 200: { description: '`{ approvals: [{ session, request }] }`', content: json(allRequests) } },
      async handle({ sessions, query }) {
        const waiting = await sessions.list({ ...folderFilter(query.folder, dependencies), hasOpenRequests: true, limit: maxSessions })
        const all = await Promise.all(
          waiting.map(async (session) => {
            const requests = await sessions.requests(session.sessionId)
            return requests.map((request) => ({ session: sessionDocument(session), request }))
          }),
        )
        return Response.json({ approvals: all.flat() })
      },
    }),
    route({
      ...base,
      method: 'GET',
      path: '/v1/sessions/:id/approvals',
      access: 'read',
      summary: 'List the open requests of a session',
      responses: { 200: { description: '`{ approvals }`', content: json(requestList) } },
      async handle(request) {
        const { sessionId } = await sessionOf(request)
        return Response.json({ approvals: await request.sessions.requests(sessionId) })
      },
    }),
    route({
      ...base,
      method: 'POST',
      path: '/v1/sessions/:id/approvals/:approvalId',
      // Ids of requests contain slashes, and people paste them.
      isRest: true,
      access: 'approve',
      summary: 'Answer a request',
      description:
        'A request is answered once. An approval for the project applies to the sessions of everybody in its folder: it needs the scope `admin`.',
      body: decision,
      responses: {
        200: {
          description: 'The request has the same answer already: `{ clientId, driven, first: { decision, by } }`',
          content: json(receiptSchema),
        },
        202: { description: receiptText, content: json(receiptSchema) },
        400: { description: 'The decision does not fit the request.' },
        409: { description: 'The request has another answer: `first: { decision, by }` in the error.' },
      },
      async handle(request) {
        const { body, caller, params } = request
        const { sessionId } = await sessionOf(request)
        const approvalId = params.approvalId ?? ''
        if (body.kind === 'approve' && body.breadth === 'project' && !isAdmin(caller))
          throw new HttpError('forbidden', 'An approval for the project needs the scope "admin".', {
            remedy: 'Approve for the session: {"kind":"approve","breadth":"session"}',
          })
        const receipt = await request.sessions.approve(sessionId, { approvalId, decision: decisionOf(body) })
        // What changed nothing is not in the audit.
        if (receipt.first) return Response.json(receiptDocument(receipt))
        await audit({
          by: caller.principal.id,
          action: `approval.${body.kind}`,
          sessionId,
          approvalId,
          ...(body.kind === 'approve' && { breadth: body.breadth }),
        })
        return Response.json(receiptDocument(receipt), { status: 202 })
      },
    }),
  ]
}

function decisionOf(body: z.infer<typeof decision>): ApprovalDecision {
  switch (body.kind) {
    case 'approve':
      return { kind: 'approve', breadth: body.breadth, ...(body.key !== undefined && { key: body.key }) }
    case 'answer':
      return { kind: 'answer', text: body.text, ...(body.content && { content: body.content as JsonObject }) }
    case 'deny':
      return { kind: 'deny', ...(body.feedback !== undefined && { feedback: body.feedback }) }
    case 'abort':
      return body
    default:
      return body satisfies never
  }
}
