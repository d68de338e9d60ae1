import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Message, Principal, SessionId, StartOptions, Store, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { agent, bounded, elapsing, journalOf, type Setup, tool, until, world } from '../acceptance/support.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { changedStore } from './changed-store.ts'
import { windowed } from './windows.ts'

// `sessions.start` and `sessions.send` with options, over both stores. Two worlds on one store are two processes.

const ann: Principal = { id: 'token:ann', kind: 'token', name: 'Ann' }
const bob: Principal = { id: 'token:bob', kind: 'token' }

const stores: { readonly [name: string]: () => Promise<() => Store> } = {
  memory: async () => {
    const store = memoryStore()
    return () => store
  },
  SQLite: async () => {
    const folder = await dataFolder()
    return () => folder.open()
  },
}

const text = (role: 'user' | 'assistant', said: string): Message => ({ role, parts: [{ type: 'text', text: said }] })
const answers = (...texts: string[]): ScriptedStepSource[] => texts.map((said) => ({ text: said }))
const seeded: Message[] = [
  text('user', 'What is the weather?'),
  { role: 'assistant', parts: [{ type: 'call', id: 'c1', name: 'weather', input: '{"city":"Oslo"}' }] },
  { role: 'tool', results: [{ id: 'c1', name: 'weather', ok: true, content: 'Rain.' }] },
  text('assistant', 'It rains.'),
]

async function created({ store }: { readonly store: Store }, sessionId: SessionId) {
  const [first] = await journalOf(store, sessionId as TreeId)
  if (first?.type !== 'interaction.session.created') throw new Error('the journal has no beginning')
  return first
}

describe.each(Object.entries(stores))('sessions.start with the %s store', (_, prepare) => {
  const setUp = async () => {
    const open = await prepare()
    return (setup: Setup = {}) => world({ store: open(), ...setup })
  }

  it('records who opened it, its key and its labels', async () => {
    const at = (await setUp())({ steps: answers('Done.') })
    const { sessions } = at.runtime
    const sessionId = await sessions.start('Good morning', { principal: ann, key: 'slack:1', labels: ['a', 'b', 'a'] })
    expect(await created(at, sessionId)).toMatchObject({ principal: ann })
    expect(await sessions.outcome(sessionId)).toMatchObject({ report: { text: 'Done.' } })
    expect(await sessions.get(sessionId)).toMatchObject({ owner: 'token:ann', key: 'slack:1', labels: ['a', 'b'], title: 'Good morning' })
  })

  it('takes an input with a client id once: at the same time, later, and in another process', async () => {
    const open = await setUp()
    const [one, two] = [open({ steps: answers('Done.') }), open()]
    const options: StartOptions = { principal: ann, clientId: 'request-1' }
    const starting = [one, one, one].map(({ runtime }) => runtime.sessions.start('Go.', options))
    const [sessionId, ...others] = await bounded(Promise.all(starting))
    expect(new Set([sessionId, ...others]).size).toBe(1)
    await one.runtime.sessions.outcome(sessionId as SessionId)
    expect(await one.runtime.sessions.start('Go.', options)).toBe(sessionId)
    expect(await two.runtime.sessions.start('Go.', options)).toBe(sessionId)
    expect(one.model.requests).toHaveLength(1)
    const others2 = { principal: bob, clientId: 'request-1' }
    expect(await open({ steps: answers('Done.') }).runtime.sessions.start('Go.', others2)).not.toBe(sessionId)
  })

  it('waits for another process that has begun the same', async () => {
    const open = await setUp()
    const store = open().store
    const [hold, claimed] = [gate(), gate()]
    const slow = changedStore(store, {
      append: async (batch) => {
        claimed.open()
        await hold.promise
        return store.journal.append(batch)
      },
    })
    const first = world({ store: slow, steps: answers('Done.') })
    const options: StartOptions = { principal: ann, clientId: 'request-2' }
    const starting = first.runtime.sessions.start('Go.', options)
    await claimed.promise
    const second = world({ store })
    const waiting = second.runtime.sessions.start('Go.', options)
    hold.open()
    const sessionId = await bounded(starting)
    expect(await bounded(waiting)).toBe(sessionId)
    expect(second.model.requests).toHaveLength(0)
  })

  it('returns the session with a key, also if two calls race, and never that of another owner', async () => {
    const open = await setUp()
    const store = open().store
    const one = world({ store, steps: answers('Done.') })
    const two = world({ store, steps: answers('Done.') })
    const options: StartOptions = { principal: ann, key: 'thread-1' }
    const ids = await bounded(Promise.all([one, two, one].map(({ runtime }) => runtime.sessions.start('Go.', options))))
    expect(new Set(ids).size).toBe(1)
    await one.runtime.sessions.outcome(ids[0] as SessionId)
    expect(one.model.requests.length + two.model.requests.length).toBe(1)
    expect(await store.trees.list()).toHaveLength(1)
    const refused = two.runtime.sessions.start('Go.', { principal: bob, key: 'thread-1' })
    await expect(refused).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('another owner') })
    await expect(two.runtime.sessions.start('Go.', { key: 'thread-1' })).rejects.toMatchObject({ code: 'usage' })
  })

  it('puts the history of the client before its first turn, with bytes in the blob store', async () => {
    const model = new ScriptedModel(answers('Sunny.'), { abilities: ['tools', 'images'] })
    const at = (await setUp())({ adapter: model })
    const history: Message[] = [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Look.' },
          { type: 'image', mediaType: 'image/png', data: pngBase64 },
        ],
      },
      ...seeded.slice(1, 2),
      {
        role: 'tool',
        results: [
          {
            id: 'c1',
            name: 'weather',
            ok: true,
            content: 'A picture.',
            parts: [{ type: 'image', mediaType: 'image/png', data: pngBase64, blob: '' as never, bytes: 0 }],
          },
        ],
      },
    ]
    const sessionId = await at.runtime.sessions.start('And tomorrow?', { history, clientId: 'h' })
    await at.runtime.sessions.outcome(sessionId)
    const journal = await journalOf(at.store, sessionId as TreeId)
    expect(JSON.stringify(journal)).not.toContain(pngBase64.slice(0, 40))
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(JSON.stringify(model.requests[0]?.messages)).toContain(pngBase64.slice(0, 40))
    expect(journal.filter(({ type }) => type === 'interaction.history.added')).toHaveLength(1)
    expect(await at.runtime.sessions.get(sessionId)).toMatchObject({ title: 'And tomorrow?' })
    // Another process folds the same.
    await at.runtime.close()
    const later = world({ store: at.store, steps: answers('Yes.') })
    await later.runtime.open(sessionId)
    await later.runtime.sessions.send(sessionId, 'Sure?')
    await later.runtime.sessions.outcome(sessionId)
    expect(later.model.requests[0]?.messages).toHaveLength(6)
  })

  it('keeps the settings of the caller when the session is opened again and the definition changes', async () => {
    const open = await setUp()
    const one = open({ steps: answers('Done.', 'Done.'), limits: { maxToolTurns: 5 } })
    const options: StartOptions = {
      instructions: 'Be brief.',
      limits: { maxToolTurns: 9, maxTokens: 7_000 },
      parameters: { temperature: 0.3 },
      output: { format: 'json', schema: { type: 'object' } },
    }
    const json = { steps: answers('{}', '{}') }
    const at = world({ store: one.store, ...json, limits: { maxToolTurns: 5 } })
    const sessionId = await at.runtime.sessions.start('Go.', options)
    await at.runtime.sessions.outcome(sessionId)
    const first = await created(at, sessionId)
    expect(first.changes).toEqual({
      lowered: { maxToolTurns: 9, maxTokens: 7_000 },
      parameters: { temperature: 0.3 },
      instructions: 'Be brief.',
      output: { format: 'json', schema: { type: 'object' } },
    })
    expect(first.agent).toMatchObject({
      prompt: 'You are a clerk.\n\nBe brief.',
      limits: { maxToolTurns: 5, maxTokens: 7_000 },
      parameters: { temperature: 0.3 },
      output: { format: 'json' },
      saysOutput: true,
    })
    await at.runtime.close()
    const changed = { agents: [{ ...agent, prompt: 'You are a cook.' }] }
    const later = world({ store: at.store, ...json, limits: { maxToolTurns: 12, maxTokens: 100 }, config: changed })
    await later.runtime.open(sessionId)
    await later.runtime.sessions.send(sessionId, 'Again.')
    expect(await later.runtime.sessions.outcome(sessionId)).toMatchObject({
      snapshot: {
        selectedAgent: {
          prompt: 'You are a cook.\n\nBe brief.',
          // The lower of both.
          limits: { maxToolTurns: 9, maxTokens: 100 },
          parameters: { temperature: 0.3 },
          output: { format: 'json' },
        },
      },
    })
    // Nothing has changed: nothing is recorded.
    const events = await journalOf(at.store, sessionId as TreeId)
    expect(events.filter(({ type }) => type === 'interaction.session.configured')).toHaveLength(1)
  })

  it('leaves nothing behind when it cannot start', async () => {
    const at = (await setUp())({ steps: answers('Done.') })
    const image = { type: 'image', mediaType: 'image/png', data: 'data:image/png;base64,' } as const
    await expect(at.runtime.sessions.start([image], { key: 'k' })).rejects.toMatchObject({ code: 'usage' })
    await expect(at.runtime.sessions.start('Go.', { models: ['missing/model'], limits: { maxCostUsd: 1 } })).rejects.toThrow()
    expect(await at.store.trees.list()).toEqual([])
    expect(await at.store.trees.find('k')).toBeUndefined()
  })
})

it('finds another input under a client id behind many texts of the context', async () => {
  const context = Array.from({ length: 20 }, (_, index) => ({ source: `file ${index}`, text: `Text ${index}.` }))
  const { runtime } = world({ steps: answers('Done.'), config: { context } })
  const id = await runtime.sessions.start('Go.', { clientId: 'c' })
  await runtime.sessions.outcome(id)
  expect(await runtime.sessions.start('Go.', { clientId: 'c' })).toBe(id)
  await expect(runtime.sessions.start('Stay.', { clientId: 'c' })).rejects.toMatchObject({ code: 'client_id_taken' })
})

it('starts a session whose process died between its claim and the first event', async () => {
  const options: StartOptions = { principal: ann, clientId: 'request-3' }
  const treeId = await world({ steps: answers('Done.') }).runtime.sessions.start('Go.', options)
  const folder = await dataFolder()
  const program = fileURLToPath(new URL('../fixtures/store-driver.ts', import.meta.url))
  const other = spawn(process.execPath, [program, folder.path, treeId, 'echo'], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void other.kill('SIGKILL'))
  await once(other.stdout, 'data')
  const { runtime, clock } = world({ store: folder.open({ timing: { pollMs: 5 } }), steps: answers('Done.') })
  const starting = runtime.sessions.start('Go.', options)
  await until('it waits', () => clock.pending > 0)
  other.kill('SIGKILL')
  await once(other, 'close')
  expect(await elapsing(clock, starting)).toBe(treeId)
  expect(await runtime.sessions.outcome(treeId)).toMatchObject({ report: { text: 'Done.' } })
})

describe('sessions.send with settings', () => {
  it('applies them from the next turn on, and keeps them', async () => {
    const hold = gate()
    const steps: ScriptedStepSource[] = [{ wait: hold.promise, text: 'One.' }, ...answers('Two.', 'Three.')]
    const at = world({ steps, limits: { maxToolTurns: 5 } })
    const { sessions } = at.runtime
    const sessionId = await sessions.start('One?')
    await sessions.send(sessionId, 'Two?', { parameters: { temperature: 0.1 }, limits: { maxToolTurns: 2, maxTokens: 9_000 } })
    hold.open()
    await sessions.outcome(sessionId)
    await sessions.send(sessionId, 'Three?', { limits: { maxToolTurns: 50 } })
    const { snapshot } = await sessions.outcome(sessionId)
    expect(at.model.requests.map(({ parameters }) => parameters.temperature)).toEqual([undefined, 0.1, 0.1])
    expect(snapshot).toMatchObject({ selectedAgent: { limits: { maxToolTurns: 5, maxTokens: 9_000 } } })
    const journal = await journalOf(at.store, sessionId as TreeId)
    const order = journal.flatMap(({ type }) => (/configured|turn.started/.test(type) ? [type.slice('interaction.'.length)] : []))
    expect(order.filter((type) => type === 'turn.started')).toHaveLength(3)
    // Recorded with the message, and adopted before its turn.
    expect(order.slice(0, 4)).toEqual(['turn.started', 'session.configured', 'session.configured', 'turn.started'])
  })

  it('replaces instructions and output, or returns to those of the agent', async () => {
    const at = world({ steps: answers('One.', '{}', 'Three.') })
    const { sessions } = at.runtime
    const sessionId = await sessions.start('One?', { instructions: 'Be brief.' })
    await sessions.outcome(sessionId)
    await sessions.send(sessionId, 'Two?', { instructions: 'Be kind.', output: { format: 'json', schema: { type: 'object' } } })
    expect(await sessions.outcome(sessionId)).toMatchObject({ report: { format: 'json', value: {} } })
    await sessions.send(sessionId, 'Three?', { instructions: '', output: null })
    expect(await sessions.outcome(sessionId)).toMatchObject({ report: { text: 'Three.' } })
    expect(at.model.requests.map(({ system, output }) => [system.split('\n\n')[1], output?.schema])).toEqual([
      ['Be brief.', undefined],
      ['Be kind.', { type: 'object' }],
      [undefined, undefined],
    ])
    for (const wrong of [{ instructions: 7 }, { output: { format: 'yaml' } }])
      await expect(sessions.send(sessionId, 'Four?', wrong as object)).rejects.toMatchObject({ code: 'usage' })
  })

  it('survive a process that dies before the turn begins', async () => {
    const at = world({ steps: answers('One.') })
    const sessionId = await at.runtime.sessions.start('One?')
    await at.runtime.sessions.outcome(sessionId)
    await at.runtime.close()
    const waiting = world({ store: at.store })
    expect(await waiting.runtime.sessions.send(sessionId, 'Two?', { parameters: { seed: 7 } })).toMatchObject({ driven: false })
    const later = world({ store: at.store, steps: answers('Two.') })
    await later.runtime.open(sessionId, { definitions: 'pin' })
    await later.runtime.sessions.outcome(sessionId)
    expect(later.model.requests[0]?.parameters).toMatchObject({ seed: 7 })
  })

  it('are refused for a session of another process, for a child, and if no model has that name', async () => {
    const hold = gate()
    const at = world({ steps: [{ wait: hold.promise, text: 'One.' }] })
    const sessionId = await at.runtime.sessions.start('One?')
    const other = world({ store: at.store })
    const limits = { maxTokens: 10 }
    await expect(other.runtime.sessions.send(sessionId, 'Two?', { limits })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('driven by another process'),
    })
    await expect(at.runtime.sessions.send(sessionId, 'Two?', { limits, to: 'root/a#1' })).rejects.toMatchObject({ code: 'usage' })
    const unknown = { resolve: (name: string) => (name === 'scripted/model' ? at.model : Promise.reject(new Error('no such model'))) }
    const third = world({ store: at.store, adapter: unknown })
    hold.open()
    await at.runtime.sessions.outcome(sessionId)
    await at.runtime.close()
    await expect(third.runtime.sessions.send(sessionId, 'Two?', { models: ['missing/model'] })).rejects.toThrow(/missing\/model/)
    expect(await at.store.inbox.read(sessionId as TreeId, 0)).toEqual([])
  })
})

describe('the history of a client', () => {
  it.each<[string, unknown, RegExp]>([
    ['a call without its result', seeded.slice(0, 2), /options\.history\[1\]: the call "c1" has no result/],
    ['a result without its call', seeded.slice(2), /options\.history\[0\]: the result "c1" belongs to no call/],
    [
      'a result after another message',
      [...seeded.slice(0, 2), text('user', 'x'), seeded[2]],
      /history\[1\].*no result(?:.|\n)*history\[3\].*no call/,
    ],
    ['a system message', [{ role: 'system', parts: [] }], /history\[0\]\.role.*found "system".*options\.instructions/],
    ['an empty message', [{ role: 'assistant', parts: [] }], /history\[0\]\.parts: expected a list of text, reasoning and call/],
    ['a stored part', [{ role: 'user', parts: [{ type: 'image', mediaType: 'image/png', data: 'blob:x' }] }], /history\[0\]\.parts/],
    ['no list', {}, /expected a list of messages/],
    ['too many messages', Array.from({ length: 10_001 }, () => seeded[0]), /at most 10000/],
    ['too much text', [text('user', 'x'.repeat(17_000_000))], /at most 16777216/],
  ])('is refused with %s', async (_, history, message) => {
    const { runtime, store } = world()
    await expect(runtime.sessions.start('Go.', { history: history as never })).rejects.toThrow(message)
    expect(await store.trees.list()).toEqual([])
  })

  it('may have its results in several messages, and holds nothing but known fields', async () => {
    const { runtime, model } = world({ steps: answers('Done.') })
    const calls = ['a', 'b'].map((id) => ({ type: 'call', id, name: 'look', input: '{}' }) as const)
    const result = (id: string) =>
      ({ role: 'tool', results: [{ id, name: 'look', ok: true, content: id, extra: 1 }] }) as unknown as Message
    const history: Message[] = [text('user', 'x\ud800'), { role: 'assistant', parts: calls }, result('b'), result('a')]
    await runtime.sessions.outcome(await runtime.sessions.start('Go.', { history }))
    expect(model.requests[0]?.messages.slice(0, 3)).toEqual([
      text('user', 'x\ufffd'),
      { role: 'assistant', parts: calls },
      { role: 'tool', results: ['b', 'a'].map((id) => ({ id, name: 'look', ok: true, content: id })) },
    ])
  })

  it('has no secrets, like the instructions', async () => {
    const at = world({ steps: answers('Done.') })
    const overlay = { API_TOKEN: 'very-secret-value' }
    const history: Message[] = seeded.map((message) => JSON.parse(JSON.stringify(message).replaceAll('Rain.', 'very-secret-value')))
    const secret = { instructions: 'Use very-secret-value.', labels: ['very-secret-value'] }
    const sessionId = await at.runtime.sessions.start('Go.', { overlay, history, ...secret })
    expect(await at.runtime.sessions.get(sessionId)).toMatchObject({ labels: ['[redacted:API_TOKEN]'] })
    await at.runtime.sessions.outcome(sessionId)
    const stored = JSON.stringify(await journalOf(at.store, sessionId as TreeId))
    expect(stored).not.toContain('very-secret-value')
    expect(stored.split('[redacted:API_TOKEN]')).toHaveLength(4)
  })

  it('is compacted like any other', async () => {
    const model = windowed(4_000, [{ text: 'A summary.' }, { text: 'Done.' }])
    const at = world({ adapter: model })
    const history = Array.from({ length: 20 }, (_, i) => text(i % 2 === 0 ? 'user' : 'assistant', `${i} ${'word '.repeat(250)}`))
    const sessionId = await at.runtime.sessions.start('And now?', { history })
    expect(await at.runtime.sessions.outcome(sessionId)).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    const journal = await journalOf(at.store, sessionId as TreeId)
    expect(journal.map(({ type }) => type)).toContain('interaction.context.compacted')
    expect(await at.runtime.sessions.get(sessionId)).toMatchObject({ title: 'And now?' })
  })
})

it('a limit of money that only the caller sets is reserved, and refused for a model without a price', async () => {
  const model = Object.assign(new ScriptedModel(answers('Done.')), { costOf: () => 0.01 })
  const at = world({ adapter: model })
  const sessionId = await at.runtime.sessions.start('Go.', { limits: { maxCostUsd: 1 } })
  await at.runtime.sessions.outcome(sessionId)
  const step = (await journalOf(at.store, sessionId as TreeId)).find((event) => event.type === 'interaction.step.started')
  expect(step).toMatchObject({ reservation: { costUsd: expect.any(Number) } })
  await expect(world().runtime.sessions.start('Go.', { limits: { maxCostUsd: 1 } })).rejects.toThrow(/price/)
})

it('tools, hooks and approvers know the session and who opened it, also in children', async () => {
  const seen: object[] = []
  const note = (from: string, { treeId, sessionId, agentPath, principal }: Partial<Record<string, unknown>>) =>
    seen.push({ from, treeId, sessionId, agentPath, principal })
  const look = tool('look', {
    approval: () => ({ summary: 'Look', keys: [{ key: 'look', label: 'look' }] }),
    execute: (_, context) => {
      note('tool', context as never)
      return 'seen'
    },
  })
  const helper = { name: 'helper', description: 'Helps', prompt: 'Help.', model: 'scripted/model', tools: ['look'] }
  const at = world({
    steps: [
      { calls: [{ tool: 'agent__helper', input: { prompt: 'Look.' } }] },
      { calls: [{ tool: 'look' }] },
      ...answers('Seen.', 'Done.'),
    ],
    tools: [look],
    config: { agents: [{ ...agent, agents: ['helper'] }, helper], agentSelection: { agent: 'clerk' } },
    approver: {
      decide: (_request, _signal, place) => {
        note('approver', place as never)
        return { decision: { kind: 'approve', breadth: 'once' }, by: 'test' }
      },
    },
    hooks: [{ name: 'h', onFailure: 'open', tools: ['look'], beforeCall: (_, context) => void note('hook', context as never) as never }],
  })
  const treeId = await at.runtime.sessions.start('Go.', { principal: ann })
  expect(await at.runtime.sessions.outcome(treeId)).toMatchObject({ status: 'completed' })
  const child = { treeId, sessionId: expect.stringMatching(`^${treeId}/`), agentPath: 'root/helper#1', principal: ann }
  expect(seen).toEqual(['hook', 'approver', 'tool'].map((from) => ({ from, ...child })))
})

it.each<[string, unknown, RegExp]>([
  ['an unknown key', { owner: 'x' }, /options\.owner: unknown key/],
  ['a principal without a kind', { principal: { id: 'x' } }, /options\.principal\.kind/],
  ['labels that are no texts', { labels: [1] }, /options\.labels/],
  ['an empty key', { key: '' }, /options\.key/],
  ['an unknown limit', { limits: { maxToken: 1 } }, /options\.limits\.maxToken: unknown key. Did you mean "maxTokens"/],
  ['a wrong output', { output: { format: 'xml' } }, /options\.output/],
  ['a wrong schema', { output: { format: 'json', schema: { type: 'objekt' } } }, /options\.output\.schema/],
  ['empty instructions', { instructions: '' }, /options\.instructions/],
])('is refused with %s', async (_, options, message) => {
  await expect(world().runtime.sessions.start('Go.', options as never)).rejects.toThrow(message)
})

it('an agent names the parameters that callers of a server can set', () => {
  const agents = [{ ...agent, overrides: ['seed', 'topP', 'seed'] as const }]
  expect(world({ config: { agents } }).runtime.sessions.agents()).toMatchObject([{ overrides: ['seed', 'topP'] }])
  expect(world().runtime.sessions.agents()).toMatchObject([{ overrides: [] }])
  expect(() => world({ config: { agents: [{ ...agent, overrides: ['cache'] as never }] } })).toThrow(
    /overrides: expected a list of temperature/,
  )
})
