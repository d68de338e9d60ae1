import { describe, expect, it } from 'vitest'
import type { Approver, Hook, InteractionEvent, Outcome, Store, Tool, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ask, resultsOf, type Script, type TeamOptions, team } from './team.ts'

// A tree that waits for a person is taken up by a runtime in which things have changed.

const putOff: Approver = { decide: () => 'suspend' }
const send: Tool = {
  name: 'send',
  description: 'Sends.',
  inputSchema: { type: 'object' },
  repeatable: true,
  approval: () => ({ keys: [{ key: 'send', label: 'send' }], summary: 'Send it' }),
  execute: () => 'sent',
}
const usage = { input: 100, output: 50 }
const sender: Script = (request, step) =>
  step === 1 ? { calls: [{ tool: 'send' }], usage } : { text: `sent: ${resultsOf(request).join()}`, usage }
const caller = (...calls: readonly { readonly tool: string; readonly input?: object }[]): Script => {
  return (request, step) => (step === 1 ? { calls, usage } : { text: resultsOf(request).join(' | '), usage })
}
type Members = Parameters<typeof team>[0]
type Setup = TeamOptions & { readonly members: Members }

/** Runs to the suspension in one runtime, and on in another. */
async function resumedRun(first: Setup, then: Setup) {
  const store = memoryStore()
  const { members, ...more } = first
  const before = await team(members, { tools: [send], approver: putOff, store, ...more }).run()
  expect(before.outcome.status).toBe('suspended')
  const { members: members2, ...more2 } = then
  const { runtime } = team(members2, { tools: [send], approver: putOff, store, ...more2 })
  return { before, runtime, store, treeId: before.outcome.sessionId }
}

async function journalOf(store: Store, treeId: TreeId, path?: string): Promise<readonly InteractionEvent[]> {
  return (await store.journal.read(treeId, 0)).filter(({ agentPath }) => path === undefined || agentPath === path)
}
const sum = ({ usage: { input, output } }: Outcome) => [input, output]

describe('a parent one of whose children is gone', () => {
  const look: Tool = {
    name: 'look',
    description: 'Looks whom it may call.',
    inputSchema: { type: 'object' },
    async execute(_, { agents, startChild }) {
      const result = await startChild({ agent: 'scout', input: [{ type: 'text', text: 'Look' }] })
      return `${agents.map(({ name }) => name).join()}; ${result.kind === 'refused' ? `${result.failure.message} ${result.failure.remedy}` : ''}`
    },
  }

  it('calls its tools and its other children as before', async () => {
    const script: Script = (request, step) => {
      if (step === 1) return { calls: [ask('finder', 'Find')] }
      return step === 2 ? { calls: [{ tool: 'look' }] } : { text: resultsOf(request).join(' | ') }
    }
    const finder = { tools: ['send'], script: sender }
    const tools = [send, look]
    const members = { boss: { script, agents: ['scout', 'finder'], tools: ['look'] }, finder, scout: { script: sender } }
    const after = { boss: { script, agents: ['finder'], tools: ['look'] }, finder }
    const yes: Approver = { decide: () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'ann' }) }
    const { runtime, treeId } = await resumedRun({ members, tools }, { members: after, tools, approver: yes })
    const { report } = await (await runtime.open(treeId)).outcome
    expect(report?.text).toBe('sent: sent | finder; The agent "scout" no longer exists. Available: finder.')
  })
})

describe('children of later turns', () => {
  const script: Script = (request) => {
    const isAsked = request.messages.at(-1)?.role === 'user'
    return isAsked ? { calls: [ask('scout', 'Look')] } : { text: 'Done.' }
  }
  const members = { boss: { script, agents: ['scout'] }, scout: { script: (() => ({ text: 'ok' })) satisfies Script } }

  it('are numbered on, in the same process and in another', async () => {
    const store = memoryStore()
    const first = team(members, { store })
    const { outcome } = await first.run()
    await first.runtime.sessions.send(outcome.sessionId, 'Again')
    const again = await first.runtime.sessions.outcome(outcome.sessionId)
    expect(again.operations?.steps[0]?.calls[0]?.child?.agentPath).toBe('root/scout#2')
    await first.runtime.close()
    const second = team(members, { store })
    const opened = await second.runtime.open(outcome.sessionId)
    await opened.send('And again')
    const third = await opened.outcome
    expect(third.accounting.map(({ agentPath }) => agentPath)).toEqual(['root', 'root/scout#3', 'root', 'root'])
  })
})

describe('a child that cannot continue', () => {
  const members = { boss: { script: caller(ask('scout', 'Look')), agents: ['scout'] }, scout: { tools: ['send'], script: sender } }

  it('because its model is gone is ended and paid for', async () => {
    const { runtime, store, treeId } = await resumedRun(
      { members },
      { members, beforeModel: (name) => (name === 'scout' ? Promise.reject(new Error('no model scout')) : undefined) },
    )
    const outcome = await (await runtime.open(treeId)).outcome
    expect(outcome).toMatchObject({
      status: 'completed',
      report: { text: 'Error (config): scout failed: The model scout is unavailable: no model scout Continue without it.' },
    })
    expect(sum(outcome)).toEqual([300, 150])
    expect(await journalOf(store, treeId, 'root/scout#1')).toContainEqual(expect.objectContaining({ type: 'interaction.turn.failed' }))
  })

  it('because its call is ended before it comes back is ended and paid for', async () => {
    const { runtime, store, treeId } = await resumedRun({ members }, { members })
    await runtime.sessions.cancel(treeId, 'interrupt')
    const outcome = await (await runtime.open(treeId)).outcome
    expect(outcome.status).toBe('interrupted')
    expect(sum(outcome)).toEqual([200, 100])
    const ends = (await journalOf(store, treeId)).filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type))
    expect(ends.map(({ agentPath }) => agentPath)).toEqual(['root/scout#1', 'root'])
  })
})

describe('a stop', () => {
  it('lets a child answer that waits for a person, and then its parent', async () => {
    const brief: Script = (request, step) =>
      step === 1 ? { text: 'so far', calls: [{ tool: 'send' }], usage } : { text: `${request.toolChoice}: stopped here`, usage }
    const members = { boss: { script: caller(ask('scout', 'Look')), agents: ['scout'] }, scout: { tools: ['send'], script: brief } }
    const { runtime, store, treeId } = await resumedRun({ members }, { members })
    await runtime.sessions.cancel(treeId, 'stop')
    const outcome = await (await runtime.open(treeId)).outcome
    expect(outcome).toMatchObject({ status: 'partial', reason: 'stopped', report: { text: expect.stringMatching(/none: stopped here/) } })
    expect(sum(outcome)).toEqual([400, 200])
    expect(await journalOf(store, treeId, 'root/scout#1')).toContainEqual(expect.objectContaining({ type: 'interaction.turn.completed' }))
  })
})

describe('what has changed for a child', () => {
  const boss = { script: caller(ask('scout', 'Look')), agents: ['scout'] }
  const members = { boss, scout: { tools: ['send'], script: sender } }
  const hook: Hook = { name: 'new', onFailure: 'closed', atStop: () => ({ kind: 'continue' }) }
  const post: Tool = { ...send, name: 'post', approval: () => ({ keys: [{ key: 'post', label: 'post' }], summary: 'Post it' }) }
  const sendPostSend: Script = (request, step) =>
    step <= 3 ? { calls: [{ tool: step === 2 ? 'post' : 'send' }] } : { text: resultsOf(request).join() }
  const granted = { boss, scout: { tools: ['send', 'post'], script: sendPostSend } }
  const forSession: Approver = {
    decide: ({ tool }) => (tool === 'send' ? { decision: { kind: 'approve', breadth: 'session' }, by: 'ann' } : 'suspend'),
  }

  it('is reported with its path: agent and tools', async () => {
    const after = { boss, scout: { ...members.scout, prompt: 'You are another.', tools: [] } }
    const { runtime, treeId } = await resumedRun({ members }, { members: after, tools: [] })
    const handle = await runtime.open(treeId)
    await handle.interrupt()
    const { diagnostics } = await handle.outcome
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['tool_missing', 'The tool "send" of root/scout#1 no longer exists.'],
      ['agent_changed', 'The agent "scout" has changed since root/scout#1 began; that session keeps the old definition.'],
    ])
  })

  it('is reported with its path: skills', async () => {
    const skill = (name: string, hash: string) =>
      ({ name, description: name, scope: 'repo', path: `/skills/${name}/SKILL.md`, hash }) as const
    const { runtime, treeId } = await resumedRun(
      { members, config: { skills: [skill('tie', '1'), skill('knot', '1'), skill('same', '1')] } },
      { members, config: { skills: [skill('tie', '2'), skill('same', '1')] } },
    )
    const handle = await runtime.open(treeId)
    await handle.interrupt()
    const { diagnostics } = await handle.outcome
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['skill_missing', 'The skill "knot" of this session no longer exists.'],
      ['skill_changed', 'The skill "tie" of this session has changed. Its current version is loaded.'],
      ['skill_missing', 'The skill "knot" of root/scout#1 no longer exists.'],
      ['skill_changed', 'The skill "tie" of root/scout#1 has changed. Its current version is loaded.'],
    ])
  })

  it('is nothing where nothing has', async () => {
    const { runtime, treeId } = await resumedRun({ members }, { members })
    const handle = await runtime.open(treeId)
    await handle.interrupt()
    expect((await handle.outcome).diagnostics).toEqual([])
  })

  it.each([
    ['stays in force', [], 'completed'],
    ['is taken back with another policy', [hook], 'suspended'],
  ] as const)('approval for its session %s', async (_, hooks, status) => {
    const store = memoryStore()
    const { outcome } = await team(granted, { tools: [send, post], approver: forSession, store }).run()
    expect(outcome.status).toBe('suspended')
    const { runtime } = team(granted, { tools: [send, post], approver: putOff, store, hooks })
    const waiting = requestsOf(await journalOf(store, outcome.sessionId))
    expect(waiting.map(({ summary }) => summary)).toEqual(['Send it', 'Post it'])
    const [, { id: approvalId } = { id: undefined }] = waiting
    await runtime.sessions.approve(outcome.sessionId, { approvalId: approvalId as never, decision: { kind: 'approve', breadth: 'once' } })
    const after = await (await runtime.open(outcome.sessionId)).outcome
    expect(after.status).toBe(status)
    const journal = await journalOf(store, outcome.sessionId, 'root/scout#1')
    const revoked = journal.filter(({ type }) => type === 'interaction.approval.revoked')
    expect(requestsOf(journal)).toHaveLength(status === 'suspended' ? 3 : 2)
    if (status === 'completed') return expect(revoked).toEqual([])
    expect(revoked).toMatchObject([{ keys: ['send'], by: 'runtime' }])
    expect(after.diagnostics).toMatchObject([{ code: 'policy_changed', message: expect.stringContaining('given for this session') }])
  })
})

const requestsOf = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.approval.requested' ? [event.request] : []))
