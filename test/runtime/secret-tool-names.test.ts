import { expect, it } from 'vitest'
import type { Model, StreamEvent } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { tool } from './helpers.ts'

const key = 'sk-live-0123456789'

it('a key that a model calls as if it were a tool is in no event, no journal and no later request', async () => {
  const asked: string[] = []
  const model: Model = {
    id: 'parrot/model',
    abilities: ['tools'],
    async *stream({ messages }) {
      asked.push(JSON.stringify(messages))
      if (asked.length === 1) yield { type: 'call', id: '1', name: key, input: '{}' }
      else yield { type: 'text', text: 'Done.' }
      yield { type: 'finish', reason: asked.length === 1 ? 'tool-calls' : 'stop' }
    },
  }
  const store = memoryStore()
  const runtime = createAgentRuntime({
    config: { agents: [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm' }], tools: [tool('look')] },
    adapter: { secrets: { OPENAI_API_KEY: key }, resolve: () => model },
    store,
  })
  const handle = runtime.stream('Go')
  const events: StreamEvent[] = []
  for await (const event of handle) events.push(event)
  const outcome = await handle.outcome
  for (const everything of [events, outcome, await store.journal.read(outcome.sessionId, 0), asked])
    expect(JSON.stringify(everything)).not.toContain('0123456789')
  // As providers take names.
  expect(asked[1]).toContain('There is no tool \\"_redacted_OPENAI_API_KEY_\\".')
})

it('a tool that was offered is called by its name, whatever secret is spelt like it', async () => {
  let asked = 0
  const model: Model = {
    id: 'a/model',
    abilities: ['tools'],
    async *stream() {
      if (++asked === 1) yield { type: 'call', id: '1', name: 'look_around', input: '{}' }
      else yield { type: 'text', text: 'Done.' }
      yield { type: 'finish', reason: asked === 1 ? 'tool-calls' : 'stop' }
    },
  }
  let calls = 0
  const look = tool('look_around', { execute: () => `${++calls}` })
  const runtime = createAgentRuntime({
    config: { agents: [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm' }], tools: [look] },
    adapter: { secrets: { ODD_TOKEN: 'around' }, resolve: () => model },
    store: memoryStore(),
  })
  await runtime.run('Go')
  expect(calls).toBe(1)
})
