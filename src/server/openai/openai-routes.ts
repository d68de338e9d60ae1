import { z } from 'zod'
import type { Clock, Ids, Records } from '../../contracts/index.ts'
import { type Route, route } from '../http/index.ts'
import { answers } from './answer-schemas.ts'
import { chatBody, completeChat } from './chat.ts'
import { openAiErrors } from './errors.ts'
import { inputItemsQuery } from './input-items.ts'
import { getModel, listModels } from './models.ts'
import { responseBody } from './response-body.ts'
import { cancelResponse, createResponse, deleteResponse, getResponse, listInputItems, responseQuery } from './responses.ts'

export interface OpenAiDependencies {
  readonly clock: Clock
  readonly ids: Ids
  /** Settings of responses. */
  readonly records: Records
}

const missing = [
  ...['assistants', 'audio', 'batches', 'chatkit', 'completions', 'containers', 'conversations', 'edits', 'embeddings', 'engines', 'evals'],
  ...['files', 'fine-tunes', 'fine_tuning', 'images', 'moderations', 'organization', 'realtime', 'skills', 'threads', 'uploads'],
  ...['vector_stores', 'videos', 'responses/compact', 'responses/input_tokens'],
]
const base = { headend: 'openai', errors: openAiErrors, missing } as const
const stored = { 404: { description: 'There is no such response.' } }
const failures = {
  400: { description: 'A parameter is wrong or not supported; `param` names it.' },
  403: { description: 'The session waits for a person: `code` is `approval_required`.' },
  404: { description: 'There is no such agent.' },
  422: { description: 'The turn ended without an answer.' },
}

/** Clients of other services add their own parameters. */
const query = z.looseObject({})

const forms = "In Anthropic's form for requests with the header `anthropic-version`."

const modelRoutes: readonly Route[] = [
  route({
    ...base,
    method: 'GET',
    path: '/v1/models',
    access: 'read',
    summary: 'List the agents as models',
    description: forms,
    query,
    responses: { 200: { description: 'A list of models.', content: answers.models } },
    handle: listModels,
  }),
  route({
    ...base,
    method: 'GET',
    path: '/v1/models/:model',
    access: 'read',
    summary: 'Show an agent as a model',
    description: forms,
    query,
    responses: { 200: { description: 'A model.', content: answers.model }, 404: failures[404] },
    handle: getModel,
  }),
]

/** An agent is a model. Types of bodies: the reference of OpenAI. */
export function openaiRoutes(dependencies: OpenAiDependencies): readonly Route[] {
  return [
    ...modelRoutes,
    route({
      ...base,
      method: 'POST',
      path: '/v1/chat/completions',
      access: 'run',
      summary: 'Ask an agent with the messages of a chat',
      description:
        'A session of its own, or the one whose calls the results are for. With `stream`, the answer is sent as server-sent events.',
      query,
      body: chatBody,
      responses: { 200: { description: 'A chat completion, or its chunks.', content: answers.chat }, ...failures },
      handle: (request) => completeChat(request, dependencies),
    }),
    route({
      ...base,
      method: 'POST',
      path: '/v1/responses',
      access: 'run',
      summary: 'Ask an agent, in a new session or after an earlier response',
      description: 'With `background`, the turn continues without the client. With `stream`, events are sent.',
      query,
      body: responseBody,
      responses: {
        200: { description: 'A response, or its events.', content: answers.response },
        ...failures,
        409: { description: 'The previous response runs, or a call has another result already.' },
      },
      handle: (request) => createResponse(request, dependencies),
    }),
    route({
      ...base,
      method: 'GET',
      path: '/v1/responses/:id',
      access: 'read',
      summary: 'Show a response',
      description: 'With `stream=true`, its events are sent again, after the number `starting_after`.',
      query: responseQuery,
      responses: { 200: { description: 'The response as it is now, or its events.', content: answers.stored }, ...stored },
      handle: (request) => getResponse(request, dependencies),
    }),
    route({
      ...base,
      method: 'GET',
      path: '/v1/responses/:id/input_items',
      access: 'read',
      summary: 'List the input of a response',
      query: inputItemsQuery,
      responses: { 200: { description: 'A page of items.', content: answers.inputItems }, ...stored },
      handle: (request) => listInputItems(request, dependencies),
    }),
    route({
      ...base,
      method: 'POST',
      path: '/v1/responses/:id/cancel',
      access: 'run',
      summary: 'Interrupt a response',
      responses: { 200: { description: 'The response after its end.', content: answers.stored }, ...stored },
      handle: (request) => cancelResponse(request, dependencies),
    }),
    route({
      ...base,
      method: 'DELETE',
      path: '/v1/responses/:id',
      access: 'run',
      summary: 'Delete a response, and its session with the last one',
      responses: { 200: { description: '`{ id, object, deleted }`', content: answers.deleted }, ...stored },
      handle: (request) => deleteResponse(request, dependencies),
    }),
  ]
}
