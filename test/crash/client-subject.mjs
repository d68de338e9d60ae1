// A client brings two tools. Their calls wait for it; another process is the client, and sends the results through the inbox.
import { liveLives } from './kill-points.mjs'

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'], additionalProperties: false }
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const call = (name, token) => ({ name, input: { token } })

const script = [
  [call('Edit', 'e-1')],
  [call('write_one', 'w-1'), call('Edit', 'e-2'), call('Bash', 'b-1'), call('write_one', 'w-2')],
  [call('send_one', 's-1'), call('Bash', 'b-2')],
  // Brought with the results of the step before.
  [call('Search', 'f-1')],
]

/** Knows where it is from the history alone, as a real model does. */
const modelWith = (points) => ({
  id: 'scripted/client',
  abilities: ['tools'],
  async *stream({ messages, tools }) {
    const step = messages.filter(({ role }) => role === 'assistant').length
    points.pass(`before reply ${step + 1}`)
    const calls = script[step] ?? []
    try {
      for (const [index, { name, input }] of calls.entries())
        yield {
          type: 'call',
          id: `${step}.${index}`,
          name,
          input: JSON.stringify(name.endsWith('_one') ? { ...input, reason: 'because' } : input),
        }
      if (calls.length === 0) yield { type: 'text', text: `All done with ${tools.map(({ name }) => name).join(', ')}.` }
      yield { type: 'finish', reason: calls.length === 0 ? 'stop' : 'tool-calls', usage, costUsd: 0 }
    } finally {
      points.pass(`after reply ${step + 1}`)
    }
  },
})

const tool = (effect, name, more) => ({ name, description: name, inputSchema: schema, execute: ({ token }) => effect(token), ...more })
const clientTools = ['Edit', 'Bash'].map((name) => ({ name, description: name, inputSchema: schema }))
const undriven = async (runtime, sessionId) => {
  const outcome = await runtime.sessions.outcome(sessionId)
  if (outcome.reason !== 'released') return outcome
  // It was started by a process that is gone, unless this one is being closed.
  return runtime.open(sessionId).then(
    (handle) => handle.outcome,
    () => outcome,
  )
}

await liveLives(
  (effect, points) => ({
    config: {
      agents: [{ name: 'subject', description: 'Is killed', prompt: 'Go on.', model: 'client', clientTools: 'allow' }],
      tools: [
        tool(effect, 'write_one'),
        tool(effect, 'send_one', {
          approval: ({ token }) => ({ summary: `Send ${token}`, keys: [{ key: `send:${token}`, label: 'send' }] }),
        }),
      ],
    },
    adapter: modelWith(points),
    approver: { decide: () => 'suspend' },
  }),
  undefined,
  async (runtime, note) => {
    // The same id: a process that was killed meanwhile may have started it.
    const sessionId = await runtime.sessions.start('Do the work.', { clientId: 'work', clientTools })
    note(sessionId)
    return undriven(runtime, sessionId)
  },
)
