import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { type Model, noUsage, type Store, type Tool } from '../../src/contracts/index.ts'
import { createAgentRuntime, systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { mcpRoutes } from '../../src/server/mcp/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { openExporter, SessionSpans, serverMetrics } from '../../src/server/telemetry/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { Story } from '../fixtures/run-story.ts'
import { sceneDependencies } from './mcp-agents.ts'
import { type ServedOptions, serve } from './support.ts'

interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: { readonly [kind: string]: unknown } }[]
}

/** A receiver of OTLP over HTTP. */
async function collector() {
  const spans: OtlpSpan[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      for (const resource of JSON.parse(text).resourceSpans) for (const scope of resource.scopeSpans) spans.push(...scope.spans)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}/v1/traces`, spans, close: () => new Promise((resolve) => server.close(resolve)) }
}

const agents = [
  { name: 'parent', description: 'Delegates.', prompt: 'Delegate.', model: 'scripted/model', tools: [], agents: ['child'] },
  { name: 'child', description: 'Works.', prompt: 'Work.', model: 'scripted/model', tools: [], infer: false },
]
const steps = [
  { calls: [{ tool: 'agent__child', input: { prompt: 'secret task' } }], costUsd: 0.1 },
  { text: 'done', usage: { input: 7, output: 3 }, costUsd: 0.7 },
  { text: 'All done.', costUsd: 0.1 },
]

test('a turn with a child is a tree of spans with the names of OpenTelemetry', async () => {
  const receiver = await collector()
  const exporter = await openExporter({ endpoint: receiver.endpoint, version: '0.0.0' })
  const spans = new SessionSpans({ tracer: exporter.tracer })
  const runtime = createAgentRuntime({
    config: { agents, agentSelection: { agent: 'parent' } },
    adapter: new ScriptedModel(steps),
  })
  runtime.hostedBy({ observer: spans })
  expect(await runtime.run('Go')).toMatchObject({ status: 'completed' })
  await runtime.close()
  await exporter.close()
  await receiver.close()
  const byId = new Map(receiver.spans.map((span) => [span.spanId, span.name]))
  const tree = receiver.spans.map(({ name, parentSpanId }) => `${byId.get(parentSpanId ?? '') ?? '-'} > ${name}`)
  expect(tree.toSorted()).toEqual([
    '- > invoke_agent parent',
    'execute_tool agent__child > invoke_agent child',
    'invoke_agent child > chat model',
    'invoke_agent parent > chat model',
    'invoke_agent parent > chat model',
    'invoke_agent parent > execute_tool agent__child',
  ])
  const child = receiver.spans.find(({ name }) => name === 'invoke_agent child')
  expect(child?.attributes).toContainEqual({ key: 'gen_ai.usage.input_tokens', value: { intValue: 7 } })
  expect(JSON.stringify(receiver.spans)).not.toContain('secret task')
})

/** A server whose sessions are traced. `spans` are all that ended; asking for them ends the export. */
async function traced(options: ServedOptions & { readonly stored?: Store } = {}) {
  const receiver = await collector()
  const exporter = await openExporter({ endpoint: receiver.endpoint, version: '0.0.0' })
  const { stored = memoryStore() } = options
  const routes = () => [
    ...mcpRoutes(sceneDependencies()),
    ...openaiRoutes({ clock: systemClock, ids: { next: () => randomUUID() }, records: stored.records }),
    ...anthropicRoutes({ clock: systemClock }),
  ]
  const served = await serve({ ...options, store: { ...stored, close: async () => {} }, routes })
  served.runtime.hostedBy({ observer: new SessionSpans({ tracer: exporter.tracer }) })
  return {
    ...served,
    stored,
    async spans(): Promise<readonly OtlpSpan[]> {
      await served.close()
      await exporter.close()
      await receiver.close()
      return receiver.spans
    },
  }
}

const attributesOf = ({ attributes }: OtlpSpan): { readonly [key: string]: unknown } =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
const trace = (digit: string, flags = '01') => ({ traceparent: `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}` })

test('a request with a traceparent is the parent of the turn that it begins, on every protocol', async () => {
  const { fetch, runtime, spans } = await traced()
  const send = (path: string, json: object, headers: { readonly [name: string]: string }) => fetch(path, { json, headers })
  const chat = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] }
  await (await send('/v1/echo', { input: 'Hi' }, { ...trace('1'), tracestate: 'vendor=7' })).json()
  await (await send('/v1/chat/completions', chat, trace('2'))).json()
  await (await send('/v1/messages', { ...chat, max_tokens: 9 }, trace('3'))).json()
  await (await send('/v1/responses', { model: 'echo', input: 'Hi' }, trace('4'))).json()
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { prompt: 'Hi' } } }
  const asTool = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
  const opened = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  }
  const id = (await fetch('/mcp', { json: opened, headers: asTool })).headers.get('mcp-session-id') ?? ''
  await (await send('/mcp', call, { ...trace('5'), ...asTool, 'mcp-session-id': id })).text()
  // Further turns of one session, each with the trace of its own request; one has none, and one is not valid.
  const { sessionId } = (await (await send('/v1/sessions', { input: 'Hi' }, trace('6'))).json()) as { sessionId: string }
  await runtime.sessions.outcome(sessionId)
  for (const headers of [trace('7'), {}, trace('0'), { traceparent: 'ff-x' }, { traceparent: `${trace('8').traceparent}-more` }]) {
    await send(`/v1/sessions/${sessionId}/messages`, { input: 'Hi' }, headers)
    await runtime.sessions.outcome(sessionId)
  }
  // The caller does not want this one recorded.
  await (await send('/v1/echo', { input: 'Hi' }, trace('9', '00'))).json()

  const all = await spans()
  const turns = all.filter(({ name }) => name === 'invoke_agent echo')
  const isRemote = ({ parentSpanId = '' }: OtlpSpan) => /^(\d)\1+$/.test(parentSpanId)
  expect(turns.filter(isRemote).map(({ traceId, parentSpanId }) => `${traceId[0]}${parentSpanId?.[0]}`)).toEqual(
    ['1', '2', '3', '4', '5', '6', '7'].map((digit) => digit + digit),
  )
  expect(turns.find(isRemote)?.traceState).toBe('vendor=7')
  // The others have traces of their own.
  const own = turns.filter((turn) => !isRemote(turn))
  expect([own.length, new Set(own.map(({ traceId }) => traceId)).size]).toEqual([4, 4])
  expect(own.filter(({ parentSpanId }) => parentSpanId)).toEqual([])
  // Every model request is in the trace of its turn.
  const chats = all.filter(({ name }) => name.startsWith('chat '))
  expect(chats.map(({ traceId, parentSpanId }) => traceId + parentSpanId).toSorted()).toEqual(
    turns.map(({ traceId, spanId }) => traceId + spanId).toSorted(),
  )
})

test('models, providers, users and cost have the names of the conventions', async () => {
  const usage = { input: 10, output: 5, cacheRead: 4, cacheWrite: 0, reasoning: 2 }
  const model = (id: string): Model => ({
    id,
    abilities: [],
    costOf: () => 0.5,
    async *stream() {
      yield { type: 'text', text: 'Hi' }
      yield { type: 'finish', reason: 'stop', usage, metadata: { model: 'large-001', responseId: 'r1' } }
    },
  })
  const named = { google: 'gcp.gemini', xai: 'x_ai', mistral: 'mistral_ai', azure: 'azure.ai.openai', openrouter: 'openrouter' }
  const served = await traced({
    model: { resolve: model },
    agents: Object.keys(named).map((name) => ({
      name,
      description: 'Answers.',
      prompt: 'Answer.',
      model: `${name}/acme/large`,
      tools: [],
    })),
  })
  const token = await served.token({ name: 'ci' })
  const sessionId: { [agent: string]: string } = {}
  for (const agent of Object.keys(named))
    sessionId[agent] = ((await (await served.fetch(`/v1/${agent}?q=Hi`, { token })).json()) as { sessionId: string }).sessionId
  const spans = await served.spans()
  for (const [agent, provider] of Object.entries(named)) {
    const own = spans.filter((span) => attributesOf(span)['session.id'] === sessionId[agent])
    const common = { 'gen_ai.agent.name': agent, 'gen_ai.conversation.id': sessionId[agent], 'user.id': 'token:ci' }
    expect(own.map((span) => [span.name, attributesOf(span)])).toMatchObject([
      [
        'chat acme/large',
        {
          ...common,
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': provider,
          'gen_ai.request.model': 'acme/large',
          'gen_ai.response.model': 'large-001',
          'gen_ai.response.id': 'r1',
          'gen_ai.usage.input_tokens': 10,
          'gen_ai.usage.output_tokens': 5,
          'gen_ai.usage.cache_read.input_tokens': 4,
          'gen_ai.usage.reasoning.output_tokens': 2,
          'gen_ai.usage.cost': 0.5,
        },
      ],
      [`invoke_agent ${agent}`, { ...common, 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.usage.input_tokens': 10 }],
    ])
  }
})

test('after a restart a turn goes on under the name of its agent; a fork repeats no spans', async () => {
  const deleting: Tool = {
    name: 'delete_file',
    description: 'Deletes a file.',
    inputSchema: { type: 'object' },
    approval: () => ({ summary: 'Delete a.txt', keys: [{ key: 'path:a.txt', label: 'a.txt' }] }),
    execute: () => 'deleted',
  }
  const options = {
    tools: [deleting],
    agents: [{ name: 'clerk', description: 'Answers.', prompt: 'Answer.', model: 'scripted/model', tools: ['*'] }],
  }
  const before = await traced({ ...options, model: [{ calls: [{ tool: 'delete_file', input: {} }] }] })
  const asked = (await (await before.fetch('/v1/clerk?q=Delete')).json()) as { sessionId: string; approvals: { id: string }[] }
  await before.spans()
  const after = await traced({ ...options, model: [{ text: 'Done.' }], stored: before.stored })
  await after.runtime.open(asked.sessionId)
  await after.fetch(`/v1/sessions/${asked.sessionId}/approvals/${asked.approvals[0]?.id}`, { json: { kind: 'approve' } })
  await after.runtime.sessions.outcome(asked.sessionId)
  expect((await after.fetch(`/v1/sessions/${asked.sessionId}/fork`, { json: {} })).status).toBe(201)
  const spans = await after.spans()
  const byId = new Map(spans.map((span) => [span.spanId, span.name]))
  expect(spans.map(({ name, parentSpanId = '' }) => `${byId.get(parentSpanId) ?? '-'} > ${name}`).toSorted()).toEqual([
    '- > invoke_agent clerk',
    'invoke_agent clerk > chat model',
    'invoke_agent clerk > execute_tool delete_file',
  ])
  expect(spans.map((span) => attributesOf(span)['user.id'])).toEqual(['local', 'local', 'local'])
})

test('metrics count requests, turns, tokens and calls, without sessions and owners', async () => {
  const metrics = serverMetrics(() => undefined)
  const served = await serve({
    model: steps,
    agents,
    config: { agentSelection: { agent: 'parent' } },
    server: { log: (entry) => metrics.request(entry) },
  })
  served.runtime.hostedBy({ observer: metrics })
  const answer = (await (await served.fetch('/v1/parent?q=x')).json()) as { sessionId: string }
  const text = await metrics.text()
  await served.close()
  expect(text).toContain('troupe_http_requests_total{headend="rest",method="GET",route="/v1/:agent",status="200"} 1')
  expect(text).toContain('troupe_turns_total{agent="parent",status="completed"} 1')
  expect(text).toContain('troupe_turns_total{agent="child",status="completed"} 1')
  expect(text).toContain('troupe_steps_total{model="scripted/model",status="completed"} 3')
  // Not 0.8999999999999999.
  expect(text).toContain('troupe_cost_usd_total{model="scripted/model"} 0.9\n')
  expect(text).toContain('troupe_tool_calls_total{tool="agent__child",status="completed"} 1')
  const model = 'gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="model"'
  expect(text).toContain(`gen_ai_client_inference_duration_seconds_count{${model}} 3`)
  expect(text).toMatch(new RegExp(`gen_ai_client_inference_usage_input_tokens_total\\{${model}\\} \\d+`))
  expect(text).toContain('gen_ai_invoke_agent_duration_seconds_count{gen_ai_agent_name="child"} 1')
  expect(text).toContain('gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="agent__child"} 1')
  expect(text).not.toContain(answer.sessionId)
})

test('durations of turns are working time', async () => {
  const metrics = serverMetrics(() => undefined)
  const totals = { usage: noUsage, cost: 0, steps: 1, calls: 1, durationMs: 50_200, waitedMs: 49_000 }
  const { events } = new Story()
    .begins()
    .is(50_200, { type: 'interaction.turn.completed', ending: { status: 'completed' }, report: { format: 'text', text: '' }, totals })
  for (const event of events) if ('seq' in event) metrics.stored(event)
  const text = await metrics.text()
  expect(text).toContain('troupe_turn_duration_seconds_sum{agent="root"} 1.2\n')
  expect(text).toContain('gen_ai_invoke_agent_duration_seconds_sum{gen_ai_agent_name="root"} 1.2\n')
})
