import { describe, expect, it } from 'vitest'
import type { Model, StreamEvent } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { tool } from './helpers.ts'

const key = 'sk-live-0123456789'

/** Repeats the key wherever a model can say something. */
const parrot = (asked: unknown[]): Model => ({
  id: 'parrot/model',
  abilities: ['tools'],
  async *stream(request) {
    asked.push(structuredClone(request.messages))
    yield { type: 'notice', message: `no ${key}` }
    yield { type: 'reasoning', text: 'thinking of sk-live-', block: 'a', metadata: { seal: key } }
    yield { type: 'reasoning', text: '0123456789', block: 'a' }
    for (const letter of `The key is ${key}.`) yield { type: 'text', text: letter }
    if (asked.length === 1) yield { type: 'call', id: '1', name: 'look', input: JSON.stringify({ q: key }), metadata: { id: key } }
    yield { type: 'finish', reason: asked.length === 1 ? 'tool-calls' : 'stop', metadata: { response: key } }
  },
})

describe('a key that a model or a person repeats', () => {
  it('is in no event, no outcome, no journal, no later request and no call', async () => {
    const asked: unknown[] = []
    const given: unknown[] = []
    const store = memoryStore()
    const look = tool('look', {
      execute: (input) => {
        given.push(input)
        return `found ${key}`
      },
    })
    const agent = { name: 'clerk', description: 'd', prompt: 'p', model: 'm' }
    const model = parrot(asked)
    const runtime = createAgentRuntime({
      config: { agents: [agent], tools: [look] },
      adapter: { secrets: { OPENAI_API_KEY: key }, resolve: () => model },
      store,
    })
    const handle = runtime.stream(`Here is ${key}`)
    const events: StreamEvent[] = []
    for await (const event of handle) events.push(event)
    const outcome = await handle.outcome
    expect(outcome.report?.text).toBe('The key is [redacted:OPENAI_API_KEY].')
    const shown = events.flatMap((event) => (event.type === 'interaction.item.delta' && event.kind === 'text' ? [event.text] : []))
    expect(shown.join('')).toBe('The key is [redacted:OPENAI_API_KEY].'.repeat(2))
    expect(given).toEqual([{ q: '[redacted:OPENAI_API_KEY]' }])
    const journal = await store.journal.read(outcome.sessionId, 0)
    for (const everything of [events, outcome, journal, asked, await runtime.sessions.list()])
      expect(JSON.stringify(everything)).not.toContain('0123456789')
  })
})
