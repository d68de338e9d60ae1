// A parent that spawns two children, sends to one, waits for any, closes the other, and waits for what is left.
import { liveLives } from './kill-points.mjs'

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'], additionalProperties: false }
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const call = (name, input) => ({ name, input })
const write = (token) => call('write_one', { token })

/** The inputs of the whole conversation, as each model reads it. */
const inputsOf = (messages) => messages.filter(({ role }) => role === 'user').map(({ parts }) => parts.map(({ text }) => text).join(''))
const resultsOf = (messages) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ content }) => content) : []))

/** What each agent says, step by step. Text ends a turn, and the next entry belongs to the next one. */
const scripts = {
  boss: [
    [call('spawn_agent', { agent: 'scout', prompt: 'one' }), call('spawn_agent', { agent: 'idler', prompt: 'wait' }), write('boss-1')],
    [call('send_agent_input', { id: 'scout#1', text: 'two', mode: 'queue' }), write('boss-2')],
    [call('wait_for_agent', { ids: ['scout#1'], mode: 'any' })],
    [call('close_agent', { id: 'idler#1' }), write('boss-3')],
    // It may have been told of everything by now; if not, its turn goes on when it is.
    () => 'First answer.',
  ],
  scout: [[write('scout-1')], () => 'scouted one', [write('scout-2')], () => 'scouted two'],
}

/** The boss answers, however often it is woken, with everything that it knows. */
const bossAnswer = (messages) => {
  const known = [...resultsOf(messages), ...inputsOf(messages)].join('\n')
  const reports = known.match(/\[scout#1: completed\]\nscouted (one|two)/g) ?? []
  return `Reports: ${reports
    .map((each) => each.split(' ').at(-1))
    .toSorted()
    .join(', ')}.`
}

const modelsWith = (points) => ({
  resolve: (name) => ({
    id: `scripted/${name}`,
    abilities: ['tools'],
    async *stream({ messages }, { signal }) {
      const step = messages.filter(({ role }) => role === 'assistant').length
      if (name === 'idler') {
        // It never ends by itself.
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        return
      }
      const said = name === 'boss' && step >= 4 ? bossAnswer : (scripts[name][step] ?? (() => `unexpected step ${step}`))
      points.pass(`before reply ${name} ${step + 1}`)
      try {
        if (typeof said === 'function') yield { type: 'text', text: said(messages) }
        else
          for (const [index, { name: tool, input }] of said.entries())
            yield { type: 'call', id: `${step}.${index}`, name: tool, input: JSON.stringify({ ...input, reason: 'because' }) }
        yield { type: 'finish', reason: typeof said === 'function' ? 'stop' : 'tool-calls', usage, costUsd: 0.001 }
      } finally {
        points.pass(`after reply ${name} ${step + 1}`)
      }
    },
  }),
})

const agents = ['boss', 'scout', 'idler'].map((name) => ({
  name,
  description: `The ${name} of the team`,
  prompt: 'Go on.',
  models: [name],
  tools: name === 'idler' ? [] : ['write_one'],
  ...(name === 'boss' && { agents: ['scout', 'idler'], childControl: true, limits: { maxToolTurns: 12 } }),
}))

await liveLives((effect, points) => ({
  config: {
    agents,
    agentSelection: { agent: 'boss' },
    tools: [
      {
        name: 'write_one',
        description: 'Write one token',
        inputSchema: schema,
        concurrency: 'shared',
        execute: async ({ token }) => effect(token),
      },
    ],
  },
  adapter: modelsWith(points),
}))
