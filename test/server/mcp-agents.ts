// Agents, tools and models for MCP clients.
import { randomUUID } from 'node:crypto'
import type { Clock, Model, ModelPart, ModelRequest, Tool } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import type { McpDependencies } from '../../src/server/mcp/index.ts'
import { schemaValidator } from '../../src/tools/schema/schema-validator.ts'
import { echoModel, type ServedOptions } from './support.ts'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const

export const agents: NonNullable<ServedOptions['agents']> = [
  { name: 'echo', displayName: 'Echo', description: 'Repeats.', usage: 'any text', prompt: 'Repeat.', model: 'test/echo', tools: [] },
  {
    name: 'typed',
    description: 'Takes and returns JSON.',
    prompt: 'Repeat.',
    model: 'test/echo',
    tools: [],
    input: { format: 'json', schema: { ...city, additionalProperties: false } },
    output: { format: 'json', schema: city },
  },
  { name: 'worker', description: 'Uses tools.', prompt: 'Work.', model: 'test/worker', tools: ['*'], agents: ['helper'] },
  { name: 'helper', description: 'Helps the worker.', prompt: 'Repeat.', model: 'test/echo', tools: [], infer: false },
]

/** A call of the tool `hold`. */
export interface HeldCall {
  readonly signal: AbortSignal
  progress(text: string): void
  release(): void
}

export interface SceneTools {
  readonly tools: readonly Tool[]
  /** The next call of `hold`. */
  nextHeld(): Promise<HeldCall>
}

export function sceneTools(): SceneTools {
  const held: HeldCall[] = []
  let wake = (): void => {}
  const none = { type: 'object', properties: {} }
  const form = { type: 'object', properties: { name: { type: 'string', enum: ['red', 'blue'] } }, required: ['name'] }
  const question = { text: 'Which color?', form }
  const tools: readonly Tool[] = [
    {
      name: 'hold',
      description: 'Waits.',
      inputSchema: none,
      effect: 'read',
      async execute(_, { signal, progress }) {
        await new Promise<void>((resolve) => {
          held.push({ signal, progress, release: resolve })
          signal.addEventListener('abort', () => resolve())
          wake()
        })
        return 'held'
      },
    },
    {
      name: 'guarded',
      description: 'Needs approval.',
      inputSchema: none,
      approval: () => ({ summary: 'Open the door', keys: [{ key: 'tool:guarded', label: 'guarded' }] }),
      execute: async () => 'opened',
    },
    {
      name: 'asks',
      description: 'Asks for a color.',
      inputSchema: none,
      effect: 'read',
      async execute(_, { answers }) {
        const given = answers?.color
        if (given) return given.kind === 'accept' ? `color ${JSON.stringify(given.content)}` : `no color: ${given.kind}`
        return { ok: false, error: { class: 'failed', message: 'nobody answered' }, ask: { questions: { color: question } } }
      },
    },
    {
      name: 'asks_live',
      description: 'Asks for a color while it runs.',
      inputSchema: none,
      effect: 'read',
      async execute(_, { ask }) {
        const given = await ask(question)
        return given.kind === 'accept' ? `color ${JSON.stringify(given.content)}` : `no color: ${given.kind}`
      },
    },
  ]
  return {
    tools,
    async nextHeld() {
      for (;;) {
        const next = held.shift()
        if (next) return next
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** `call NAME`: calls that tool, and answers with its result. `fail`: it fails. */
export const workerModel: Model = {
  id: 'test/worker',
  abilities: ['tools'],
  async *stream({ messages }: ModelRequest): AsyncGenerator<ModelPart> {
    const last = messages.at(-1)
    const text = last?.role === 'user' ? last.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ') : ''
    const called = [...text.matchAll(/\bcall (\w+)/g)].map(([, name = '']) => name)
    if (text.includes('fail')) yield { type: 'error', failure: { class: 'auth', message: 'The key is wrong.' } }
    if (last?.role === 'tool') yield { type: 'text', text: last.results.map(({ content }) => content).join('; ') }
    for (const [index, name] of called.entries())
      yield { type: 'call', id: `call-${index}`, name, input: name.startsWith('agent__') ? '{"prompt":"from the worker"}' : '{}' }
    yield { type: 'finish', reason: called.length > 0 ? 'tool-calls' : 'stop', usage }
  },
}

export const sceneModels = { resolve: (name: string): Model => (name === 'test/worker' ? workerModel : echoModel()) }

export const sceneDependencies = (clock: Clock = systemClock): McpDependencies => ({
  clock,
  ids: { next: () => randomUUID() },
  version: '0.0.0',
  validator: schemaValidator(),
  audit: async () => {},
  legacyTransports: true,
})
