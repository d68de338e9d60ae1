import { randomUUID } from 'node:crypto'
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { onTestFinished } from 'vitest'
import type { Model, ModelFailure, ModelPart, StreamEvent, Tool } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { localToken, type Served, type ServedOptions, serve } from './support.ts'

export interface OpenAiServed extends Served {
  readonly client: OpenAI
  /** A client with another token. */
  clientOf(apiKey: string): OpenAI
  readonly ai: OpenAICompatibleProvider<string, string, string, string>
  /** All durable events of the only session, or of the one that is given. */
  events(sessionId?: string): Promise<readonly StreamEvent[]>
}

/** A server with the routes of OpenAI, and the clients that people use. It is closed after the test. */
export async function serveOpenAi(options: ServedOptions = {}): Promise<OpenAiServed> {
  const { store = memoryStore(), clock = systemClock } = options
  const ids = { next: () => randomUUID() }
  const served = await serve({ ...options, store, clock, routes: () => openaiRoutes({ clock, ids, records: store.records }) })
  onTestFinished(() => served.close())
  const baseURL = `${served.url}/v1`
  const clientOf = (apiKey: string): OpenAI => new OpenAI({ baseURL, apiKey })
  return {
    ...served,
    clientOf,
    client: clientOf(localToken),
    ai: createOpenAICompatible({ name: 'troupe', baseURL, apiKey: localToken, supportsStructuredOutputs: true, includeUsage: true }),
    async events(sessionId) {
      const [only] = sessionId === undefined ? await served.runtime.sessions.list() : [{ sessionId }]
      return [...(await store.journal.read((only?.sessionId ?? '') as never, 0))]
    },
  }
}

/** Options of a request for the calls of the agent as items. */
export const withCalls = { headers: { 'x-troupe-include': 'calls' } }

/** An agent that uses the scripted model of the test. */
export const clerk = { name: 'clerk', description: 'Answers.', prompt: 'You are a clerk.', model: 'scripted/model', tools: [] as string[] }

export const weather: Tool = {
  name: 'weather',
  description: 'The weather of a city.',
  effect: 'read',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  async execute(input) {
    const { city } = input as { readonly city: string }
    if (city === 'Nowhere') return { ok: false, error: { class: 'failed', message: 'There is no such city.' } }
    return { ok: true, content: `Rain in ${city}.` }
  },
}

/** Writes the pieces, waiting for the gate before the last one; then it fails, or finishes. */
export function gatedModel(pieces: readonly ModelPart[], hold: { readonly promise: Promise<unknown> }, failure?: ModelFailure): Model {
  return {
    id: 'scripted/model',
    abilities: ['reasoning'],
    async *stream() {
      yield* pieces.slice(0, -1)
      await hold.promise
      yield* pieces.slice(-1)
      yield failure ? { type: 'error', failure } : { type: 'finish', reason: 'stop' }
    },
  }
}

/** Needs the approval of a person. */
export const pay: Tool = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  approval: () => ({ summary: 'Pay 5 euros', keys: [{ key: 'tool:pay', label: 'pay' }] }),
  execute: async () => ({ ok: true, content: 'Paid.' }),
}

/** A server whose agent `clerk` has a scripted model. */
export async function withModel(
  steps: readonly ScriptedStepSource[],
  agent: object = {},
  options: ServedOptions = {},
): Promise<OpenAiServed & { readonly model: ScriptedModel }> {
  const model = new ScriptedModel(steps, { abilities: ['tools', 'images', 'files', 'json_schema', 'reasoning'] })
  const served = await serveOpenAi({ model, agents: [{ ...clerk, ...agent }], tools: [weather, pay], ...options })
  return { ...served, model }
}

/** For `gatedModel`. */
export const half = [
  { type: 'text', text: 'One, ' },
  { type: 'text', text: 'two.' },
] as const

const usage = { input: 100, output: 20, cacheRead: 40, reasoning: 5 }

/** A turn with reasoning, texts in two steps and a call of `weather`. */
export const team: readonly ScriptedStepSource[] = [
  { reasoning: 'They ask for rain.', text: 'I look it up.', chunks: 4, calls: [{ tool: 'weather', input: { city: 'Oslo' } }], usage },
  { reasoning: 'Easy.', text: 'It rains in Oslo.', chunks: 5, usage },
]

export const texts = (...all: string[]): ScriptedStepSource[] => all.map((text) => ({ text }))
export const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((thrown: unknown) => thrown)

/** What the model read as messages, shortly. */
export const said = (model: ScriptedModel, request = -1): readonly string[] =>
  (model.requests.at(request)?.messages ?? []).map((message) =>
    message.role === 'tool'
      ? `tool: ${message.results.map(({ content }) => content).join()}`
      : `${message.role}: ${message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join()}`,
  )

export async function streamed<Event = ResponseStreamEvent>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of stream) events.push(event)
  return events
}
