import { expect, onTestFinished } from 'vitest'
import type { JsonObject, Model, Outcome, StreamEvent, Tool } from '../../src/contracts/index.ts'
import { providerModel } from '../../src/models/providers/index.ts'
import { type AgentRuntime, createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, type GatedReply, type GatedServer, gatedServer, type PlainChunk } from '../../src/testing/index.ts'
import type { WireFormat } from './formats.ts'
import type { WireReply } from './wire-reply.ts'

/** Shaped like none of the masks that a redactor may know: only who knows it can take it out. */
export const key = 'kEy0fThisTest+7c1d9b5a'

export const usage = { input: 120, output: 60, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
export const forecast = { city: 'Zürich', days: 3, detail: true }
/** Text and a call with several arguments. */
export const asking: WireReply = {
  text: 'Let me look — one moment.',
  calls: [{ id: 'call_1', name: 'weather', input: forecast }],
  finish: 'tool-calls',
  usage,
}
export const answering: WireReply = { text: 'Sunny for three days.', finish: 'stop', usage }

export function weather(ran: JsonObject[]): Tool {
  return {
    name: 'weather',
    description: 'The forecast for a city.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, detail: { type: 'boolean' } },
      required: ['city'],
    },
    execute: (input) => {
      ran.push(input)
      return 'Sunny.'
    },
  }
}

/** A server that is closed when the test ends. */
export async function server(): Promise<GatedServer> {
  const started = await gatedServer()
  onTestFinished(() => started.close())
  return started
}

export interface Setting {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly clock?: FakeClock
  readonly limits?: RuntimeOptions['config']['limits']
}

export function modelOf(format: WireFormat, { url, clock = new FakeClock(), ...more }: Setting): Promise<Model> {
  const { kind, provider, model, api, base, keyVariable } = format
  const apiKey = 'apiKey' in more ? more.apiKey : key
  return providerModel({
    kind,
    provider,
    model,
    keyVariable,
    settings: { baseURL: `${url}${base}`, ...(apiKey !== undefined && { apiKey }), ...(api !== undefined && { api }) },
    clock,
  })
}

export interface Stage {
  readonly runtime: AgentRuntime
  readonly clock: FakeClock
  /** What the tool was called with. */
  readonly ran: readonly JsonObject[]
  /** Everything that was made durable, as text. */
  journal(outcome: Outcome): Promise<string>
}

/** The real loop around a real client of the format. One attempt a step, time stands still. */
export async function stage(format: WireFormat, setting: Setting): Promise<Stage> {
  const clock = setting.clock ?? new FakeClock()
  const model = await modelOf(format, { ...setting, clock })
  const ran: JsonObject[] = []
  const store = memoryStore()
  const agents = [{ name: 'clerk', description: 'Tells the weather', prompt: 'You are a clerk.', model: model.id }]
  const runtime = createAgentRuntime({
    config: { agents, tools: [weather(ran)], limits: { maxRetries: 0, ...setting.limits } },
    adapter: { secrets: { [format.keyVariable]: key }, resolve: () => model },
    clock,
    store,
  })
  onTestFinished(() => runtime.close())
  const journal = async ({ sessionId: treeId }: Outcome): Promise<string> => JSON.stringify(await store.journal.read(treeId, 0))
  return { runtime, clock, ran, journal }
}

export interface Turn {
  readonly outcome: Outcome
  readonly ran: readonly JsonObject[]
  /** All that a person or a log could get to see: outcome, journal, events. */
  readonly told: string
}

export async function turn(format: WireFormat, setting: Setting): Promise<Turn> {
  const { runtime, ran, journal } = await stage(format, setting)
  const handle = runtime.stream('Weather in Zürich?')
  const events: StreamEvent[] = []
  for await (const event of handle) events.push(event)
  const outcome = await handle.outcome
  await runtime.close()
  return { outcome, ran, told: JSON.stringify([outcome, events]) + (await journal(outcome)) }
}

/** One turn against these replies. */
export async function turnOver(format: WireFormat, replies: readonly GatedReply[], more: Partial<Setting> = {}): Promise<Turn> {
  const { url, reply } = await server()
  for (const each of replies) reply(each)
  return turn(format, { url, ...more })
}

/** A reply that broke off may look like a broken connection or like a broken reply. */
export const brokenOff = /^(?:network|invalid_response)$/

/** A failure of this class that says what happened and keeps the key to itself; no tool has run. */
export function expectFailure({ outcome, ran, told }: Turn, kind: string | RegExp, reason = 'model'): void {
  expect(outcome).toMatchObject({
    status: 'failed',
    reason,
    message: expect.stringMatching(/\S/),
    failure: {
      class: typeof kind === 'string' ? kind : expect.stringMatching(kind),
      message: expect.stringMatching(/\S/),
    },
  })
  expect(ran, 'no tool was run').toEqual([])
  expect(told, 'the key is nowhere').not.toContain(key)
}

/** A chunk as it goes over the wire. */
export function textOf(chunk: PlainChunk): string {
  if (typeof chunk === 'string') return chunk
  if (chunk instanceof Uint8Array) return new TextDecoder().decode(chunk)
  const event = chunk.event === undefined ? '' : `event: ${chunk.event}\n`
  return `${event}data: ${typeof chunk.data === 'string' ? chunk.data : JSON.stringify(chunk.data)}\n\n`
}

/** The tool has run once with all its arguments, and the answer has come. */
export function expectWhole({ outcome, ran }: Turn): void {
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Sunny for three days.' } })
  expect(ran).toEqual([forecast])
}
