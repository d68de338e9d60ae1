import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { observedStore, openExporter, SessionSpans, serverMetrics } from '../../src/headends/telemetry/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { serve } from './support.ts'

interface OtlpSpan {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string; readonly intValue?: number } }[]
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
    store: observedStore(memoryStore(), (events) => spans.observe(events)),
  })
  expect(await runtime.run('Go')).toMatchObject({ status: 'completed' })
  await runtime.close()
  await exporter.close()
  await receiver.close()
  const byId = new Map(receiver.spans.map((span) => [span.spanId, span.name]))
  const tree = receiver.spans.map(({ name, parentSpanId }) => `${byId.get(parentSpanId ?? '') ?? '-'} > ${name}`)
  expect(tree.toSorted()).toEqual([
    '- > invoke_agent parent',
    'execute_tool agent__child > invoke_agent child',
    'invoke_agent child > chat scripted/model',
    'invoke_agent parent > chat scripted/model',
    'invoke_agent parent > chat scripted/model',
    'invoke_agent parent > execute_tool agent__child',
  ])
  const child = receiver.spans.find(({ name }) => name === 'invoke_agent child')
  expect(child?.attributes).toContainEqual({ key: 'gen_ai.usage.input_tokens', value: { intValue: 7 } })
  expect(JSON.stringify(receiver.spans)).not.toContain('secret task')
})

test('metrics count requests, turns, tokens and calls, without sessions and owners', async () => {
  const metrics = serverMetrics(() => undefined)
  const store = observedStore(memoryStore(), (events) => metrics.observe(events))
  const served = await serve({
    store,
    model: steps,
    agents,
    config: { agentSelection: { agent: 'parent' } },
    server: { log: (entry) => metrics.request(entry) },
  })
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
  expect(text).not.toContain(answer.sessionId)
})
