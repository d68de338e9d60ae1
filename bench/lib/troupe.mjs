// Troupe, shared by its rows: the same runtime over different stores. Only the public package is imported (W5 counts that).
import { createAgentRuntime } from 'troupe'
import { PROMPT, SCHEMA, SYSTEM, TOOLS, USAGE, execute, network, reply } from './work.mjs'

const usage = { ...USAGE, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

const subTool = { name: 'agent__sub_agent', args: { prompt: 'go' } }

// One model for each role: a request does not say who asks.
const model = (spec, role) => ({
  id: `mock/${role}`,
  abilities: ['tools'],
  async *stream({ messages }) {
    await network(spec)
    const last = messages.at(-1)
    const r = reply(spec, role, last.role === 'tool' ? last.results.at(-1).id : undefined, subTool)
    // The very same call three times in a row would be refused, so each task of the sub-agent is its own.
    if (r.calls) for (const c of r.calls) yield { type: 'call', id: c.id, name: c.name, input: role === 'parent' ? JSON.stringify({ prompt: `go ${c.id}` }) : c.json }
    else for (const text of r.text) yield { type: 'text', text }
    yield { type: 'finish', reason: r.calls ? 'tool-calls' : 'stop', usage }
  },
})

// makeStore: undefined for the default, memory.
export const make = (makeStore) => async (spec) => {
  let inputSchema = SCHEMA
  if (spec.zod) {
    const [{ z }, { zodSchema }] = await Promise.all([import('zod'), import('./zod.mjs')])
    inputSchema = z.toJSONSchema(zodSchema)
  }
  const store = await makeStore?.()
  const limits = { maxToolTurns: spec.turns + 5 }
  const main = { name: 'main', description: 'Does the work.', prompt: SYSTEM, model: spec.sub ? 'parent' : 'main', limits }
  const sub = { name: 'sub_agent', description: 'A sub-agent', prompt: SYSTEM, model: 'sub' }
  const models = { main: model(spec, 'main'), parent: model(spec, 'parent'), sub: model(spec, 'sub') }
  const runtime = createAgentRuntime({
    config: {
      agents: spec.sub ? [{ ...main, tools: [], agents: ['sub_agent'] }, sub] : [main],
      agentSelection: { agent: 'main' },
      tools: TOOLS.map((t) => ({ ...t, inputSchema, effect: 'read', concurrency: 'shared', execute: (a) => execute(a) })),
    },
    adapter: { resolve: (name) => models[name] },
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
