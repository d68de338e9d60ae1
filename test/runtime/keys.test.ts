import { describe, expect, it } from 'vitest'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'

// Invariant 8: what can be written in an agent takes effect.

describe('an agent', () => {
  it('is listed under its display name, and its parameters reach the model as they are', async () => {
    const store = memoryStore()
    const model = new ScriptedModel([{ text: 'Done.' }])
    const parameters = { temperature: 0.2, topP: 0.9, maxOutputTokens: 77, seed: 4 }
    const agent = { name: 'clerk', displayName: 'The clerk', description: 'd', prompt: 'p', model: 'm', parameters }
    const runtime = createAgentRuntime({ config: { agents: [agent] }, adapter: model, store })
    await runtime.run('Go')
    expect(await runtime.sessions.list()).toMatchObject([{ agent: 'The clerk', title: 'Go', status: 'completed' }])
    expect(model.requests[0]?.parameters).toEqual(parameters)
  })
  it('is asked to think as long as `reasoningEffort` says', async () => {
    const model = new ScriptedModel([{ text: 'Done.' }])
    const agent = { name: 'clerk', description: 'd', prompt: 'p', model: 'm', parameters: { seed: 4 }, reasoningEffort: 'high' as const }
    const runtime = createAgentRuntime({ config: { agents: [agent] }, adapter: model, store: memoryStore() })
    await runtime.run('Go')
    expect(model.requests[0]?.parameters).toMatchObject({ seed: 4, reasoning: 'high' })
  })
})
