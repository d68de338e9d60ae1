// 1,000 tools over 20 sources: how long the first turn of a session takes to build its registry, beside a session without tools.
// Prints medians of one run. Usage: npm run build && node bench/many-tools.mjs
import { createAgentRuntime } from '../dist/index.js'
import { ScriptedModel } from '../dist/testing/index.js'

const schema = (index) => ({
  type: 'object',
  properties: {
    owner: { type: 'string', description: 'The owner of the repository.' },
    repository: { type: 'string', description: 'The name of the repository.' },
    labels: { type: 'array', items: { type: 'string' }, description: `Labels of kind ${index}.` },
    state: { type: 'string', enum: ['open', 'closed', 'all'] },
    page: { type: 'integer', minimum: 1 },
  },
  required: ['owner', 'repository'],
})
const source = (server) => ({
  name: `server${server}`,
  // Every session gets tools of its own, as from a connection.
  open: () => ({
    list: async () =>
      Array.from({ length: 50 }, (_, index) => ({
        name: `server${server}/tool_${index}`,
        namespace: `server${server}`,
        description: `Lists things of kind ${index} on server ${server}, newest first, with their labels and states.`,
        inputSchema: schema(index),
        execute: () => 'ok',
      })),
  }),
})
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

async function measure(tools) {
  const times = []
  for (let run = 0; run < 30; run++) {
    const runtime = createAgentRuntime({
      config: { agents: [{ name: 'clerk', description: 'Works', prompt: 'Work.', model: 'm' }], tools },
      adapter: new ScriptedModel([{ text: 'Done.' }]),
    })
    const started = performance.now()
    await runtime.run('go')
    times.push(performance.now() - started)
    await runtime.close()
  }
  return median(times.slice(5))
}

const none = await measure([])
const many = await measure(Array.from({ length: 20 }, (_, server) => source(server)))
process.stdout.write(
  `a turn without tools ${none.toFixed(2)} ms, with 1,000 tools over 20 sources ${many.toFixed(2)} ms: ${(many - none).toFixed(2)} ms more\n`,
)
