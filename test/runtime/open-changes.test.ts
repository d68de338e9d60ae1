import { describe, expect, test } from 'vitest'
import type { InteractionEvent, Model, Outcome, Store, TreeId } from '../../src/contracts/index.ts'
import { type AgentRuntime, createAgentRuntime, type OpenOptions } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ask, type Script, scripted, send } from '../subagents/team.ts'
import { storeOf } from './journals.ts'

const says =
  (text: string): Script =>
  () => ({ text, usage: { input: 100, output: 20 } })
const sends: Script = (_, step) => (step === 1 ? { calls: [{ tool: 'send' }], usage: { input: 100, output: 20 } } : { text: 'Sent.' })
const suspends = { decide: () => 'suspend' as const }

interface DisplayOptions {
  readonly models: { readonly [name: string]: Model }
  readonly store: Store
  readonly more?: object
}

/** A runtime whose clerk asks `a`; only models that are named can be had. */
const runtimeOf = ({ models, store, more = {} }: DisplayOptions): AgentRuntime =>
  createAgentRuntime({
    config: {
      agents: [{ name: 'clerk', description: 'Does things', prompt: 'You are a clerk.', model: 'a' }],
      tools: [{ ...send, execute: () => 'sent' }],
      ...more,
    },
    adapter: {
      resolve(name) {
        const model = models[name]
        if (!model) throw new Error(`no model ${name}`)
        return model
      },
    },
    approver: suspends,
    store,
  })

const model = (name: string, script: Script, more: Partial<Model> = {}): Model => scripted(name, script, more)
const journalOf = async (store: Store, treeId: TreeId): Promise<readonly InteractionEvent[]> => store.journal.read(treeId, 0)
const changesIn = (events: readonly InteractionEvent[]) => events.filter((event) => event.type === 'interaction.session.configured')

async function turn(runtime: AgentRuntime, treeId: TreeId, options?: OpenOptions): Promise<Outcome> {
  const handle = await runtime.open(treeId, options)
  await handle.send('More')
  return handle.outcome
}

describe('a tree at rest that is opened with changes', () => {
  test('a lower limit applies from the next turn on, a higher one lets it continue; the change is recorded first', async () => {
    const store = memoryStore()
    const runtime = runtimeOf({ models: { a: model('a', says('Done.')) }, store })
    const { sessionId: treeId } = await runtime.run('Go')
    const before = (await journalOf(store, treeId)).length
    expect(await turn(runtime, treeId, { limits: { maxTokens: 10 } })).toMatchObject({ status: 'failed', reason: 'tokens' })
    const added = (await journalOf(store, treeId)).slice(before)
    expect(added[0]).toMatchObject({
      type: 'interaction.session.configured',
      agentPath: 'root',
      agent: { limits: { maxTokens: 10 }, models: ['a'], prompt: 'You are a clerk.' },
      reason: 'Resumed with other limits.maxTokens.',
    })
    expect(await turn(runtime, treeId)).toMatchObject({ status: 'failed', reason: 'tokens' })
    // Another process folds the same.
    const later = runtimeOf({ models: { a: model('a', says('Done.')) }, store })
    expect(await turn(later, treeId)).toMatchObject({ status: 'failed', reason: 'tokens' })
    const raised = await turn(later, treeId, { limits: { maxTokens: 90_000 } })
    expect(raised).toMatchObject({ status: 'completed', snapshot: { selectedAgent: { limits: { maxTokens: 90_000 } } } })
    const { snapshot } = await runtimeOf({ models: {}, store }).sessions.outcome(treeId)
    expect(snapshot).toEqual(raised.snapshot)
    expect(changesIn(await journalOf(store, treeId))).toHaveLength(2)
  })

  test('earlier usage of the session is included', async () => {
    const store = memoryStore()
    const runtime = runtimeOf({ models: { a: model('a', says('Done.')) }, store })
    const { sessionId: treeId } = await runtime.run('Go')
    expect(await turn(runtime, treeId, { limits: { maxSessionTokens: 120 } })).toMatchObject({ status: 'failed', reason: 'tokens' })
    expect(await turn(runtime, treeId, { limits: { maxSessionTokens: 50_000 } })).toMatchObject({ status: 'completed' })
  })

  test('what holds already is no change, in whatever order it is said', async () => {
    const store = memoryStore()
    const limits = { maxTokens: 50_000, timeBudget: 60_000 }
    const runtime = runtimeOf({ models: { a: model('a', says('Done.')) }, store, more: { limits } })
    const { sessionId: treeId } = await runtime.run('Go')
    const same = { parameters: {}, limits: { timeBudget: 60_000, maxTokens: 50_000 }, models: ['a'] }
    expect(await turn(runtime, treeId, same)).toMatchObject({ status: 'completed', diagnostics: [] })
    expect(await turn(runtime, treeId, {})).toMatchObject({ status: 'completed', diagnostics: [] })
    expect(changesIn(await journalOf(store, treeId))).toEqual([])
  })

  test('another model is asked with other parameters; the one that is gone is not looked for', async () => {
    const store = memoryStore()
    const { sessionId: treeId } = await runtimeOf({ models: { a: model('a', says('By a.')) }, store }).run('Go')
    const asked: unknown[] = []
    const b = model('b', ({ parameters }) => {
      asked.push(parameters)
      return { text: 'By b.' }
    })
    const options = { models: ['b'], parameters: { temperature: 0.5 } }
    const outcome = await turn(runtimeOf({ models: { b: { ...b, contextTokens: 9_000 } }, store }), treeId, options)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'By b.' } })
    expect(asked).toEqual([{ temperature: 0.5 }])
    expect(changesIn(await journalOf(store, treeId))).toMatchObject([{ agent: options, windows: { b: 9_000 } }])
    // Without being said again.
    expect(await turn(runtimeOf({ models: { b }, store }), treeId)).toMatchObject({ report: { text: 'By b.' } })
  })
})

describe('a tree that waits for a person', () => {
  const waiting = async (store: Store): Promise<TreeId> => {
    const outcome = await runtimeOf({ models: { a: model('a', sends) }, store }).run('Go')
    expect(outcome.status).toBe('suspended')
    return outcome.sessionId
  }
  const approved = async (runtime: AgentRuntime, treeId: TreeId, options: OpenOptions): Promise<Outcome> => {
    const handle = await runtime.open(treeId, options)
    expect(await handle.outcome).toMatchObject({ status: 'suspended' })
    const [request] = await runtime.sessions.requests(treeId)
    if (request) await handle.approve(request.id, { kind: 'approve', breadth: 'once' })
    return runtime.sessions.outcome(treeId)
  }

  test('a lowered limit applies immediately', async () => {
    const store = memoryStore()
    const treeId = await waiting(store)
    const outcome = await approved(runtimeOf({ models: { a: model('a', sends) }, store }), treeId, { limits: { maxToolTurns: 1 } })
    expect(outcome).toMatchObject({ reason: 'steps', usage: { input: 278, output: 22 } })
  })

  test('continues with another model if its own is gone: earlier calls stay done', async () => {
    const store = memoryStore()
    const treeId = await waiting(store)
    const runtime = runtimeOf({ models: { b: model('b', says('Sent, says b.')) }, store })
    expect(await approved(runtime, treeId, { models: ['b'] })).toMatchObject({ status: 'completed', report: { text: 'Sent, says b.' } })
  })
})

test('killed anywhere: the change is the first that is written, once, and holds on the next resume without being said', async () => {
  const whole = memoryStore()
  const plain = { ...send, approval: undefined, effect: 'idempotent' as const }
  const more = { tools: [plain] }
  const { sessionId: treeId } = await runtimeOf({ models: { a: model('a', sends) }, store: whole, more }).run('Go')
  const events = await journalOf(whole, treeId)
  for (let length = 1; length < events.length; length++) {
    const store = await storeOf(events.slice(0, length))
    const asked: string[] = []
    const tells = (name: string): Model =>
      model(name, () => {
        asked.push(name)
        return { text: `By ${name}.` }
      })
    const models = { b: tells('b'), c: tells('c') }
    const changes = { models: ['b', 'c'], limits: { maxTokens: 70_000 } }
    const handle = await runtimeOf({ models, store, more }).open(treeId, changes)
    const hasWork = (await store.trees.get(treeId))?.status === 'running' && events[length - 1]?.type !== 'interaction.session.created'
    if (!hasWork) await handle.send('Go')
    const outcome = await handle.outcome
    const added = (await journalOf(store, treeId)).slice(length)
    expect(added[0], `after ${length} events`).toMatchObject({ type: 'interaction.session.configured', seq: length + 1, agent: changes })
    expect(changesIn(added)).toHaveLength(1)
    // The first of several is asked, whatever was lost with the one before.
    expect(asked.filter((name) => name !== 'b')).toEqual([])
    // Killed again right after the change.
    const again = await storeOf([...events.slice(0, length), ...added.slice(0, 1)])
    const state = await runtimeOf({ models, store: again, more }).sessions.outcome(treeId)
    expect(state.snapshot.selectedAgent).toMatchObject(changes)
    expect(outcome.snapshot.selectedAgent).toEqual(state.snapshot.selectedAgent)
  }
})

describe('invalid changes have no effect, and claim nothing', () => {
  const wrong = async (options: object, models: { readonly [name: string]: Model } = {}) => {
    const store = memoryStore()
    const runtime = runtimeOf({ models: { a: model('a', says('Done.'), { isFree: false } as object), ...models }, store })
    const { sessionId: treeId } = await runtime.run('Go')
    const before = await journalOf(store, treeId)
    const error: unknown = await runtime.open(treeId, options as OpenOptions).catch((thrown: unknown) => thrown)
    expect(await journalOf(store, treeId)).toEqual(before)
    const other = runtimeOf({ models: { a: model('a', says('Done.')) }, store })
    expect(await turn(other, treeId)).toMatchObject({ status: 'completed' })
    return error
  }

  test('reports all problems together', async () => {
    expect(await wrong({ model: 'b', models: [], limits: { maxTokens: 0, maxSteps: 3 }, parameters: { topP: 7 } })).toMatchObject({
      code: 'usage',
      problems: [
        { place: 'options.model', remedy: 'Did you mean "models"?' },
        { place: 'options.models' },
        { place: 'options.limits.maxSteps' },
        { place: 'options.limits.maxTokens' },
        { place: 'options.parameters.topP' },
      ],
    })
    expect(await wrong([1])).toMatchObject({ code: 'usage' })
  })

  test('a model that cannot be had', async () => {
    expect(await wrong({ models: ['nobody'] })).toMatchObject({ code: 'model_unavailable' })
  })

  test('a cost limit over a model without a price', async () => {
    expect(await wrong({ limits: { maxCostUsd: 1 } })).toMatchObject({ code: 'config_invalid', message: /a has no price/ })
  })

  test('a running session is not changed; values that it already has are accepted', async () => {
    const store = memoryStore()
    const runtime = runtimeOf({ models: { a: model('a', says('Done.')) }, store })
    const { sessionId: treeId } = await runtime.run('Go')
    const first = await runtime.open(treeId)
    await expect(runtime.open(treeId, { limits: { maxTokens: 10 } })).rejects.toMatchObject({ code: 'usage', remedy: /open it then/ })
    await runtime.open(treeId, { limits: { maxToolTurns: 10 } })
    await first.send('More')
    expect(await first.outcome).toMatchObject({ status: 'completed' })
  })
})

test('a cost limit that comes later binds children that were begun before it, and those that are begun after', async () => {
  const store = memoryStore()
  const costOf = (): number => 0.4
  const boss = model('boss', (_, step) => (step < 3 ? { calls: [ask('kid', `Task ${step}`)] } : { text: 'All done.' }), { costOf })
  const kid = model('kid', sends, { costOf, isFree: false } as object)
  const member = (name: string, more: object) => ({ name, description: name, prompt: `You are ${name}.`, model: name, tools: [], ...more })
  const agents = [member('boss', { agents: ['kid'] }), member('kid', { tools: ['send'] })]
  const make = (): AgentRuntime =>
    runtimeOf({ models: { boss, kid }, store, more: { agents, agentSelection: { agent: 'boss' }, tools: [send] } })
  const { sessionId: treeId } = await make().run('Go')
  const runtime = make()
  const handle = await runtime.open(treeId, { limits: { maxCostUsd: 100 } })
  for (let count = 0; count < 2; count++) {
    const [request] = await runtime.sessions.requests(treeId)
    if (request) await runtime.sessions.approve(treeId, { approvalId: request.id, decision: { kind: 'approve', breadth: 'session' } })
  }
  await handle.outcome
  await runtime.sessions.outcome(treeId)
  const events = await journalOf(store, treeId)
  expect(changesIn(events)).toMatchObject([
    { agentPath: 'root', prices: { boss: {} } },
    { agentPath: 'root/kid#1', prices: { kid: {} }, reason: 'An ancestor has a cost limit now.' },
  ])
  const born = events.filter((event) => event.type === 'interaction.session.created').map(({ prices }) => prices)
  expect(born).toMatchObject([undefined, undefined, { kid: {} }])
})
