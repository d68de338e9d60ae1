// Troupe, shared by its rows: the same runtime over different stores. Only the public package is imported (W5 counts that).
import { createAgentRuntime } from 'troupe'
import { PROMPT, SCHEMA, SYSTEM, TOOLS, USAGE, execute, network, reply } from './work.mjs'

const usage = { ...USAGE, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

const model = (spec) => ({
  id: 'mock/mock',
  abilities: ['tools'],
  async *stream({ messages }) {
    await network(spec)
    const last = messages.at(-1)
    const r = reply(spec, 'main', last.role === 'tool' ? last.results.at(-1).id : undefined)
    if (r.calls) for (const c of r.calls) yield { type: 'call', id: c.id, name: c.name, input: c.json }
    else for (const text of r.text) yield { type: 'text', text }
    yield { type: 'finish', reason: r.calls ? 'tool-calls' : 'stop', usage }
  },
})

// makeStore: undefined for the default, memory.
export const make = (makeStore) => async (spec) => {
  if (spec.sub) throw new Error('Troupe has no sub-agents yet')
  let inputSchema = SCHEMA
  if (spec.zod) {
    const [{ z }, { zodSchema }] = await Promise.all([import('zod'), import('./zod.mjs')])
    inputSchema = z.toJSONSchema(zodSchema)
  }
  const store = await makeStore?.()
  const runtime = createAgentRuntime({
    config: {
      agents: [{ name: 'main', description: 'Does the work.', prompt: SYSTEM, model: 'mock', limits: { maxToolTurns: spec.turns + 5 } }],
      tools: TOOLS.map((t) => ({ ...t, inputSchema, effect: 'read', concurrency: 'shared', execute: (a) => execute(a) })),
    },
    adapter: model(spec),
    ...(store && { store }),
  })
  if (!spec.stream) {
    return async () => {
      const outcome = await runtime.run(PROMPT)
      if (outcome.status !== 'completed') throw new Error(outcome.message ?? outcome.status)
      return { text: outcome.report.text }
    }
  }
  return async () => {
    let text = '', chunks = 0
    for await (const event of runtime.stream(PROMPT)) {
      if (event.type === 'interaction.item.delta') {
        if (event.kind === 'text' && event.agentPath === 'root') { text += event.text; chunks++ }
      } else if (event.type === 'interaction.turn.failed') throw new Error(event.message)
    }
    return { text, chunks }
  }
}
