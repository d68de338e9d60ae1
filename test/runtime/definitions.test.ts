import { expect, it } from 'vitest'
import type { AgentLoopConfig, Hook, Tool } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { bounded, journalOf, ofType, settle, tool, troupeError, world } from '../acceptance/support.ts'
import { storeOf } from './journals.ts'

const clerk = (prompt: string, more: object = {}) => ({
  name: 'clerk',
  description: 'Does things',
  prompt,
  model: 'scripted/model',
  ...more,
})
const config = (prompt: string, tools: readonly Tool[] = [], more: object = {}): AgentLoopConfig => ({
  agents: [clerk(prompt, more)],
  tools,
})
const answers = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]

it('a turn begins with the newest agent, tools and children, and records it', async () => {
  const { runtime, model } = world({ config: config('Old.', [tool('read')]), steps: answers })
  const handle = runtime.stream('go')
  await bounded(handle.outcome)
  await runtime.update(config('New.', [tool('read'), tool('write')]))
  await handle.send('again')
  await bounded(runtime.sessions.outcome(handle.sessionId))
  expect(model.requests.map(({ system }) => system)).toEqual(['Old.', 'New.'])
  expect(model.requests.map(({ tools }) => tools.map(({ name }) => name).filter((name) => name !== 'read_output'))).toEqual([
    ['read'],
    ['read', 'write'],
  ])
  const events = []
  for await (const event of runtime.sessions.events(handle.sessionId)) events.push(event)
  expect(events.filter(({ type }) => type === 'interaction.session.configured')).toMatchObject([
    { reason: 'The definitions have changed.' },
  ])
})

it('a turn that has begun keeps its definitions', async () => {
  const change: Tool = { ...tool('change'), execute: () => runtime.update(config('New.', [change])).then(() => 'changed') }
  const { runtime, model } = world({ config: config('Old.', [change]), steps: [{ calls: [{ tool: 'change' }] }, ...answers] })
  await bounded(runtime.run('go'))
  await bounded(runtime.run('go'))
  expect(model.requests.map(({ system }) => system)).toEqual(['Old.', 'Old.', 'New.'])
})

it('a pinned session keeps the definitions of its first turn', async () => {
  const { runtime, model } = world({ config: config('Old.'), steps: answers })
  const handle = runtime.stream('go', { definitions: 'pin' })
  await bounded(handle.outcome)
  await runtime.update(config('New.'))
  await handle.send('again')
  await bounded(runtime.sessions.outcome(handle.sessionId))
  expect(model.requests.map(({ system }) => system)).toEqual(['Old.', 'Old.'])
})

it('what the caller of a session changed stays when the definition changes, also in another process', async () => {
  const first = world({ config: config('Old.'), steps: answers })
  const { sessionId } = await bounded(first.runtime.run('go'))
  const opened = await first.runtime.open(sessionId, { limits: { maxToolTurns: 3 } })
  await opened.release()
  await first.runtime.close()
  const { runtime, model } = world({ config: config('New.', [], { limits: { maxRetries: 1 } }), steps: answers, store: first.store })
  const handle = await runtime.open(sessionId)
  await handle.send('again')
  expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed' })
  const events = []
  for await (const event of runtime.sessions.events(sessionId)) events.push(event)
  expect(model.requests.map(({ system }) => system)).toEqual(['New.'])
  expect(events.findLast(({ type }) => type === 'interaction.session.configured')).toMatchObject({
    agent: { prompt: 'New.', limits: { maxToolTurns: 3, maxRetries: 1 } },
  })
})

it('a wrong configuration is refused, and the one before stays', async () => {
  const { runtime, model } = world({ config: config('Old.'), steps: answers })
  expect(await troupeError(() => runtime.update({ agents: [] }))).toMatchObject({ code: 'config_invalid' })
  await bounded(runtime.run('go'))
  expect(model.requests.map(({ system }) => system)).toEqual(['Old.'])
})

it('a configuration whose source fails changes no variables', async () => {
  const overlays: unknown[] = []
  const see: Tool = { ...tool('see'), execute: (_input, { overlay }) => String(overlays.push(overlay)) }
  const { runtime } = world({
    config: { ...config('Old.', [see]), overlay: { V: 'old' } },
    steps: [{ calls: [{ tool: 'see' }] }, ...answers],
  })
  const broken = { list: () => Promise.reject(new Error('no connection')) }
  const updated = runtime.update({ ...config('New.'), tools: [broken], overlay: { V: 'new' } })
  expect(await troupeError(() => updated)).toMatchObject({ code: 'tools_unavailable' })
  await bounded(runtime.run('go'))
  expect(overlays).toEqual([{ V: 'old' }])
})

it('updates apply in the order of the calls, and one that ends after close is refused', async () => {
  const { runtime, model } = world({ config: config('Old.'), steps: answers })
  const closed: string[] = []
  const gates = [Promise.withResolvers<Tool[]>(), Promise.withResolvers<Tool[]>()]
  const source = (name: string, listed: Promise<Tool[]>) => ({ list: () => listed, close: async () => void closed.push(name) })
  const [first, last] = [gates[0]?.promise ?? Promise.reject(), gates[1]?.promise ?? Promise.reject()]
  const slow = runtime.update({ ...config('Slow.'), tools: [source('slow', first)] })
  const fast = runtime.update({ ...config('Fast.'), tools: [source('fast', Promise.resolve([]))] })
  gates[0]?.resolve([])
  await bounded(Promise.all([slow, fast]))
  await bounded(runtime.run('go'))
  expect(model.requests.map(({ system }) => system)).toEqual(['Fast.'])
  expect(closed).toEqual(['slow'])
  const late = troupeError(() => runtime.update({ ...config('Late.'), tools: [source('late', last)] }))
  await settle()
  await bounded(runtime.close())
  gates[1]?.resolve([])
  expect(await late).toMatchObject({ code: 'runtime_closed' })
  expect(closed.toSorted()).toEqual(['fast', 'late', 'slow'])
})

it.each([
  ['nothing', {}, []],
  ['a limit', { limits: { toolTimeout: 70_000 } }, ['agent_changed']],
  ['a rule', { approvals: [{ deny: ['look'], reason: 'Now.' }] }, ['agent_changed']],
  ['the format of answers', { output: { format: 'json' } }, ['agent_changed']],
])('a turn of an earlier version, in whose agent %s has changed, is resumed', async (_, change, expected) => {
  const settings = { limits: { toolTimeout: 90_000 }, approvals: [{ deny: ['write'], reason: 'The agent file denies it.' }] }
  const asks = tool('ask', { approval: () => ({ summary: 'Ask', keys: [{ key: 'k', label: 'k' }] }) })
  const tools = [asks, tool('write'), tool('look')]
  const approver = { decide: () => 'suspend' as const }
  const steps = [{ calls: [{ tool: 'ask' }] }]
  const first = world({ config: config('You ask.', tools, settings), steps, approver })
  const { sessionId } = await bounded(first.runtime.run('go'))
  // As versions before `replyTimeout` wrote it.
  const events = (await journalOf(first.store, sessionId as never)).map((event) => {
    if (event.type !== 'interaction.session.created') return event
    const { saysToolTimeout: _says, limits, ...agent } = event.agent
    const { replyTimeout: _reply, ...earlier } = limits
    const approvals = [{ deny: ['write'], reason: 'The file of the agent denies it.' }]
    return { ...event, agent: { ...agent, output: { format: 'text' }, approvals, limits: earlier as never } } as typeof event
  })
  const store = await storeOf(events)
  const { runtime } = world({ config: config('You ask.', tools, { ...settings, ...change }), store, approver })
  await bounded((await runtime.open(sessionId)).outcome)
  const [resumed] = ofType(await journalOf(store, sessionId as never), 'interaction.session.resumed')
  expect(resumed?.diagnostics.map(({ code }) => code)).toEqual(expected)
})

it('an open session whose agent is removed keeps its last definition, with a notice', async () => {
  const { runtime, model } = world({ config: config('Old.'), steps: answers })
  const { sessionId } = await bounded(runtime.run('go'))
  const handle = await runtime.open(sessionId)
  await runtime.update({ agents: [{ ...clerk('Other.'), name: 'other' }] })
  await handle.send('again')
  expect(await bounded(handle.outcome)).toMatchObject({
    status: 'completed',
    diagnostics: [{ code: 'agent_changed', message: expect.stringContaining('no longer exists') }],
  })
  expect(model.requests.map(({ system }) => system)).toEqual(['Old.', 'Old.'])
})

it('models and hooks can be replaced, and the keys of both adapters stay secret', async () => {
  const keys = ['first-key-0123456789', 'second-key-0123456789'] as const
  const first = new ScriptedModel(answers)
  const other = new ScriptedModel(answers)
  const { runtime } = world({ config: config('Old.'), adapter: { resolve: async () => first, secrets: { KEY: keys[0] } } })
  const handle = runtime.stream('go')
  await bounded(handle.outcome)
  const seen: string[] = []
  const hook: Hook = {
    name: 'spy',
    onFailure: 'closed',
    beforeRequest: ({ agent }) => {
      seen.push(agent)
      return { kind: 'continue' }
    },
  }
  await runtime.update(config('New.'), { adapter: { resolve: async () => other, secrets: { KEY: keys[1] } }, hooks: [hook] })
  await handle.send(`Keys: ${keys.join(' ')}`)
  await bounded(runtime.sessions.outcome(handle.sessionId))
  expect([first.requests.length, other.requests.length]).toEqual([1, 1])
  expect(other.requests[0]?.system).toBe('New.')
  expect(JSON.stringify(other.requests[0]?.messages)).not.toMatch(/(?:first|second)-key/)
  // An update without them keeps what there is.
  await runtime.update(config('Newer.'))
  await bounded(runtime.run('go'))
  expect([other.requests.length, seen]).toEqual([2, ['clerk', 'clerk']])
})
