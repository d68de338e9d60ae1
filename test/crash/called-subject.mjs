// A parent that calls agents: one without calls of its own, one that writes, and one through a tool that writes when it has the result.
// With `hooked`, hooks act at each request and after each call.
import { liveLives } from './kill-points.mjs'

const schema = { type: 'object', properties: { token: { type: 'string' }, agent: { type: 'string' } }, additionalProperties: false }
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const call = (name, input) => ({ name, input })
const write = (token) => call('write_one', { token })
const ask = (agent) => call(`agent__${agent}`, { prompt: 'Do your part.' })

/** What each agent says, step by step. */
const scripts = {
  boss: [
    [ask('thinker')],
    [ask('writer'), ask('thinker')],
    [call('check_and_write', { token: 'boss-1', agent: 'thinker' })],
    [write('boss-2')],
    'All done.',
  ],
  thinker: ['I think so.'],
  writer: [[write('writer-1')], [write('writer-2')], 'Written.'],
}

const modelsWith = (points) => ({
  resolve: (name) => ({
    id: `scripted/${name}`,
    abilities: ['tools'],
    async *stream({ messages }) {
      const step = messages.filter(({ role }) => role === 'assistant').length
      const said = scripts[name][step]
      points.pass(`before reply ${name} ${step + 1}`)
      try {
        if (typeof said === 'string') yield { type: 'text', text: said }
        else
          for (const [index, { name: tool, input }] of said.entries())
            yield { type: 'call', id: `${step}.${index}`, name: tool, input: JSON.stringify({ ...input, reason: 'because' }) }
        yield { type: 'finish', reason: typeof said === 'string' ? 'stop' : 'tool-calls', usage, costUsd: 0.001 }
      } finally {
        points.pass(`after reply ${name} ${step + 1}`)
      }
    },
  }),
})

const agents = Object.keys(scripts).map((name) => ({
  name,
  description: `The ${name} of the team`,
  prompt: 'Go on.',
  models: [name],
  tools: name === 'thinker' ? [] : ['write_one', 'check_and_write'],
  ...(name === 'boss' && { agents: ['thinker', 'writer'] }),
}))

const tool = (name, execute) => ({ name, description: `${name} one token`, inputSchema: schema, execute })

/** Each acts at once, and says for which session. */
const hooksWith = (effect) => [
  {
    name: 'watch',
    onFailure: 'closed',
    beforeRequest: (_, { agentPath }) => void effect(`at ${agentPath}`),
    afterCall: (_, { agentPath }) => void effect(`at ${agentPath}`),
  },
]

await liveLives((effect, points) => ({
  config: {
    agents,
    agentSelection: { agent: 'boss' },
    tools: [
      tool('write_one', async ({ token }) => effect(token)),
      tool('check_and_write', async ({ token, agent }, { startChild }) => {
        const { status } = await startChild({ agent, input: [{ type: 'text', text: 'May I?' }] })
        return status === 'completed' ? effect(token) : 'not allowed'
      }),
    ],
  },
  adapter: modelsWith(points),
  hooks: process.argv[2] === 'hooked' ? hooksWith(effect) : [],
}))
