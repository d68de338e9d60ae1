import { randomUUID } from 'node:crypto'
import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, onTestFinished, test } from 'vitest'
import type { ExtensionStatus, Model, Tool } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { mcpRoutes } from '../../src/server/mcp/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { webRoutes } from '../../src/server/web/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sceneDependencies } from './mcp-agents.ts'
import { echoModel, type Served, serve } from './support.ts'
import { webFolder } from './web-folder.ts'

const extension: ExtensionStatus = {
  id: 'notes',
  name: 'Notes',
  version: '1.0.0',
  description: 'Keeps notes.',
  state: 'failed',
  source: 'project',
  runs: 'nowhere',
  trusted: true,
  capabilities: ['tools'],
  health: { healthy: false, message: 'No file.' },
  problems: [{ place: 'notes/manifest.yaml', message: 'It threw.', remedy: 'Fix it.' }],
}
const deleting: Tool = {
  name: 'delete_file',
  description: 'Deletes a file.',
  inputSchema: { type: 'object' },
  approval: () => ({ summary: 'Delete a.txt', keys: [{ key: 'path:a.txt', label: 'a.txt' }] }),
  execute: () => 'deleted',
}
/** Calls the tool when it is asked to delete, and repeats everything else. */
const model: Model = {
  ...echoModel(),
  async *stream(request, context) {
    const last = request.messages.at(-1)
    if (last?.role !== 'user' || !JSON.stringify(last).includes('Delete')) return yield* echoModel().stream(request, context)
    yield { type: 'call', id: 'c1', name: 'delete_file', input: '{}' }
    yield { type: 'finish', reason: 'tool-calls' }
  },
}

/** All routes, with everything that their answers can have. */
async function everything(): Promise<Served> {
  const store = memoryStore()
  const folder = await webFolder()
  const ids = { next: () => randomUUID() }
  const served = await serve({
    store,
    model,
    tools: [deleting],
    agents: [
      { name: 'clerk', description: 'Answers.', prompt: 'Answer.', usage: 'Hello', model: 'test/echo', tools: ['*'], agents: ['child'] },
      { name: 'child', description: 'Works.', prompt: 'Work.', model: 'test/echo', tools: [], infer: false },
    ],
    rest: {
      extensions: () => [extension],
      warnings: () => ['An agent file cannot be read.'],
      demo: { model: 'recorded', offers: [{ model: 'test/echo', from: 'TEST_KEY' }], processId: 1, pullPlug() {}, choose: async () => {} },
    },
    routes: () => [
      ...webRoutes(folder),
      ...mcpRoutes({ ...sceneDependencies(), legacyTransports: true }),
      ...openaiRoutes({ clock: systemClock, ids, records: store.records }),
      ...anthropicRoutes({ clock: systemClock }),
    ],
  })
  onTestFinished(() => served.close())
  return served
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly security?: readonly object[]
  readonly responses: { readonly [status: string]: { readonly content?: { readonly [type: string]: { readonly schema?: object } } } }
}

/** Answers without a body. */
const bodiless = ['post /mcp 202', 'post /v1/demo/pull-plug 202', 'delete /mcp 200', 'delete /v1/sessions/{id} 204']

test('the document is valid, its references resolve, and every success has a schema', async () => {
  const { url, fetch } = await everything()
  const text = await (await fetch('/openapi.json', { token: '' })).text()
  const document = JSON.parse(text)
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }], security: [{ token: [] }, { apiKey: [] }] })
  expect(new URL(document.servers[0].url, `${url}/openapi.json`).href).toBe(`${url}/`)
  await SwaggerParser.validate(JSON.parse(text))
  const operations = Object.entries<{ [method: string]: Operation }>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  )
  const ids = operations.map(({ operationId }) => operationId)
  expect([...new Set(ids)]).toEqual(ids)
  const tags = document.tags.map(({ name }: { name: string }) => name)
  expect(operations.filter((operation) => !operation.tags.every((tag) => tags.includes(tag)))).toEqual([])
  const answers = operations.flatMap(({ name, responses }) =>
    Object.entries(responses).map(([status, { content = {} }]) => ({ name: `${name} ${status}`, schemas: Object.values(content) })),
  )
  const isEmpty = ({ schemas }: (typeof answers)[number]) =>
    schemas.length === 0 || schemas.some(({ schema }) => !schema || Object.keys(schema).length === 0)
  expect(answers.filter(isEmpty).map(({ name }) => name)).toEqual(expect.arrayContaining(bodiless))
  expect(answers.filter(isEmpty)).toHaveLength(bodiless.length)
  // Two protocols have these in their own forms.
  const models = document.paths['/v1/models'].get
  expect(models.responses['200'].content['application/json'].schema.oneOf).toMatchObject([
    { properties: { data: { items: { $ref: '#/components/schemas/OpenAiModel' } } } },
    { properties: { data: { items: { $ref: '#/components/schemas/AnthropicModel' } } } },
  ])
  expect(models.parameters.map(({ name }: { name: string }) => name)).toEqual(['limit', 'after_id', 'before_id', 'anthropic-version'])
  expect(document.paths['/v1/models/{model}'].get.responses['404'].content['application/json'].schema.oneOf).toHaveLength(2)
})

test('every route answers as the document says', async () => {
  const { fetch, log, routes, token } = await everything()
  const json = async (path: string, body?: object) =>
    (await fetch(path, body && { json: body })).json() as Promise<{ [field: string]: string } & { approvals: { id: string }[] }>
  const owner = await token({ name: 'ci', budget: { tokensPerDay: 1_000, costUsdPerDay: 5 } })
  for (const path of [
    '/health',
    '/ready',
    '/metrics',
    '/docs',
    '/openapi.json',
    '/',
    '/v1/extensions',
    '/v1/agents',
    '/v1/agents/clerk',
    '/v1/agents/clerk/setup',
  ])
    expect((await fetch(path)).status).toBe(200)
  await fetch('/v1/status', { token: owner })
  await fetch('/v1/demo/pull-plug', { method: 'POST' })
  await fetch('/v1/demo/model', { json: { model: 'recorded' } })
  const { sessionId } = await json('/v1/clerk?q=Hi')
  for (const accept of ['text/event-stream', 'text/plain', 'text/markdown'])
    await (await fetch('/v1/clerk', { json: { input: 'Hi' }, headers: { accept } })).text()
  await fetch('/v1/clerk', { json: { input: 'Hi' }, headers: { prefer: 'respond-async' } })
  const waiting = await json('/v1/clerk', { input: 'Delete it.' })
  const session = `/v1/sessions/${waiting.sessionId}`
  for (const path of ['/v1/approvals', `${session}/approvals`, session, '/v1/sessions', '/v1/sessions?search=hi', '/v1/usage'])
    await json(path)
  await json(`${session}/approvals/${waiting.approvals[0]?.id}`, { kind: 'approve' })
  await json('/v1/sessions', { input: 'Hi', agent: 'clerk' })
  const own = `/v1/sessions/${sessionId}`
  await json(`${own}/messages`, { input: 'more' })
  for (const mode of ['stop', 'interrupt', 'send-held']) await fetch(`${own}/${mode}`, { method: 'POST' })
  await json(`${own}/fork`, {})
  await (await fetch(`${own}/events?until=turn`, { headers: { accept: 'text/event-stream' } })).text()
  for (const path of ['/events', '/export', '/model-request?step=t1.s1']) await json(`${own}${path}`)
  await fetch(own, { method: 'PATCH', body: '{"title":"New","labels":["a"]}' })
  const watching = await fetch(`/v1/watch?session=${sessionId}`)
  await watching.body?.getReader().read()
  await json('/v1/models')
  await json('/v1/models/clerk')
  for (const path of ['/v1/models', '/v1/models/clerk', '/v1/models/nobody'])
    await (await fetch(path, { headers: { 'anthropic-version': '2023-06-01' } })).text()
  const chat = { model: 'clerk', messages: [{ role: 'user', content: 'Hi' }] }
  await json('/v1/chat/completions', chat)
  await (await fetch('/v1/chat/completions', { json: { ...chat, stream: true, stream_options: { include_usage: true } } })).text()
  await (await fetch('/v1/responses', { json: { model: 'clerk', input: 'Hi', stream: true } })).text()
  const { id } = await json('/v1/responses', { model: 'clerk', input: 'Hi' })
  await json(`/v1/responses/${id}`)
  await json(`/v1/responses/${id}/input_items`)
  await (await fetch(`/v1/responses/${id}?stream=true`)).text()
  await fetch(`/v1/responses/${id}/cancel`, { method: 'POST' })
  await fetch(`/v1/responses/${id}`, { method: 'DELETE' })
  await json('/v1/messages/count_tokens', chat)
  await json('/v1/messages', { ...chat, max_tokens: 10 })
  await (await fetch('/v1/messages', { json: { ...chat, max_tokens: 10, stream: true } })).text()
  await fetch(own, { method: 'DELETE' })

  // The rest is called by the suites of these protocols, and a stored output by those of tools.
  const others = routes.filter(({ headend, path, isUnlisted }) => headend === 'mcp' || isUnlisted || path.endsWith('/outputs/:handle'))
  const answered = new Set(log.flatMap(({ method, route, status }) => (status < 300 ? [`${method} ${route}`] : [])))
  const missing = routes.filter((each) => !others.includes(each) && !answered.has(`${each.method} ${each.path}`))
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})
