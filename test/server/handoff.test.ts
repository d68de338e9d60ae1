import { randomUUID } from 'node:crypto'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, it, onTestFinished } from 'vitest'
import type { ModelAdapter, ModelPart, ModelRequest } from '../../src/contracts/index.ts'
import { handoffTool, returnControlTool } from '../../src/kernel/handoff/handoff-tool.ts'
import { conversationSessions } from '../../src/kernel/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { resultsOf, textOf } from '../subagents/team.ts'
import { connect } from './mcp-clients.ts'
import { mcpScene } from './mcp-scene.ts'
import { localToken, type ServedOptions, serve } from './support.ts'

// A session in which a child talks to the person, over each protocol: its answers are the answers.

const adapter: ModelAdapter = {
  resolve: (name) => ({
    id: name,
    abilities: ['tools'],
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      const said = name === 'coach' ? coachParts(request) : bossParts(request)
      yield* said
      const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
      yield { type: 'finish', reason: said.some(({ type }) => type === 'call') ? 'tool-calls' : 'stop', usage, costUsd: 0 }
    },
  }),
}

const call = (name: string, input: object): ModelPart => ({
  type: 'call',
  id: 'c1',
  name,
  input: JSON.stringify({ reason: 'x', ...input }),
})

const coachParts = (request: ModelRequest): readonly ModelPart[] =>
  textOf(request) === 'done' ? [call('return_control', { report: 'all set' })] : [{ type: 'text', text: `coach: ${textOf(request)}` }]

const bossParts = (request: ModelRequest): readonly ModelPart[] =>
  resultsOf(request).length === 0
    ? [{ type: 'text', text: 'Here is the coach.' }, call('agent__coach', { task: 'Hello' })]
    : [{ type: 'text', text: `boss: ${resultsOf(request).at(-1)}${JSON.stringify(request).includes('/back') ? ' (I read /back)' : ''}` }]

const wentBack = 'boss: The conversation of coach with the person ended before the task was done: the person asked for you.'

const limits = { maxTurns: 10, maxTokensPerInvocation: 50_000, timeBudgetMs: 120_000, idleMs: 1_800_000 }
const options = {
  agents: [
    { name: 'boss', description: 'Leads.', prompt: 'Lead.', model: 'boss', tools: [], agents: ['coach'] },
    { name: 'coach', description: 'Coaches.', prompt: 'Coach.', model: 'coach', tools: ['return_control'] },
  ],
  tools: [handoffTool({ agent: 'coach', description: 'Coaches.', limits }), returnControlTool],
  sessions: conversationSessions,
  model: adapter,
} satisfies ServedOptions

async function served(more: ServedOptions = {}) {
  const scene = await serve({ ...options, ...more })
  onTestFinished(() => scene.close())
  return scene
}

it('REST: the answer of the child, the next message, and the answer of the caller', async () => {
  const { fetch, runtime } = await served()
  const first = await fetch('/v1/boss', { json: { input: 'Hi' } })
  expect(first.status).toBe(200)
  const document = (await first.json()) as { readonly sessionId: string }
  expect(document).toMatchObject({ status: 'suspended', reason: 'input', text: 'coach: Hello', speaker: 'coach' })
  const { sessionId } = document
  expect((await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'more' } })).status).toBe(202)
  expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ report: { text: 'coach: more' } })
  await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'done' } })
  expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ status: 'completed', report: { text: 'boss: all set' } })
})

it('REST: /back ends the handoff, and no model reads it; without one it is a message', async () => {
  const { fetch, runtime } = await served()
  const { sessionId } = (await (await fetch('/v1/boss', { json: { input: 'Hi' } })).json()) as { readonly sessionId: string }
  await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: '/back' } })
  expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ report: { text: `${wentBack}\nIts last answer:\ncoach: Hello` } })
  await fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: '/back' } })
  expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ report: { text: expect.stringContaining('(I read /back)') } })
})

it.each([false, true])('chat completions (stream: %s): texts of the child belong to the answer', async (stream) => {
  const store = memoryStore()
  const { url } = await served({
    store,
    routes: () => openaiRoutes({ clock: systemClock, ids: { next: randomUUID }, records: store.records }),
  })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: localToken, maxRetries: 0 })
  const messages = [{ role: 'user', content: 'Hi' }] as const
  if (!stream) {
    const { choices } = await client.chat.completions.create({ model: 'boss', messages: [...messages] })
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'Here is the coach.\n\ncoach: Hello', speaker: 'coach' },
    })
    return
  }
  const said = new Map<unknown, string>()
  for await (const { choices } of await client.chat.completions.create({ model: 'boss', messages: [...messages], stream })) {
    const { content, speaker } = (choices[0]?.delta ?? {}) as { readonly content?: string; readonly speaker?: string }
    if (content) said.set(speaker, `${said.get(speaker) ?? ''}${content}`)
  }
  expect([...said]).toEqual([
    [undefined, 'Here is the coach.'],
    ['coach', '\n\ncoach: Hello'],
  ])
  expect(await client.chat.completions.stream({ model: 'boss', messages: [...messages] }).finalContent()).toBe(
    'Here is the coach.\n\ncoach: Hello',
  )
})

it.each([false, true])('responses (stream: %s): previous_response_id continues with the child', async (stream) => {
  const store = memoryStore()
  const { url } = await served({
    store,
    routes: () => openaiRoutes({ clock: systemClock, ids: { next: randomUUID }, records: store.records }),
  })
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: localToken, maxRetries: 0 })
  const create = async (input: string, previous?: string): Promise<OpenAI.Responses.Response> => {
    const body = { model: 'boss', input, ...(previous !== undefined && { previous_response_id: previous }) }
    if (!stream) return client.responses.create(body)
    for await (const event of await client.responses.create({ ...body, stream: true }))
      if (event.type === 'response.completed') return { ...event.response, output_text: '' }
    throw new Error('no end')
  }
  const texts = ({ output }: OpenAI.Responses.Response) =>
    output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : []))
  const speakers = ({ output }: OpenAI.Responses.Response) => output.map((item) => (item as { readonly speaker?: string }).speaker)
  const first = await create('Hi')
  expect([first.status, texts(first), speakers(first)]).toEqual(['completed', ['Here is the coach.', 'coach: Hello'], [undefined, 'coach']])
  expect(first.usage?.input_tokens).toBeGreaterThan(0)
  expect(new Set(first.output.map(({ id }) => id)).size).toBe(2)
  const second = await create('more', first.id)
  expect([second.status, texts(second)]).toEqual(['completed', ['coach: more']])
  const last = await create('done', second.id)
  expect([last.status, texts(last)]).toEqual(['completed', ['boss: all set']])
  // Each is the same when it is read later.
  for (const each of [first, second, last]) {
    const later = await client.responses.retrieve(each.id)
    expect([texts(later), speakers(later)]).toEqual([texts(each), speakers(each)])
  }
  const other = await create('Hi')
  const back = await create('/back', other.id)
  expect([back.status, texts(back), speakers(back)]).toEqual(['completed', [`${wentBack}\nIts last answer:\ncoach: Hello`], [undefined]])
  expect(texts(await client.responses.retrieve(back.id))).toEqual(texts(back))
  // A second answer to the first response begins a copy, in which the handoff is over.
  expect((await create('again', first.id)).status).toBe('completed')
})

it.each([false, true])('messages of Anthropic (stream: %s)', async (stream) => {
  const { url } = await served({ routes: () => anthropicRoutes({ clock: systemClock }) })
  const client = new Anthropic({ apiKey: localToken, baseURL: url, maxRetries: 0 })
  const body = { model: 'boss', max_tokens: 1000, messages: [{ role: 'user' as const, content: 'Hi' }] }
  const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
  expect(message.stop_reason).toBe('end_turn')
  expect(message.content).toMatchObject([
    { type: 'text', text: 'Here is the coach.' },
    { type: 'text', text: 'coach: Hello', speaker: 'coach' },
  ])
  expect(message.content[0]).not.toHaveProperty('speaker')
  // A client sends it back as it is.
  const messages = [...body.messages, { role: 'assistant' as const, content: message.content }, { role: 'user' as const, content: 'More' }]
  expect((await client.messages.create({ ...body, messages })).stop_reason).toBe('end_turn')
})

it('MCP: the answer of the child is the result', async () => {
  const { url } = await mcpScene(options)
  const client = await connect({ kind: 'sdk 1.32', transport: 'http', url })
  expect(await client.callTool('boss', { prompt: 'Hi' })).toMatchObject({ content: [{ type: 'text', text: 'coach: Hello' }] })
})
