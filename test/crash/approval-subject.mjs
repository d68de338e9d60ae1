// A session that needs a person. Nobody answers here: another process answers, through the inbox.
import { createMcpHandler, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { liveLives } from './kill-points.mjs'

const form = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** An MCP server that asks where to, by returning, and acts when it is called again with its state and the answer. */
const serverWith = (effect, points) =>
  createMcpHandler(() => {
    const server = new McpServer({ name: 'travel', version: '1' }, { capabilities: { tools: {} } })
    const run = ({ token }, { mcpReq }) => {
      const { where } = mcpReq.inputResponses ?? {}
      const state = mcpReq.requestState()
      if (where) {
        const isRight = where.action === 'accept' && where.content.city === 'Oslo' && state === `state of ${token}`
        return { content: [{ type: 'text', text: effect(isRight ? token : `wrong: ${JSON.stringify([token, where, state])}`) }] }
      }
      points.pass(`before question ${token}`)
      const inputRequests = { where: inputRequired.elicit({ message: `Where to with ${token}?`, requestedSchema: form }) }
      return inputRequired({ inputRequests, requestState: `state of ${token}` })
    }
    for (const name of ['book', 'look']) server.registerTool(name, { description: name, inputSchema: fromJsonSchema(schema) }, run)
    return server
  })

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'], additionalProperties: false }

function toolsWith(effect) {
  const tool = (name, more) => ({ name, description: name, inputSchema: schema, execute: ({ token }) => effect(token), ...more })
  return [
    tool('write_one'),
    tool('send_one', { approval: ({ token }) => ({ summary: `Send ${token}`, keys: [{ key: `send:${token[0]}`, label: 'send' }] }) }),
    tool('ask_one', {
      effect: 'read',
      approval: ({ token }) => ({ summary: token, keys: [], question: { text: `${token}?` } }),
      execute: ({ token }, { answer }) => effect(`${token} ${answer}`),
    }),
    tool('plan_one', {
      effect: 'idempotent',
      execute: ({ token }, { updatePlan }) => {
        updatePlan({ steps: [{ step: token, status: 'in_progress' }] })
        return 'planned'
      },
    }),
    tool('leave_one', {
      execute: ({ token }, { confinement }) =>
        confinement.kind === 'none' ? effect(token) : { ok: false, error: { class: 'sandbox', message: 'There is a wall.' } },
    }),
  ]
}

const call = (name, token) => ({ name, input: { token } })
/** `s` is granted for the session the first time, `t` is asked about by itself. */
const script = [
  [call('plan_one', 'p-1'), call('write_one', 'w-1')],
  [call('ask_one', 'q-1'), call('send_one', 's-1'), call('write_one', 'w-2')],
  [call('leave_one', 'o-1'), call('send_one', 's-2')],
  [call('plan_one', 'p-2'), call('send_one', 't-1'), call('travel__book', 'b-1'), call('travel__look', 'l-1')],
]

/** Knows where it is from the history alone, as a real model does. */
const modelWith = (points) => ({
  id: 'scripted/approvals',
  abilities: ['tools'],
  async *stream({ messages }) {
    const step = messages.filter(({ role }) => role === 'assistant').length
    points.pass(`before reply ${step + 1}`)
    const calls = script[step] ?? []
    try {
      for (const [index, { name, input }] of calls.entries())
        yield { type: 'call', id: `${step}.${index}`, name, input: JSON.stringify({ ...input, reason: 'because' }) }
      if (calls.length === 0) yield { type: 'text', text: 'All done.' }
      const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
      yield { type: 'finish', reason: calls.length === 0 ? 'stop' : 'tool-calls', usage, costUsd: 0 }
    } finally {
      // Nobody asks for more after the end: what follows the last part is heard here.
      points.pass(`after reply ${step + 1}`)
    }
  },
})

const fetchOf = (server) => (url, init) => server.fetch(new Request(url, init))

await liveLives((effect, points) => ({
  config: {
    agents: [{ name: 'subject', description: 'Is killed', prompt: 'Go on.', model: 'approvals' }],
    tools: toolsWith(effect),
    mcpServers: {
      travel: { url: 'http://travel.test/mcp', protocol: '2026-07-28', effects: { look: 'read' }, approval: { '*': 'allow' } },
    },
  },
  mcp: { fetch: fetchOf(serverWith(effect, points)) },
  adapter: modelWith(points),
  sandbox: { confinement: { kind: 'sandbox', name: 'box' } },
  approver: {
    decide: ({ scope }) => (scope === 'unsandboxed' ? { decision: { kind: 'approve', breadth: 'session' }, by: 'subject' } : 'suspend'),
  },
}))
