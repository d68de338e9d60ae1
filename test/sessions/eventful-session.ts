import type { ModelRequest, Store, Tool, TreeId } from '../../src/contracts/index.ts'
import { sequentialIds } from '../../src/testing/index.ts'
import { askUserTool } from '../../src/tools/builtin/ask-user.ts'
import { png, pngBase64 } from '../fixtures/pictures.ts'
import { asksForSummary } from '../runtime/windows.ts'
import { ask, resultsOf, type Said, send, type Team, type TeamOptions, team } from '../subagents/team.ts'

// A session in which everything happens that a journal can record.

const look = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' },
  effect: 'read',
  concurrency: 'shared',
  execute: () => `${name} ${'x'.repeat(700)}`,
  ...more,
})
const camera = look('camera', {
  execute: () => ({ ok: true, content: '', parts: [{ type: 'image', mediaType: 'image/png', data: png, name: 'a.png' }] }),
})
const large = look('large', { execute: () => 'word '.repeat(12_000) })
const plan = look('plan', {
  effect: 'idempotent',
  execute: (_, { updatePlan }) => {
    updatePlan({ steps: [{ step: 'Look', status: 'in_progress' }] })
    return 'planned'
  },
})
const book = look('book', {
  effect: 'write',
  execute: async (_, { ask: question }) => JSON.stringify(await question({ text: 'Where to?' })),
})

const spawn = (prompt: string) => ({ tool: 'spawn_agent', input: { agent: 'scout', prompt } })
const tell = (id: string, text: string) => ({ tool: 'send_agent_input', input: { id, text } })
const wait = (ids: readonly string[]) => ({ tool: 'wait_for_agent', input: { ids } })

/** By the last input of a person: the steps of that turn. */
const turns: { readonly [input: string]: readonly Said[] } = {
  one: [
    { text: 'Looking.', calls: [{ tool: 'camera' }, { tool: 'look' }, { tool: 'large' }, { tool: 'plan' }, ask('clerk', 'Send it')] },
    { text: 'First.' },
  ],
  two: [
    { calls: [spawn('a'), spawn('b')] },
    { calls: [{ tool: 'ask_user', input: { question: 'Really?' } }, { tool: 'book' }, tell('scout#1', 'more')] },
    { calls: [wait(['scout#1', 'scout#2']), { tool: 'close_agent', input: { id: 'scout#2' } }] },
    { fails: 'network' },
    { text: 'Second.' },
  ],
  'What now?': [],
  three: [...[1, 2, 3, 4, 5].map((q): Said => ({ calls: [{ tool: 'look', input: { q } }] })), { text: 'Third.' }],
}

/** Steps are counted, not read from the request: a compacted history has fewer. */
function boss(): (request: ModelRequest) => Said {
  const done = new Map<string, number>()
  let current = ''
  return (request) => {
    if (asksForSummary(request)) return { text: 'So far: all well.' }
    for (const message of request.messages)
      if (message.role === 'user')
        for (const part of message.parts) if (part.type === 'text' && Object.hasOwn(turns, part.text)) current = part.text
    const step = done.get(current) ?? 0
    done.set(current, step + 1)
    return turns[current]?.[step] ?? { text: `More of ${current}.` }
  }
}

const members = () => ({
  boss: {
    script: boss(),
    agents: ['clerk', 'scout'],
    childControl: true,
    tools: ['*'],
    limits: { maxRetries: 3, maxOutputBytes: 3_000 },
    window: 5_500,
  },
  clerk: {
    script: (request: ModelRequest): Said =>
      resultsOf(request).length === 0 ? { calls: [{ tool: 'send' }, { tool: 'look' }] } : { text: 'Sent.' },
    tools: ['send', 'look'],
  },
  scout: { script: (): Said => ({ text: 'Nothing.' }) },
})

const tools: readonly Tool[] = [camera, look('look'), large, plan, book, send, askUserTool()]

/** Whoever asks is answered; the approval of `send` comes later, for the whole session. */
const approver: TeamOptions['approver'] = {
  decide: ({ scope }) => (scope === 'question' ? { decision: { kind: 'answer', text: 'Oslo' }, by: 'ann' } : 'suspend'),
}

export const eventfulTeam = (store: Store, options: TeamOptions = {}): Team => team(members(), { store, tools, approver, ...options })

/** Its id, after three turns. */
export async function eventfulSession(store: Store, options: TeamOptions = {}): Promise<TreeId> {
  const { runtime } = eventfulTeam(store, { ids: sequentialIds('source'), ...options })
  const handle = runtime.stream([
    { type: 'text', text: 'one' },
    { type: 'image', mediaType: 'image/png', data: pngBase64 },
  ])
  const { sessionId } = handle
  await handle.outcome
  const [request] = await runtime.sessions.requests(sessionId)
  await runtime.sessions.approve(sessionId, {
    approvalId: request?.id ?? '',
    decision: { kind: 'approve', breadth: 'session' },
    by: 'ann',
  })
  await runtime.sessions.outcome(sessionId)
  for (const input of ['two', 'three']) {
    await runtime.sessions.send(sessionId, input)
    await runtime.sessions.outcome(sessionId)
  }
  await runtime.close()
  return sessionId
}
