import { z } from 'zod'
import type { Clock } from '../../contracts/index.ts'
import { findAgent, HttpError, ignoredHeaders, type Route, type RouteRequest, route, startTurn, unknownQuery } from '../http/index.ts'
import { answers } from './answer-schemas.ts'
import { readTools } from './client-tools.ts'
import { estimateTokens } from './count-tokens.ts'
import { anthropicErrors } from './errors.ts'
import { MessageEvents } from './message-events.ts'
import { getModel, listModels, modelsQuery } from './models.ts'
import { readMessages } from './read-messages.ts'
import { type CountTokensBody, countTokensBody, type MessagesBody, messagesBody } from './request-schema.ts'
import { lastEvents, streamMessage } from './stream-message.ts'
import { outputOf, turnSettings } from './turn-settings.ts'
import { type WireEvent, wholeMessage } from './wire-format.ts'

// Anthropic's Messages API. An agent is a model. Every request is a new session, and the earlier messages are its history, except a
// request that ends in results of calls: it continues the turn that made them.

interface AnthropicRoutesOptions {
  readonly clock: Clock
}

const base = { headend: 'anthropic', errors: anthropicErrors, missing: ['complete', 'organizations'] } as const
/** Clients of the beta interface send `?beta=true`. */
const anyQuery = z.looseObject({})
/** The same paths in OpenAI's form are listed: every client of Anthropic sends its version. */
const forClients = {
  ...base,
  missing: [...base.missing, 'files', 'skills'],
  method: 'GET',
  access: 'read',
  onlyWith: 'anthropic-version',
} as const

export function anthropicRoutes({ clock }: AnthropicRoutesOptions): readonly Route[] {
  return [
    route({
      ...forClients,
      path: '/v1/models',
      summary: "List the agents as models in Anthropic's form",
      query: modelsQuery,
      responses: { 200: { description: 'A page of models', content: answers.models } },
      handle: listModels,
    }),
    route({
      ...forClients,
      path: '/v1/models/:model',
      summary: "Show an agent as a model in Anthropic's form",
      query: anyQuery,
      responses: { 200: { description: 'A model', content: answers.model } },
      handle: getModel,
    }),
    route({
      ...base,
      method: 'POST',
      path: '/v1/messages',
      access: 'run',
      summary: "Ask an agent in the format of Anthropic's Messages API",
      description:
        'The model is the name of an agent. A conversation that ends in results of calls continues their turn. Parameters without effect are ignored and named in the header x-troupe-ignored-parameters. With `stream`, the answer is sent as server-sent events.',
      query: anyQuery,
      body: messagesBody,
      responses: { 200: { description: 'A message, or its events', content: answers.message } },
      handle: (request) => createMessage(request, clock),
    }),
    route({
      ...base,
      method: 'POST',
      path: '/v1/messages/count_tokens',
      access: 'run',
      summary: 'Estimate the tokens of messages',
      description: 'An estimate by the length of texts, without the prompt and the tools of the agent.',
      query: anyQuery,
      body: countTokensBody,
      responses: { 200: { description: 'The estimate', content: answers.tokens } },
      handle: countTokens,
    }),
  ]
}

const noThreads = (): HttpError =>
  new HttpError('invalid_request', 'thread: threads are not supported.', {
    code: 'thread_unsupported_request',
    parameter: 'thread',
    remedy: 'Send all messages.',
    details: { unsupported: ['thread'] },
  })

async function createMessage(request: RouteRequest<MessagesBody, object>, clock: Clock): Promise<Response> {
  const { body, sessions } = request
  if (body.thread) throw noThreads()
  const agent = findAgent(sessions, body.model)
  const { maxTokens, showsThinking, ignored, ...settings } = turnSettings(body, agent)
  const { instructions, ...conversation } = readMessages(body)
  const tools = readTools(body)
  const turn = await startTurn(request, {
    agent: agent.name,
    ...conversation,
    clock,
    ...(instructions !== '' && { instructions }),
    ...settings,
    ...tools.settings,
  })
  const events = new MessageEvents({ answerId: turn.answerId, model: agent.name, maxTokens, showsThinking, oneCall: tools.oneCall })
  const headers = ignoredHeaders([...ignored, ...tools.ignored, ...unknownQuery(request.url, ['beta'])])
  const isJson = (settings.output ?? agent.output).format === 'json'
  if (body.stream) return streamMessage({ request, turn, events, texts: isJson ? 'none' : 'live', clock, headers })
  const sent: WireEvent[] = [...events.begin()]
  for await (const part of turn.parts(isJson ? 'none' : 'whole')) sent.push(...events.read(part))
  sent.push(...(await lastEvents(request, turn, events)))
  return Response.json(wholeMessage(sent), { headers })
}

function countTokens({ body, sessions }: RouteRequest<CountTokensBody, object>): Response {
  const agent = findAgent(sessions, body.model)
  const output = outputOf(body) ?? agent.output
  const schema = output.format === 'json' && output.schema ? [output.schema] : []
  return Response.json({ input_tokens: estimateTokens(readMessages(body), [...schema, ...(body.tools ?? [])]) })
}
