import { z } from 'zod'
import type { Outcome } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import {
  eventStream,
  findAgent,
  HttpError,
  isSpoken,
  json,
  parseJson,
  plainErrors,
  prefersAsync,
  type Route,
  type RouteRequest,
  requireAnswer,
  route,
  sseBytes,
  startTurn,
  type Turn,
} from '../http/index.ts'
import { acceptedAnswer, agentList, agentSchema, agentSetupSchema, answerEvents, answerSchema } from './answer-schemas.ts'
import { encodeEvent } from './event-routes.ts'
import type { RestDependencies } from './rest-routes.ts'
import { answerDocument, formatSchema, inputOf, type StartBody, startFields, startOptionsOf } from './wire.ts'

const base = { headend: 'rest', errors: plainErrors } as const

const answers = {
  200: {
    description:
      'The answer. With Accept: text/event-stream, the events of the session and then `outcome`; with text/plain or text/markdown, its text.',
    content: {
      ...json(answerSchema),
      'text/event-stream': answerEvents,
      'text/plain': z.string(),
      'text/markdown': z.string(),
    },
  },
  202: {
    description: 'The session waits for a person, or was started with Prefer: respond-async. Location names it.',
    content: json(acceptedAnswer),
  },
}

/** What is known of agents. */
const descriptionRoutes: readonly Route[] = [
  route({
    ...base,
    method: 'GET',
    path: '/v1/agents',
    access: 'read',
    summary: 'List the agents',
    responses: {
      200: {
        description: 'Agents with description, usage, contracts, limits, template and the agents below them.',
        content: json(agentList),
      },
    },
    handle: ({ sessions }) => Response.json({ agents: sessions.agents() }),
  }),
  route({
    ...base,
    method: 'GET',
    path: '/v1/agents/:agent',
    access: 'read',
    summary: 'Show an agent',
    responses: { 200: { description: 'The agent.', content: json(agentSchema) }, 404: { description: 'There is no such agent.' } },
    handle: (request) => Response.json(findAgent(request.sessions, request.params.agent ?? '')),
  }),
  route({
    ...base,
    method: 'GET',
    path: '/v1/agents/:agent/setup',
    access: 'admin',
    summary: 'Show the prompt and the tools of an agent',
    responses: {
      200: {
        description:
          '`approval` of a tool: before its arguments are known. `sources`: servers that list their tools when a session begins.',
        content: json(agentSetupSchema),
      },
      404: { description: 'There is no such agent.' },
    },
    handle: async ({ sessions, params }) => Response.json(await sessions.agentSetup(params.agent ?? '')),
  }),
]

export function agentRoutes({ clock }: RestDependencies): readonly Route[] {
  return [
    ...descriptionRoutes,
    route({
      ...base,
      method: 'GET',
      path: '/v1/:agent',
      access: 'run',
      summary: 'Ask an agent one question',
      query: z.strictObject({ q: z.string().min(1), format: formatSchema.optional(), schema: z.string().optional() }),
      responses: answers,
      async handle(request) {
        const { q, format, schema } = request.query
        return ask(request, { input: q, ...(format && { format }), ...(schema !== undefined && { schema: parsedSchema(schema) }) })
      },
    }),
    route({
      ...base,
      method: 'POST',
      path: '/v1/:agent',
      access: 'run',
      summary: 'Ask an agent, with history, format, limits and labels',
      body: z.strictObject(startFields),
      responses: answers,
      handle: (request) => ask(request, request.body),
    }),
  ]

  async function ask(request: RouteRequest, body: StartBody): Promise<Response> {
    const agent = findAgent(request.sessions, request.params.agent ?? '')
    const accept = request.raw.headers.get('accept') ?? ''
    const turn = await startTurn(request, {
      agent: agent.name,
      input: inputOf(body.input),
      ...startOptionsOf(body, agent),
    })
    if (prefersAsync(request)) return accepted(turn.sessionId, { sessionId: turn.sessionId, status: 'running' })
    if (accept.includes('text/event-stream')) return streamed(request, turn)
    const outcome = await turn.outcome()
    if (outcome.status === 'suspended' && !isSpoken(outcome)) return waiting(request, outcome)
    const answer = await requireAnswer(request.sessions, outcome)
    if (/^text\/(?:plain|markdown)/.test(accept))
      return new Response(answer.report.text, {
        headers: { 'content-type': `${accept.split(/[;,]/)[0]}; charset=utf-8`, 'x-session-id': outcome.sessionId },
      })
    return Response.json(answerDocument(answer))
  }

  function streamed({ sessions }: RouteRequest, turn: Turn): Response {
    async function* source() {
      yield* sessions.events(turn.sessionId, { until: 'turn' })
      yield { outcome: await turn.outcome() }
    }
    return eventStream({
      source: source(),
      encode: (item) =>
        'outcome' in item ? sseBytes({ event: 'outcome', data: JSON.stringify(answerDocument(item.outcome)) }) : encodeEvent(item),
      clock,
      headers: { 'x-session-id': turn.sessionId },
      left: () => turn.left(),
    })
  }
}

async function waiting({ sessions }: RouteRequest, outcome: Outcome): Promise<Response> {
  const approvals = await sessions.requests(outcome.sessionId)
  return accepted(outcome.sessionId, { ...answerDocument(outcome), approvals })
}

const accepted = (sessionId: string, document: object): Response =>
  Response.json(document, { status: 202, headers: { location: `/v1/sessions/${sessionId}` } })

function parsedSchema(text: string): NonNullable<StartBody['schema']> {
  try {
    const schema = parseJson(text)
    if (isRecord(schema)) return schema as NonNullable<StartBody['schema']>
  } catch {
    // Reported below.
  }
  throw new HttpError('invalid_request', 'schema: expected a JSON Schema as a JSON object', { parameter: 'schema' })
}
