import Anthropic from '@anthropic-ai/sdk'
import { expect, it, onTestFinished } from 'vitest'
import type { Model } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { tool, until } from '../acceptance/support.ts'
import { localToken, type ServedOptions, serve } from './support.ts'

const agent = {
  name: 'clerk',
  description: 'Answers.',
  prompt: 'You are a clerk.',
  model: 'scripted/model',
  tools: ['*'],
  limits: { maxRetries: 0 },
} as const

async function stage(model: readonly ScriptedStepSource[] | Model, options: Omit<ServedOptions, 'model'> = {}) {
  const served = await serve({ agents: [agent], ...options, model, routes: () => anthropicRoutes({ clock: systemClock }) })
  onTestFinished(() => served.close())
  // With the retries that clients have by default.
  const client = (apiKey: string = localToken) => new Anthropic({ apiKey, baseURL: served.url })
  const sessions = () => served.store.trees.list({})
  return { ...served, client, sessions }
}

const ask = { model: 'clerk', max_tokens: 1000, messages: [{ role: 'user', content: 'Hi' }] } satisfies Anthropic.MessageCreateParams

const errorOf = async (work: PromiseLike<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> => {
  const error = await Promise.resolve(work).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Anthropic.APIError)
  return error as InstanceType<typeof Anthropic.APIError>
}

it('refuses wrong keys and takes right ones in both headers', async () => {
  const { client, fetch, token } = await stage([{ text: 'Hi.' }, { text: 'Hi.' }])
  const error = await errorOf(client('wrong').messages.create(ask))
  expect(error).toBeInstanceOf(Anthropic.AuthenticationError)
  expect(error).toMatchObject({ status: 401, type: 'authentication_error', requestID: expect.any(String) })
  expect(error.error).toMatchObject({ type: 'error', request_id: error.requestID })
  const ci = await token({ name: 'ci' })
  await client(ci).messages.create(ask)
  expect((await fetch('/v1/messages', { token: ci, json: ask })).status).toBe(200)
})

it("answers requests that no route takes in Anthropic's form", async () => {
  const { fetch } = await stage([])
  const kinds = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(path, { headers: { 'anthropic-version': '2023-06-01' }, ...init })
    return [response.status, ((await response.json()) as { readonly error: { readonly type: string } }).error.type]
  }
  expect(await kinds('/v1/messages', { headers: {} })).toEqual([405, 'invalid_request_error'])
  expect(await kinds('/v1/complete', { method: 'POST', body: '{}', headers: {} })).toEqual([404, 'not_found_error'])
  for (const path of ['/v1/files', '/v1/skills/a', '/v1/messages/batches', '/v1/organizations/me'])
    for (const method of ['GET', 'DELETE']) expect(await kinds(path, { method })).toEqual([404, 'not_found_error'])
})

it('refuses a token without the scope or the agent', async () => {
  const { client, token } = await stage([])
  const reader = await token({ name: 'reader', scopes: ['read'] })
  expect(await errorOf(client(reader).messages.create(ask))).toMatchObject({ status: 403, type: 'permission_error' })
  const other = await token({ name: 'other', agents: ['x'] })
  expect(await errorOf(client(other).messages.create(ask))).toMatchObject({ status: 404, type: 'not_found_error' })
})

it('names the agents if there is no such one', async () => {
  const { client } = await stage([])
  const unknown = { ...ask, model: 'claude-opus-5' }
  for (const work of [client().messages.create(unknown), client().messages.countTokens({ model: 'x', messages: ask.messages })])
    expect(await errorOf(work)).toMatchObject({
      status: 404,
      type: 'not_found_error',
      errorCode: 'agent_unknown',
      apiMessage: expect.stringContaining('clerk'),
    })
})

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
it.each([
  ['stop_sequences', { stop_sequences: ['END'] }],
  ['tools.0.name', { tools: [{ name: 'two words', input_schema: { type: 'object' } }] }],
  ['tools.0.input_schema', { tools: [{ type: 'custom', name: 'x' }] }],
  ['tools.1.name', { tools: ['x', 'x'].map((name) => ({ name, input_schema: {} })) }],
  ['tool_choice', { tool_choice: { type: 'any' } }],
  ['tool_choice', { tool_choice: { type: 'tool', name: 'x' }, tools: [{ type: 'web_search_20250305', name: 'x' }] }],
  ['tool_choice.name', { tool_choice: { type: 'tool', name: 'y' }, tools: [{ name: 'x', input_schema: {} }] }],
  ['tool_choice.type', { tool_choice: { type: 'some' } }],
  ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }] }],
  ['container', { container: 'c1' }],
  ['inference_geo', { inference_geo: 'eu' }],
  ['max_tokens', { max_tokens: 0 }],
  ['temperature', { temperature: 3 }],
  ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 3 } }],
  ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
  ['messages', { messages: [] }],
  [
    'messages',
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'The answer is (' },
      ],
    },
  ],
  ['messages', user('')],
  ['messages.0.role', { messages: [{ role: 'tool', content: 'Hi' }] }],
  ['messages.0.content.0.type', user([{ type: 'container_upload', file_id: 'f' }])],
  ['messages.0.content.0.source.type', user([{ type: 'image', source: { type: 'file', file_id: 'f' } }])],
  ['messages.0.content.0.source.url', user([{ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }])],
  ['messages.0.content.0', user([{ type: 'tool_result', tool_use_id: 'none', content: 'x' }])],
  [
    'messages.1',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'x', input: {} }] },
        { role: 'user', content: 'Hi' },
      ],
    },
  ],
])('refuses %s and names it: %j', async (parameter, more) => {
  const { client, sessions } = await stage([])
  const error = await errorOf(client().messages.create({ ...ask, ...more } as never))
  expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', details: { error_code: 'invalid_request', parameter } })
  expect(await sessions()).toEqual([])
})

it('refuses threads with the error on which clients send all messages', async () => {
  const { client, sessions } = await stage([])
  const error = await errorOf(client().beta.messages.create({ ...ask, thread: { type: 'create' } }))
  expect(error).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError)
  expect(await sessions()).toEqual([])
})

it('takes empty values of parameters that it does not support', async () => {
  const { client } = await stage([{ text: 'Hi.' }])
  await client().messages.create({
    ...ask,
    stop_sequences: [],
    tools: [],
    tool_choice: { type: 'auto' },
    container: null,
    cache_control: null,
  })
})

it('refuses bodies that are too large, and requests beyond the rate', async () => {
  const { client, token } = await stage([{ text: 'Hi.' }], { server: { maxBodyBytes: 1000 } })
  const long = { ...ask, messages: [{ role: 'user', content: 'x'.repeat(2000) }] } satisfies Anthropic.MessageCreateParams
  expect(await errorOf(client().messages.create(long))).toMatchObject({ status: 413, type: 'request_too_large' })
  const slow = await token({ name: 'slow', rates: { requestsPerDay: 1 } })
  await client(slow).messages.create(ask)
  expect(await errorOf(client(slow).messages.create(ask, { maxRetries: 0 }))).toMatchObject({ status: 429, type: 'rate_limit_error' })
})

const overload = { class: 'model', message: 'The model is ill.' } as const

it.each([false, true])('answers with a status if the model fails before the first text; stream: %s', async (stream) => {
  const { client, sessions } = await stage([{ reasoning: 'hm', fault: overload }])
  const error = await errorOf(client().messages.create({ ...ask, stream, thinking: { type: 'adaptive' } }))
  const [session] = await sessions()
  expect(error).toMatchObject({ type: 'api_error', details: { session_id: session?.treeId } })
  expect(error.apiMessage).toContain('The model is ill.')
})

it('ends the stream with an error if the model fails after the first text, and the turn, too', async () => {
  const seen = gate()
  let attempts = 0
  const model: Model = {
    id: 'test/ill',
    abilities: [],
    async *stream() {
      attempts++
      yield { type: 'text', text: 'Half of' }
      await seen.promise
      yield { type: 'error', failure: { class: 'network', message: 'The model is ill.', retryAfterMs: 60_000 } }
    },
  }
  const { client, sessions, runtime } = await stage(model, { agents: [{ ...agent, limits: { maxRetries: 3 } }] })
  const stream = client().messages.stream(ask)
  let streamed = ''
  stream.on('text', (piece) => {
    streamed += piece
    seen.open()
  })
  const error = await errorOf(stream.finalMessage())
  expect([streamed, error.type]).toEqual(['Half of', 'api_error'])
  expect(error.apiMessage).toContain('The model is ill.')
  const [session] = await sessions()
  expect(await runtime.sessions.outcome(session?.treeId ?? '')).toMatchObject({ status: 'interrupted' })
  expect(attempts).toBe(1)
})

it('waits for the next attempt if nothing was sent yet', async () => {
  const agents = [{ ...agent, limits: { maxRetries: 1 } }]
  const { client } = await stage([{ text: 'Half of', fault: { class: 'network', message: 'cut' } }, { text: 'All of it.' }], { agents })
  const message = await client().messages.create(ask)
  expect(message.content).toEqual([{ type: 'text', text: 'All of it.' }])
})

it.each([false, true])('interrupts the turn when the client leaves; stream: %s', async (stream) => {
  const { client, sessions, runtime } = await stage([{ text: 'Half of', fault: 'silence' }])
  const controller = new AbortController()
  if (stream) {
    const events = await client().messages.create({ ...ask, stream }, { signal: controller.signal })
    for await (const event of events) if (event.type === 'content_block_delta') break
  } else {
    const answer = errorOf(client().messages.create(ask, { signal: controller.signal }))
    await until('the session runs', async () => (await sessions()).length === 1)
    controller.abort()
    await answer
  }
  const [session] = await sessions()
  expect(await runtime.sessions.outcome(session?.treeId ?? '')).toMatchObject({ status: 'interrupted' })
})

it('lets the turn go on without its client if the client prefers that', async () => {
  const open = gate()
  const { client, sessions, runtime, log } = await stage([{ wait: open.promise, text: 'All of it.' }])
  const controller = new AbortController()
  const headers = { prefer: 'respond-async' }
  const answer = errorOf(client().messages.create(ask, { headers, signal: controller.signal }))
  await until('the session runs', async () => (await sessions()).length === 1)
  controller.abort()
  await answer
  open.open()
  const [session] = await sessions()
  expect(await runtime.sessions.outcome(session?.treeId ?? '')).toMatchObject({ status: 'completed', report: { text: 'All of it.' } })
  await until('the request is over', () => log.length === 1)
})

it.each([false, true])('tells the client which session waits for a person, once; stream: %s', async (stream) => {
  const ran: unknown[] = []
  const send = tool('send', {
    approval: () => ({ summary: 'Send the letter', keys: [{ key: 'send', label: 'send' }] }),
    execute: (input: unknown) => `sent ${ran.push(input)}`,
  } as never)
  const { client, sessions, runtime } = await stage([{ calls: [{ tool: 'send' }] }, { text: 'Sent.' }], { tools: [send] })
  const error = await errorOf(client().messages.create({ ...ask, stream }))
  const all = await sessions()
  expect(all).toHaveLength(1)
  const id = all[0]?.treeId ?? ''
  const [request] = await runtime.sessions.requests(id)
  expect(error).toMatchObject({
    status: 403,
    type: 'permission_error',
    errorCode: 'approval_required',
    details: { session_id: id, approvals: [{ id: request?.id, summary: request?.summary }] },
  })
  await runtime.sessions.approve(id, { approvalId: request?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
  await until('the session is idle', async () => (await runtime.sessions.outcome(id)).status === 'completed')
  expect(ran).toHaveLength(1)
})

it('tells the client that turns are too many', async () => {
  const open = gate()
  const { client } = await stage([{ wait: open.promise, text: 'Hi.' }], { server: { places: { total: 1, queue: 0 } } })
  const first = client().messages.create(ask)
  const none = { maxRetries: 0 }
  await until('the second is refused', async () => {
    const error = await Promise.race([
      client()
        .messages.create(ask, none)
        .catch((thrown: unknown) => thrown),
      first,
    ])
    return error instanceof Anthropic.APIError && error.type === 'overloaded_error' && error.status === 503
  })
  open.open()
  expect((await first).content).toHaveLength(1)
})
