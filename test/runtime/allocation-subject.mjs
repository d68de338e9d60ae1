// Prints how many bytes a call of an agent allocates: two steps with a call each, and an answer, on a memory store. Started with
// `--expose-gc`, and with room for everything that a run allocates, so that nothing is collected meanwhile.
import { createAgentRuntime } from 'troupe'

const calls = 20
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const finish = { type: 'finish', reason: 'stop', usage }
const model = (id, steps, callOf) => ({
  id,
  abilities: ['tools'],
  async *stream({ messages }) {
    const step = messages.filter(({ role }) => role === 'assistant').length
    if (step < steps) yield { type: 'call', id: `c${step}`, ...callOf(step) }
    else yield { type: 'text', text: 'Done.' }
    yield finish
  },
})
const models = {
  boss: model('boss', calls, (step) => ({ name: 'agent__kid', input: `{"prompt":"Go ${step}"}` })),
  kid: model('kid', 2, (step) => ({ name: 'look', input: `{"step":${step}}` })),
}
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' }
const agent = (name, more) => ({ name, description: name, prompt: 'Go on.', model: name, ...more })
const runtime = createAgentRuntime({
  config: {
    agents: [agent('boss', { tools: [], agents: ['kid'], limits: { maxToolTurns: calls + 1 } }), agent('kid')],
    agentSelection: { agent: 'boss' },
    tools: [look],
  },
  adapter: { resolve: (name) => models[name] },
})

for (let run = 0; run < 100; run++) await runtime.run('Go')
const measured = []
for (let run = 0; run < 15; run++) {
  gc()
  const before = process.memoryUsage().heapUsed
  const { status } = await runtime.run('Go')
  if (status !== 'completed') throw new Error(status)
  measured.push((process.memoryUsage().heapUsed - before) / calls)
}
console.log(Math.min(...measured))
