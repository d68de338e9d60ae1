// A person talks to a coach over several turns until it returns control, and to a second one until the person asks for the caller.
import { handoffTool, returnControlTool } from '../../src/kernel/handoff/handoff-tool.ts'
import { liveLives } from './kill-points.mjs'

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'], additionalProperties: false }
const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const call = (name, input) => ({ name, input })
const write = (token) => call('write_one', { token })
const resultsOf = (messages) =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.results.filter(({ name }) => name === 'agent__coach').map(({ content }) => content) : [],
  )

/** What each agent says, step by step. Text ends a turn, and the next entry belongs to the next one. */
const scripts = {
  boss: [
    [call('agent__coach', { task: 'first' })],
    [write('boss-1')],
    [call('agent__coach', { task: 'second' })],
    [write('boss-2')],
    (messages) => resultsOf(messages).join(' / '),
  ],
  first: [
    [write('coach-1')],
    () => 'Ready.',
    [write('coach-2')],
    () => 'Good.',
    [write('coach-3'), call('return_control', { report: 'coached' })],
  ],
  second: [() => 'Again?'],
}

const modelsWith = (points) => ({
  resolve: (name) => ({
    id: `scripted/${name}`,
    abilities: ['tools'],
    async *stream({ messages }) {
      const step = messages.filter(({ role }) => role === 'assistant').length
      const task = messages.find(({ role }) => role === 'user').parts[0].text
      const said = scripts[name === 'coach' ? task : name][step] ?? (() => `unexpected step ${step}`)
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

const limits = { maxTurns: 10, maxTokensPerInvocation: 50_000, timeBudgetMs: 600_000 }

/** The person: answers when an agent waits. A message that is sent again has the same id. */
const messages = [
  { text: 'one', clientId: 'm1' },
  { text: 'two', clientId: 'm2' },
  { text: '/back', clientId: 'm3', isForBoss: true },
]

async function goOn(runtime, { treeId, before, outcome }) {
  if (outcome.status === 'completed') return outcome
  const accepted = new Set(before.flatMap(({ type, clientId }) => (type === 'interaction.input.accepted' ? [clientId] : [])))
  const next = messages.find(({ clientId }) => !accepted.has(clientId))
  if (outcome.reason === 'input' && next)
    await runtime.sessions.send(treeId, next.text, {
      clientId: next.clientId,
      mode: 'steer',
      ...(next.isForBoss && { to: treeId }),
    })
  try {
    return await (await runtime.open(treeId)).outcome
  } catch (error) {
    // It was stopped while the message was stored.
    if (error.code === 'runtime_closed') return { ...outcome, reason: 'released' }
    throw error
  }
}

await liveLives(
  (effect, points) => ({
    config: {
      agents: ['boss', 'coach'].map((name) => ({
        name,
        description: `The ${name}`,
        prompt: 'Go on.',
        models: [name],
        tools: name === 'boss' ? ['write_one'] : ['write_one', 'return_control'],
        ...(name === 'boss' && { agents: ['coach'] }),
      })),
      agentSelection: { agent: 'boss' },
      tools: [
        handoffTool({ agent: 'coach', description: 'Coaches the person', limits }),
        returnControlTool,
        { name: 'write_one', description: 'Write one token', inputSchema: schema, execute: async ({ token }) => effect(token) },
      ],
    },
    adapter: modelsWith(points),
  }),
  goOn,
)
