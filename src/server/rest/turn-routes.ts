import { z } from 'zod'
import { findAgent, HttpError, json, plainErrors, type Route, type RouteRequest, route } from '../http/index.ts'
import { receiptSchema, sessionCreated } from './answer-schemas.ts'
import { keyFor, sessionOf } from './find-session.ts'
import type { RestDependencies } from './rest-routes.ts'
import {
  inputOf,
  inputSchema,
  receiptDocument,
  receiptText,
  refuseSettings,
  settingsFields,
  settingsOf,
  startFields,
  startOptionsOf,
} from './wire.ts'

const base = { headend: 'rest', errors: plainErrors } as const
const clientId = z.string().min(1).max(200)

const startSession = (dependencies: TurnDependencies): Route =>
  route({
    ...base,
    method: 'POST',
    path: '/v1/sessions',
    access: 'run',
    summary: 'Start a session',
    description: 'The same `clientId` or `key` again returns the same session; a `clientId` with another agent or input is refused (409).',
    body: z.strictObject({
      ...startFields,
      agent: z.string().optional(),
      clientId: clientId.optional(),
      key: z.string().min(1).max(200).optional(),
    }),
    responses: { 201: { description: 'The session. Its turn runs.', content: json(sessionCreated) } },
    async handle(request) {
      const { body, sessions } = request
      const agent = findAgent(request.sessions, body.agent ?? onlyAgent(request))
      const place = await request.admit(agent.name)
      const sessionId = await sessions.start(inputOf(body.input), {
        agent: agent.name,
        ...startOptionsOf(body, agent, connectedModels(request, dependencies)),
        ...(body.clientId !== undefined && { clientId: body.clientId }),
        ...(body.key !== undefined && { key: keyFor(request, body.key) }),
      })
      request.concerns(sessionId)
      place.keepUntil(sessions.outcome(sessionId))
      return Response.json({ sessionId }, { status: 201, headers: { location: `/v1/sessions/${sessionId}` } })
    },
  })

const sendMessage = (dependencies: TurnDependencies): Route =>
  route({
    ...base,
    method: 'POST',
    path: '/v1/sessions/:id/messages',
    access: 'run',
    summary: 'Send a message',
    description:
      '`queue` begins another turn after the current one; `steer` enters the current turn at its next step. The same `clientId` again is accepted once; with another input it is refused (409).',
    body: z.strictObject({
      input: inputSchema,
      mode: z.enum(['queue', 'steer']).default('queue'),
      clientId: clientId.optional(),
      to: z.string().optional(),
      ...settingsFields,
    }),
    responses: { 202: { description: receiptText, content: json(receiptSchema) } },
    async handle(request) {
      const { body, sessions } = request
      const session = await sessionOf(request)
      const { sessionId } = session
      const agent = sessions.agents().find(({ name, displayName }) => name === session.agent || displayName === session.agent)
      refuseSettings(body, agent ?? { name: session.agent, overrides: [], models: [] }, connectedModels(request, dependencies))
      // A running turn has its place.
      const place = session.status === 'running' ? undefined : await request.admit(session.agent)
      const receipt = await sessions.send(sessionId, inputOf(body.input), {
        mode: body.mode,
        ...(body.clientId !== undefined && { clientId: body.clientId }),
        ...(body.to !== undefined && { to: body.to }),
        ...settingsOf(body),
      })
      place?.keepUntil(sessions.outcome(sessionId))
      return Response.json(receiptDocument(receipt), { status: 202 })
    },
  })

const cancelTurn = (['stop', 'interrupt'] as const).map((mode) =>
  route({
    ...base,
    method: 'POST',
    path: `/v1/sessions/:id/${mode}`,
    access: 'run',
    endsWork: true,
    summary: mode === 'stop' ? 'Finish the turn with a short answer' : 'End the turn immediately',
    ...(mode === 'interrupt' && {
      description: 'The text so far is kept. Messages that the agent has not read are held until `send-held` or the next message.',
    }),
    responses: { 202: { description: receiptText, content: json(receiptSchema) } },
    async handle(request) {
      const { sessionId } = await sessionOf(request)
      return Response.json(receiptDocument(await request.sessions.cancel(sessionId, mode)), { status: 202 })
    },
  }),
)

const sendHeld = route({
  ...base,
  method: 'POST',
  path: '/v1/sessions/:id/send-held',
  access: 'run',
  summary: 'Send the held messages',
  description: 'Messages that an interrupt found unread begin turns again, in their order.',
  responses: { 202: { description: receiptText, content: json(receiptSchema) } },
  async handle(request) {
    const { sessions } = request
    const { sessionId, status, agent } = await sessionOf(request)
    const place = status === 'running' ? undefined : await request.admit(agent)
    const receipt = await sessions.sendHeld(sessionId)
    place?.keepUntil(sessions.outcome(sessionId))
    return Response.json(receiptDocument(receipt), { status: 202 })
  },
})

type TurnDependencies = Pick<RestDependencies, 'models'>

export const turnRoutes = (dependencies: TurnDependencies): readonly Route[] => [
  startSession(dependencies),
  sendMessage(dependencies),
  ...cancelTurn,
  sendHeld,
]

/** The user of this machine may also choose models that are connected. */
const connectedModels = ({ isLocal }: Pick<RouteRequest, 'isLocal'>, { models }: TurnDependencies): readonly string[] =>
  isLocal && models ? models.models.map(({ model }) => model) : []

function onlyAgent({ sessions }: RouteRequest): string {
  const [only, ...others] = sessions.agents()
  if (only && others.length === 0) return only.name
  throw new HttpError('invalid_request', 'agent: expected the name of an agent', {
    parameter: 'agent',
    remedy: 'List the agents: GET /v1/agents',
  })
}
