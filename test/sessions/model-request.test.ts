import { beforeAll, describe, expect, it } from 'vitest'
import type { InteractionEvent, Model, ModelRequest, SessionId, Store, TreeId } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource, sequentialIds } from '../../src/testing/index.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { expectSame, rebuilt, startedSteps, watched } from '../fixtures/rebuilt-requests.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { storeOf } from '../runtime/journals.ts'
import { settle } from '../settle.ts'
import { ask, type Said, team } from '../subagents/team.ts'
import { eventfulSession, eventfulTeam } from './eventful-session.ts'

const journalOf = async (store: Store, id: SessionId) => store.journal.read(id as TreeId, 0)
const offersIn = (events: readonly InteractionEvent[]) => events.filter(({ type }) => type === 'interaction.offer.recorded')
const namedIn = (events: readonly InteractionEvent[]) => startedSteps(events).flatMap(({ offer }) => (offer ? [offer] : []))
const look = tool('look', { effect: 'read', instructions: 'Look before you leap.', execute: ({ q }) => `saw ${String(q)}` })
const looking: ScriptedStepSource = { calls: [{ tool: 'look', input: { q: 'box', reason: 'To know' } }] }

describe('the model requests of a session with children, retries, a compaction, pictures and questions', () => {
  const sent: ModelRequest[] = []
  let store: Store
  let id: TreeId
  beforeAll(async () => {
    store = memoryStore({ keepSessions: 1_000 })
    id = await eventfulSession(store, { wrap: (model) => watched(model, sent) })
  })

  it('are rebuilt as they were sent', async () => {
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('later') })
    const found = await rebuilt(runtime, id as never)
    expect(found.length).toBeGreaterThan(15)
    expectSame(found, sent)
    const events = await journalOf(store, id as never)
    expect(startedSteps(events).some(({ attempt }) => attempt > 1)).toBe(true)
    expect(startedSteps(events).some(({ compacts }) => compacts)).toBe(true)
    expect(new Set(startedSteps(events).map(({ sessionId }) => sessionId)).size).toBeGreaterThan(3)
    expect(JSON.stringify(sent)).toContain(pngBase64)
    await runtime.close()
  })

  it('are rebuilt in a fork after every step, as are those that the fork sends itself', async () => {
    const events = await journalOf(store, id as never)
    const original = await rebuilt(eventfulTeam(store).runtime, id as never)
    const requests: ModelRequest[] = []
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork'), wrap: (model) => watched(model, requests) })
    for (const { seq } of startedSteps(events).filter((_, index) => index % 4 === 0)) {
      requests.length = 0
      const forkId = await runtime.sessions.fork(id, { seq })
      await runtime.sessions.send(forkId, 'What now?')
      await runtime.sessions.outcome(forkId)
      const found = await rebuilt(runtime, forkId)
      const copied = startedSteps(events.slice(0, seq)).length
      expectSame(found.slice(0, copied), original.slice(0, copied))
      expectSame(found.slice(copied), requests)
    }
    await runtime.close()
  })
})

describe('what is recorded of tools', () => {
  it('is stored once for the session and its children, and named by a step only when it changes', async () => {
    const store = memoryStore()
    const scout = { script: (): Said => ({ text: 'Nothing.' }), tools: ['look'] }
    const lead = {
      agents: ['scout'],
      tools: ['look'],
      script: (_: ModelRequest, step: number): Said =>
        step < 4
          ? { calls: [ask('scout', `a${step}`), ask('scout', `b${step}`), { tool: 'look', input: { q: `${step}` } }] }
          : { text: 'Done.' },
    }
    const { runtime } = team({ lead, scout }, { store, tools: [look] })
    const { sessionId } = await runtime.run('Go')
    await runtime.sessions.send(sessionId, 'Again')
    await runtime.sessions.outcome(sessionId)
    const events = await journalOf(store, sessionId)
    // One for the lead, which may call the scout, and one for all scouts.
    expect(offersIn(events)).toHaveLength(2)
    const steps = startedSteps(events)
    expect(steps.filter(({ agentPath, offer }) => agentPath === 'root' && offer)).toHaveLength(1)
    expect(new Set(namedIn(events).map(({ hash }) => hash)).size).toBe(2)
    expect(namedIn(events)).toHaveLength(new Set(steps.map((step) => step.sessionId)).size)
  })

  it('costs nothing in the journal while it is the same, also in a new process', async () => {
    const folder = await dataFolder()
    const steps = () => [looking, { text: 'First.' }]
    const first = runtimeWith(new ScriptedModel(steps()), { store: folder.open(), tools: [look] })
    const { sessionId } = await first.run('one')
    await first.close()
    const store = folder.open()
    const model = new ScriptedModel([...steps(), { text: 'More.' }])
    const second = runtimeWith(model, { store, tools: [look] })
    await (await second.open(sessionId)).release()
    await second.sessions.send(sessionId, 'two')
    const handle = await second.open(sessionId)
    await handle.outcome
    const events = await journalOf(store, sessionId)
    expect(startedSteps(events)).toHaveLength(4)
    expect([offersIn(events).length, namedIn(events).length]).toEqual([1, 1])
    expectSame((await rebuilt(second, sessionId)).slice(2), model.requests)
    await second.close()
  })

  it('changes with the tools of a later turn; tools that come back are not stored again', async () => {
    const store = memoryStore()
    const model = new ScriptedModel([{ text: '1' }, { text: '2' }, { text: '3' }])
    const config = (tools: readonly ReturnType<typeof tool>[]) => ({
      agents: [{ name: 'clerk', description: 'Looks', prompt: 'You are a clerk.', model: 'any' }],
      tools,
    })
    const runtime = createAgentRuntime({ config: config([look]), adapter: model, store })
    const { sessionId } = await runtime.run('one')
    for (const tools of [[look, tool('save')], [look]]) {
      await runtime.update(config(tools))
      await runtime.sessions.send(sessionId, 'next')
      await runtime.sessions.outcome(sessionId)
    }
    const events = await journalOf(store, sessionId)
    expect([offersIn(events).length, namedIn(events).length]).toEqual([2, 3])
    const found = await rebuilt(runtime, sessionId)
    expectSame(found, model.requests)
    expect(found.map(({ tools }) => tools.length)).toEqual([1, 2, 1])
  })

  it('has no secret: it is redacted there, as everywhere in the journal', async () => {
    const leaky = tool('look', { description: 'Use the key sk-very-secret-0001.' })
    const store = memoryStore()
    const adapter = { secrets: { SOME_API_KEY: 'sk-very-secret-0001' }, resolve: () => new ScriptedModel([{ text: 'Done.' }]) }
    const agents = [{ name: 'clerk', description: 'Looks', prompt: 'You are a clerk.', model: 'any' }]
    const runtime = createAgentRuntime({ config: { agents, tools: [leaky] }, adapter, store })
    const { sessionId } = await runtime.run('one')
    expect(JSON.stringify(await journalOf(store, sessionId))).not.toContain('sk-very-secret')
    const [request] = await rebuilt(runtime, sessionId)
    expect(request?.tools[0]?.description).toBe('Use the key [redacted:SOME_API_KEY].')
  })
})

describe('a model request', () => {
  const failure = { class: 'network', message: 'The line is dead.' } as const

  it('of a fallback has what that model reads: no tools for one without, pictures for one that sees', async () => {
    const requests: ModelRequest[] = []
    const models: { readonly [name: string]: Model } = {
      blind: new ScriptedModel([{ fault: { class: 'auth', message: 'no' } }], { id: 'p/blind', abilities: [] }),
      seeing: new ScriptedModel([looking, { text: 'A dot.' }], { id: 'p/seeing', abilities: ['tools', 'images'] }),
    }
    const agents = [{ name: 'clerk', description: 'Looks', prompt: 'You are a clerk.', models: ['blind', 'seeing'] }]
    const runtime = createAgentRuntime({
      config: { agents, tools: [look] },
      adapter: { resolve: (name) => watched(models[name]!, requests) },
    })
    const { sessionId, status } = await runtime.run([
      { type: 'text', text: 'What is this?' },
      { type: 'image', mediaType: 'image/png', data: pngBase64 },
    ])
    expect(status).toBe('completed')
    const found = await rebuilt(runtime, sessionId)
    expectSame(found, requests)
    expect(found.map(({ tools }) => tools.length)).toEqual([0, 1, 1])
    const [first, second] = await Promise.all(
      [1, 2].map((attempt) => runtime.sessions.modelRequest(sessionId, { stepId: 't1.s1', attempt })),
    )
    expect([first?.tools.length, second?.tools.length]).toEqual([0, 1])
    expect(await runtime.sessions.modelRequest(sessionId, { stepId: 't1.s1' })).toEqual(second)
  })

  it('under a budget has the output limit of its reservation, and the last one no tools to choose', async () => {
    const usage = { input: 100, output: 20 }
    const model = new ScriptedModel([{ ...looking, usage } as never, { ...looking, usage } as never, { text: 'Ink.', usage }])
    const runtime = runtimeWith(model, { tools: [look], limits: { maxTokens: 20_000, maxToolTurns: 2 } })
    const { sessionId } = await runtime.run('What is in the box?')
    const found = await rebuilt(runtime, sessionId)
    expectSame(found, model.requests)
    expect(found.every(({ parameters }) => typeof parameters.maxOutputTokens === 'number')).toBe(true)
    expect(found.at(-1)?.toolChoice).toBe('none')
  })

  it('that was repeated with JSON to correct, or after its network failed', async () => {
    const schema = { type: 'object', properties: { ink: { type: 'boolean' } }, required: ['ink'], additionalProperties: false }
    const output = { format: 'json', schema } as const
    const agents = [{ name: 'clerk', description: 'Looks', prompt: 'You are a clerk.', model: 'any', output }]
    const clock = new FakeClock()
    const model = new ScriptedModel([{ fault: failure }, { text: '{"ink":7}' }, { text: '{"ink":true}' }])
    const runtime = runtimeWith(model, { tools: [look], config: { agents }, clock })
    const { sessionId } = await settle(runtime.run('Is there ink?'), clock)
    const found = await rebuilt(runtime, sessionId)
    expectSame(found, model.requests)
    expect(found.map(({ output: wanted }) => wanted)).toEqual(Array.from({ length: 3 }, () => ({ schema })))
  })

  it('of 5 MB is rebuilt', async () => {
    const model = new ScriptedModel([{ text: 'Long.' }])
    const runtime = runtimeWith(model, { tools: [look] })
    const { sessionId } = await runtime.run('ink '.repeat(1_250_000))
    expectSame(await rebuilt(runtime, sessionId), model.requests)
  })

  it('that does not exist is named, with what there is', async () => {
    const runtime = runtimeWith(new ScriptedModel([looking, { text: 'Ink.' }]), { tools: [look] })
    const { sessionId } = await runtime.run('Look')
    const refused = (place: object) => runtime.sessions.modelRequest(sessionId, place as never)
    await expect(refused({ stepId: 't1.s9' })).rejects.toMatchObject({ code: 'step_unknown', remedy: expect.stringContaining('t1.s1') })
    await expect(refused({ stepId: 't1.s1', attempt: 2 })).rejects.toMatchObject({ code: 'step_unknown', remedy: 'Use one of: 1.' })
    await expect(refused({ stepId: 't1.s1', sessionId: 'nobody' })).rejects.toMatchObject({ code: 'step_unknown' })
    await expect(runtime.sessions.modelRequest('nobody', { stepId: 't1.s1' })).rejects.toMatchObject({ code: 'session_unknown' })
    for (const place of [{}, { stepId: '' }, { stepId: 't1.s1', attempt: 0 }, { stepId: 't1.s1', child: 'x' }])
      await expect(refused(place)).rejects.toMatchObject({ code: 'usage' })
  })

  it('of an older journal is not made up: its tools were not recorded; the session goes on, and its next request is', async () => {
    const source = memoryStore()
    const first = runtimeWith(new ScriptedModel([looking, { text: 'Ink.' }]), { store: source, tools: [look] })
    const { sessionId } = await first.run('Look')
    const older = (await journalOf(source, sessionId))
      .filter(({ type }) => type !== 'interaction.offer.recorded')
      .map((event, index): InteractionEvent => {
        if (event.type !== 'interaction.step.started') return { ...event, seq: index + 1 }
        const { offer: _, ...step } = event
        return { ...step, seq: index + 1 }
      })
    const store = await storeOf(older)
    const model = new ScriptedModel([{ text: 'Still ink.' }])
    const runtime = runtimeWith(model, { store, tools: [look] })
    await expect(runtime.sessions.modelRequest(sessionId, { stepId: 't1.s1' })).rejects.toMatchObject({
      code: 'request_not_recorded',
      message: expect.stringContaining('tools of step t1.s1 were not recorded'),
    })
    await runtime.sessions.send(sessionId, 'And now?')
    await (await runtime.open(sessionId)).outcome
    expectSame([await runtime.sessions.modelRequest(sessionId, { stepId: 't2.s1' })], model.requests)
  })
})
