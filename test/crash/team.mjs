// The tree that is killed: a parent with two children at once, one of which has a child of its own, while the other
// needs an approval. Every level writes, puts and reads; the grandchild answers in JSON, at the second try, and at such
// length that its report is stored while its uncle works on: what is told of it is then in different batches.

const tokenSchema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'], additionalProperties: false }
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

export function toolsWith(effect) {
  const tool = (name, more) => ({
    name,
    description: `${name} one token`,
    inputSchema: tokenSchema,
    execute: ({ token }) => effect(token),
    ...more,
  })
  return [
    tool('write_one'),
    tool('write_many', { concurrency: 'shared', execute: async ({ token }) => effect(token) }),
    tool('put_one', {
      effect: 'idempotent',
      concurrency: 'shared',
      execute: async ({ token }, { callId }) => effect(`${token}@${callId}`),
    }),
    tool('read_one', { effect: 'read', concurrency: 'shared' }),
    tool('send_one', { approval: ({ token }) => ({ keys: [{ key: 'send', label: 'send' }], summary: `Send ${token}` }) }),
  ]
}

const call = (name, token) => ({ name, input: { token } })
const ask = (agent) => ({ name: `agent__${agent}`, input: { prompt: `Do your part, ${agent}.` } })
const heard = (messages) =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.results.filter(({ name }) => name.startsWith('agent__')).map(({ content }) => content) : [],
  )

/** What each agent says, step by step. */
const scripts = {
  boss: [
    [call('read_one', 'boss-r1'), call('put_one', 'boss-i1'), call('write_many', 'boss-w1')],
    [call('write_many', 'boss-w2'), ask('scout'), ask('clerk')],
    [call('write_one', 'boss-w3')],
    (messages) => `All done: ${heard(messages).join(' | ')}`,
  ],
  scout: [
    [ask('helper'), call('write_many', 'scout-w1'), call('put_one', 'scout-i1')],
    [call('write_one', 'scout-w2'), call('write_one', 'scout-w3'), call('read_one', 'scout-r1')],
    (messages) => `scouted ${heard(messages).join().slice(0, 10)}`,
  ],
  helper: [
    [call('put_one', 'helper-i1'), call('read_one', 'helper-r1'), call('write_many', 'helper-w1'), call('write_many', 'helper-w2')],
    () => '{ "found": "three" }',
    () => JSON.stringify({ found: 3, notes: 'seen '.repeat(400) }),
  ],
  clerk: [
    [call('write_one', 'clerk-w1')],
    [call('put_one', 'clerk-i1')],
    [call('read_one', 'clerk-r1')],
    [call('write_one', 'clerk-w2')],
    [call('write_many', 'clerk-w3')],
    [call('send_one', 'clerk-w4'), call('write_many', 'clerk-w5')],
    [call('write_many', 'clerk-w6'), call('write_one', 'clerk-w7')],
    () => 'clerked',
  ],
}

const outputs = {
  helper: { format: 'json', schema: { type: 'object', properties: { found: { type: 'integer' } }, required: ['found'] } },
}
const children = { boss: ['scout', 'clerk'], scout: ['helper'] }

export const agents = Object.keys(scripts).map((name) => ({
  name,
  description: `The ${name} of the team`,
  prompt: 'Go on.',
  models: [name],
  tools: ['*'],
  agents: children[name] ?? [],
  limits: { maxOutputBytes: 1_024 },
  ...(outputs[name] && { output: outputs[name] }),
}))

/** Each agent has a model under its own name, which knows where it is from the history alone, as a real one does. */
export const modelsWith = (points) => ({
  resolve: (name) => ({
    id: `scripted/${name}`,
    abilities: ['tools'],
    async *stream({ messages }) {
      const step = messages.filter(({ role }) => role === 'assistant').length
      const said = scripts[name][step]
      points.pass(`before reply ${name} ${step + 1}`)
      try {
        if (typeof said === 'function') yield { type: 'text', text: said(messages) }
        else
          for (const [index, { name: tool, input }] of said.entries())
            yield { type: 'call', id: `${step}.${index}`, name: tool, input: JSON.stringify({ ...input, reason: 'because' }) }
        yield { type: 'finish', reason: typeof said === 'function' ? 'stop' : 'tool-calls', usage, costUsd: 0.001 }
      } finally {
        // Nobody asks for more after the end: what follows the last part is heard here.
        points.pass(`after reply ${name} ${step + 1}`)
      }
    },
  }),
})
