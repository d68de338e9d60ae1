import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Model } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { tool } from '../acceptance/support.ts'
import { localToken, type ServedOptions, serve } from './support.ts'

// The official client against a real server.

const agent = { name: 'clerk', description: 'Answers.', prompt: 'You are a clerk.', model: 'scripted/model', tools: [] } as const
const usage = { input: 100, output: 20, cacheRead: 60, cacheWrite: 10, reasoning: 5 }

async function stage(steps: readonly ScriptedStepSource[] | Model, options: Omit<ServedOptions, 'model'> = {}) {
  const model = new ScriptedModel('stream' in steps ? [] : steps, { abilities: ['tools', 'images', 'files', 'reasoning'] })
  const served = await serve({
    agents: [agent],
    routes: () => anthropicRoutes({ clock: systemClock }),
    ...options,
    model: 'stream' in steps ? steps : model,
  })
  onTestFinished(() => served.close())
  const client = new Anthropic({ apiKey: localToken, baseURL: served.url, maxRetries: 0 })
  return { ...served, model, client }
}

const ask = { model: 'clerk', max_tokens: 1000, messages: [{ role: 'user', content: 'Hi' }] } satisfies Anthropic.MessageCreateParams
const texts = ({ content }: Anthropic.Message) => content.map((block) => (block.type === 'text' ? block.text : block.type))

it('answers with a whole message', async () => {
  const { client, log, store } = await stage([{ text: 'Hello.', usage }])
  const { data: message, response, request_id } = await client.messages.create(ask).withResponse()
  const [session] = await store.trees.list({})
  // The AI SDK 5 and 6 refuse `citations: null`.
  const content = [{ type: 'text', text: 'Hello.' }] as unknown as Anthropic.ContentBlock[]
  expect(message).toEqual({
    id: `msg_${session?.treeId}`,
    type: 'message',
    role: 'assistant',
    model: 'clerk',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 30,
      output_tokens: 20,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 60,
      output_tokens_details: { thinking_tokens: 5 },
      cache_creation: null,
      server_tool_use: null,
      inference_geo: null,
      service_tier: null,
      speed: null,
    },
  } satisfies Anthropic.Message)
  expect(request_id).toBe(response.headers.get('x-request-id'))
  expect(log).toMatchObject([{ route: '/v1/messages', headend: 'anthropic', status: 200, sessionId: session?.treeId }])
})

it('streams the events of a message in their order', async () => {
  const { client } = await stage([{ text: 'Hello there.', chunks: ['Hello ', 'there.'], usage }])
  const types: string[] = []
  for await (const event of await client.messages.create({ ...ask, stream: true }))
    types.push(event.type === 'content_block_delta' ? `${event.delta.type} ${event.index}` : event.type)
  expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
    'message_start',
    'content_block_start',
    'text_delta 0',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
})

it('sends text as the model writes it', async () => {
  const seen = gate()
  const model: Model = {
    id: 'test/slow',
    abilities: [],
    async *stream() {
      yield { type: 'text', text: 'Hello ' }
      await seen.promise
      yield { type: 'text', text: 'there.' }
      yield { type: 'finish', reason: 'stop' }
    },
  }
  const { client } = await stage(model)
  const stream = client.messages.stream(ask)
  const pieces: string[] = []
  stream.on('text', (piece) => {
    pieces.push(piece)
    seen.open()
  })
  expect(texts(await stream.finalMessage())).toEqual(['Hello there.'])
  expect(pieces).toEqual(['Hello ', 'there.'])
})

const lookUp = tool('look_up', { execute: () => 'found' })
const team: Omit<ServedOptions, 'model'> = {
  tools: [lookUp],
  agents: [
    { ...agent, tools: ['look_up'], agents: ['helper'] },
    { ...agent, name: 'helper' },
  ],
}
const teamSteps = (): readonly ScriptedStepSource[] => [
  { reasoning: 'I look.', text: 'I look it up.', chunks: 3, calls: [{ tool: 'look_up' }], usage },
  { text: 'I ask the helper.', calls: [{ tool: 'agent__helper', input: { prompt: 'Help' } }], usage },
  { reasoning: 'child thoughts', text: 'Help of the child.', usage },
  { reasoning: 'Now I know.', text: 'It is 42.', chunks: 4, usage },
]

it('has a block for each text of the agent, and nothing of its tools and children; streamed and not', async () => {
  const params = { ...ask, thinking: { type: 'adaptive' } } satisfies Anthropic.MessageCreateParams
  const first = await stage(teamSteps(), team)
  const whole = await first.client.messages.create(params)
  first.model.assertDone()
  expect(whole.content).toEqual([
    { type: 'thinking', thinking: 'I look.', signature: 'unsigned' },
    { type: 'text', text: 'I look it up.' },
    { type: 'text', text: 'I ask the helper.' },
    { type: 'thinking', thinking: 'Now I know.', signature: 'unsigned' },
    { type: 'text', text: 'It is 42.' },
  ])
  expect(whole.usage).toMatchObject({ input_tokens: 120, output_tokens: 80 })

  const second = await stage(teamSteps(), team)
  const stream = second.client.messages.stream(params)
  const streamed: string[] = []
  stream.on('text', (piece) => streamed.push(piece))
  const final = await stream.finalMessage()
  expect({ ...final, id: '', parsed_output: undefined }).toEqual({ ...whole, id: '', parsed_output: undefined })
  expect(streamed.join('')).toBe(
    texts(whole)
      .filter((text) => text !== 'thinking')
      .join(''),
  )
})

it('shows thinking only to clients that ask for it', async () => {
  const { client } = await stage(Array.from({ length: 4 }, () => ({ reasoning: 'Hm.', text: 'Yes.', usage })))
  const shown = async (thinking: Anthropic.ThinkingConfigParam | undefined) =>
    texts(await client.messages.create({ ...ask, max_tokens: 4000, ...(thinking && { thinking }) }))
  expect(await shown(undefined)).toEqual(['Yes.'])
  expect(await shown({ type: 'disabled' })).toEqual(['Yes.'])
  expect(await shown({ type: 'enabled', budget_tokens: 2048, display: 'omitted' })).toEqual(['Yes.'])
  expect(await shown({ type: 'enabled', budget_tokens: 2048 })).toEqual(['thinking', 'Yes.'])
})

it('shows work of tools as pings', async () => {
  const { fetch } = await stage([{ calls: [{ tool: 'look_up' }] }, { text: 'Done.' }], {
    ...team,
    agents: [{ ...agent, tools: ['look_up'] }],
  })
  const response = await fetch('/v1/messages', { json: { ...ask, stream: true } })
  const types = [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
  expect(types.slice(0, 4)).toEqual(['message_start', 'ping', 'ping', 'content_block_start'])
})

it('seeds the history, and adds the system prompt to that of the agent', async () => {
  const { client, model } = await stage([{ text: 'Sunny.' }])
  await client.messages.create({
    ...ask,
    system: [
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Be kind.' },
    ],
    messages: [
      { role: 'user', content: 'Where am I?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'abc' },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_1', name: 'locate', input: { exact: true } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', is_error: true, content: [{ type: 'text', text: 'no signal' }] },
          { type: 'text', text: 'Bern, I think.' },
        ],
      },
      { role: 'assistant', content: 'Then in Bern.' },
      { role: 'user', content: 'And' },
      { role: 'user', content: [{ type: 'text', text: 'the weather?' }] },
    ],
  })
  const [request] = model.requests
  expect(request?.system).toMatch(/You are a clerk\..*Be brief\.\n\nBe kind\./s)
  expect(request?.messages).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Where am I?' }] },
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'I look.' },
        { type: 'call', id: 'call_1', name: 'locate', input: '{"exact":true}' },
      ],
    },
    { role: 'tool', results: [{ id: 'call_1', name: 'locate', ok: false, content: 'no signal' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Bern, I think.' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'Then in Bern.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'And' },
        { type: 'text', text: 'the weather?' },
      ],
    },
  ])
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

it('passes images and documents on', async () => {
  const { client, model } = await stage([{ text: 'I see.' }])
  const pdf = Buffer.from('%PDF-1.4 …').toString('base64')
  await client.messages.create({
    ...ask,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'document', title: 'report', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'grüezi' }, context: 'A greeting.' },
          { type: 'search_result', title: 'Bern', source: 'https://example.com', content: [{ type: 'text', text: 'A city.' }] },
          { type: 'text', text: 'What is this?' },
        ],
      },
    ],
  })
  expect(model.requests[0]?.messages.map((message) => (message.role === 'user' ? message.parts : []))).toMatchObject([
    [
      { type: 'image', mediaType: 'image/png', data: png },
      { type: 'image', data: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', data: pdf, name: 'report' },
      { type: 'text', text: 'A greeting.' },
      { type: 'file', mediaType: 'text/plain', data: Buffer.from('grüezi').toString('base64') },
      { type: 'text', text: 'Bern (https://example.com)\n\nA city.' },
      { type: 'text', text: 'What is this?' },
    ],
  ])
})

it('cuts the last text at max_tokens, and no other', async () => {
  const long = 'word '.repeat(40).trim()
  const steps = () => [
    { text: `First ${long}`, chunks: 9, calls: [{ tool: 'look_up' }] },
    { text: `Then ${long}`, chunks: 9 },
  ]
  const options = { ...team, agents: [{ ...agent, tools: ['look_up'] }] }
  const whole = await (await stage(steps(), options)).client.messages.create({ ...ask, max_tokens: 10 })
  expect(texts(whole)).toEqual([`First ${long}`, `Then ${long}`.slice(0, 40)])
  expect(whole.stop_reason).toBe('max_tokens')
  const streamed = await (await stage(steps(), options)).client.messages.stream({ ...ask, max_tokens: 10 }).finalMessage()
  expect([texts(streamed), streamed.stop_reason]).toEqual([texts(whole), 'max_tokens'])
})

it('does not cut a text of which the provider counts fewer tokens, nor one within the limit', async () => {
  const text = 'x'.repeat(200)
  const { client } = await stage([
    { text, usage: { input: 9, output: 15, reasoning: 5 } },
    { text: text.slice(0, 40) },
    { text: '語'.repeat(12) },
  ])
  for (const expected of [text, text.slice(0, 40)]) {
    const message = await client.messages.create({ ...ask, max_tokens: 10 })
    expect([texts(message), message.stop_reason]).toEqual([[expected], 'end_turn'])
  }
  const message = await client.messages.create({ ...ask, max_tokens: 10 })
  expect([texts(message), message.stop_reason]).toEqual([['語'.repeat(10)], 'max_tokens'])
})

it('says max_tokens if the model was cut', async () => {
  const { client } = await stage([{ text: 'Half of', finish: 'length' }])
  const message = await client.messages.create(ask)
  expect([texts(message), message.stop_reason]).toEqual([['Half of'], 'max_tokens'])
})

it('answers in the format of the client', async () => {
  const format = zodOutputFormat(z.object({ answer: z.number() }))
  const steps = () => [{ text: 'forty-two' }, { text: '{"answer":42}', chunks: 3 }]
  const params = { ...ask, output_config: { format } } satisfies Anthropic.MessageCreateParams
  const parsed = await (await stage(steps())).client.messages.parse(params)
  expect([parsed.parsed_output, texts(parsed)]).toEqual([{ answer: 42 }, ['{"answer":42}']])
  const streamed = await (await stage(steps())).client.messages.stream(params).finalMessage()
  expect([streamed.parsed_output, texts(streamed)]).toEqual([{ answer: 42 }, ['{"answer":42}']])
})

it('takes requests of the beta interface', async () => {
  const { client } = await stage([{ text: '{"n":1}' }])
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false }
  const message = await client.beta.messages.create({
    ...ask,
    betas: ['x-2025'],
    output_config: { format: { type: 'json_schema', schema } },
  })
  expect(message.content).toMatchObject([{ type: 'text', text: '{"n":1}' }])
})

it('ignores and names what newer clients send', async () => {
  const { client } = await stage([{ text: 'Hi.' }])
  const newer = {
    context_management: { edits: [{ type: 'clear_thinking_20251015' as const }] },
    output_config: { effort: 'low' as const, task_budget: { type: 'tokens' as const, total: 20_000 } },
    cache_control: { type: 'ephemeral' as const },
    metadata: { user_id: 'ann', team: 'x' },
    system: [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }],
    thinking: { type: 'adaptive' as const },
    service_tier: 'flex',
    unheard_of: [1],
  }
  const { response } = await client.beta.messages
    .create({ ...ask, ...newer, betas: ['context-management-2025-06-27'] } as never)
    .withResponse()
  const named = 'output_config.effort, context_management, cache_control, service_tier, unheard_of, output_config.task_budget'
  expect(response.headers.get('x-troupe-ignored-parameters')?.split(', ').toSorted()).toEqual(named.split(', ').toSorted())
})

it('passes parameters on that the agent allows', async () => {
  const overrides = ['temperature', 'topP', 'reasoning', 'maxOutputTokens'] as const
  const { fetch, model } = await stage([{ text: 'Hi.' }], { agents: [{ ...agent, overrides }] })
  const thinking = { type: 'enabled', budget_tokens: 8192 }
  const response = await fetch('/v1/messages', { json: { ...ask, max_tokens: 9000, temperature: 0.5, top_p: 0.9, thinking } })
  expect([response.status, response.headers.get('x-troupe-ignored-parameters')]).toEqual([200, null])
  expect(model.requests[0]?.parameters).toMatchObject({ temperature: 0.5, topP: 0.9, reasoning: 'medium', maxOutputTokens: 9000 })
})

it('names parameters without effect', async () => {
  const { fetch, model, store } = await stage([{ text: 'Hi.' }, { text: 'Hi.' }])
  const more = { temperature: 0.5, top_p: 0.9, top_k: 5, thinking: { type: 'disabled' }, metadata: { user_id: `ann ${'x'.repeat(200)}` } }
  for (const stream of [false, true]) {
    const response = await fetch('/v1/messages', { json: { ...ask, ...more, stream } })
    await response.text()
    expect(response.headers.get('x-troupe-ignored-parameters')).toBe('temperature, top_p, thinking, top_k')
  }
  expect(model.requests.map(({ parameters }) => [parameters.temperature, parameters.topP, parameters.reasoning])).toEqual([
    [undefined, undefined, undefined],
    [undefined, undefined, undefined],
  ])
  expect((await store.trees.list({ labels: [`user:ann ${'x'.repeat(55)}`] })).length).toBe(2)
})

it('estimates tokens by the length of texts', async () => {
  const { client, model } = await stage([])
  const count = async (content: Anthropic.MessageParam['content'], more = {}) =>
    (await client.messages.countTokens({ model: 'clerk', messages: [{ role: 'user', content }], ...more })).input_tokens
  expect(await count('x'.repeat(400))).toBe(104)
  expect(await count('語'.repeat(100))).toBe(104)
  expect(await count('x'.repeat(400), { system: 'y'.repeat(40) })).toBe(114)
  expect(await count([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }])).toBe(1004)
  const tools = [{ name: 'f', description: 'z'.repeat(400), input_schema: { type: 'object' } }]
  const rest = { tool_choice: { type: 'any' }, max_tokens: 9, stop_sequences: ['x'], context_management: { edits: [] } }
  expect(await count('x'.repeat(400), { tools, ...rest })).toBe(104 + Math.ceil(JSON.stringify(tools[0]).length / 4))
  expect(model.requests).toEqual([])
})

it("lists agents as models in Anthropic's form for its clients, and in OpenAI's for others", async () => {
  const names = ['ann', 'ben', 'cid'].map((name) => ({ ...agent, name, displayName: name.toUpperCase() }))
  const routes = () => [
    ...openaiRoutes({ clock: systemClock, ids: { next: () => 'id' }, records: memoryStore().records }),
    ...anthropicRoutes({ clock: systemClock }),
  ]
  const { client, fetch } = await stage([], { agents: names, routes })
  const all: Anthropic.ModelInfo[] = []
  for await (const model of client.models.list({ limit: 2 })) all.push(model)
  expect(all).toEqual(
    names.map(({ name, displayName }) => ({ type: 'model', id: name, display_name: displayName, created_at: '1970-01-01T00:00:00Z' })),
  )
  expect((await client.models.list({ before_id: 'cid', limit: 1 })).data).toMatchObject([{ id: 'ben' }])
  expect(await client.models.retrieve('ben')).toMatchObject({ type: 'model', id: 'ben' })
  expect(await client.models.retrieve('zoe').catch((thrown: unknown) => thrown)).toMatchObject({
    status: 404,
    error: { type: 'error', error: { type: 'not_found_error' } },
  })
  const wrong = new Anthropic({ apiKey: 'wrong', baseURL: client.baseURL, maxRetries: 0 })
  expect(await wrong.models.list().catch((thrown: unknown) => thrown)).toMatchObject({ status: 401, type: 'authentication_error' })
  const others = await fetch('/v1/models', { token: '', headers: { 'x-api-key': localToken } })
  expect(await others.json()).toMatchObject({ object: 'list', data: [{ object: 'model', id: 'ann' }, {}, {}] })
})
