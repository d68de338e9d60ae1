import { describe, expect, test, vi } from 'vitest'
import type { Outcome, StreamEvent } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel } from '../../src/testing/index.ts'
import {
  agent,
  bounded,
  collect,
  durable,
  elapsing,
  expectLegal,
  expectWhole,
  finish,
  firstTree,
  inProcess,
  journalOf,
  objectSchema,
  ofType,
  rawModel,
  textReply,
  tool,
  until,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const word = objectSchema({ word: { type: 'string' } }, ['word'])

describe('core.md: Every item and every turn ends once', () => {
  test('invariant 5: each started item reaches exactly one terminal status, in a step with every kind of call', async () => {
    const { runtime, model, store } = world({
      steps: [
        {
          reasoning: 'Let me see.',
          text: 'I look.',
          calls: [
            { tool: 'good', input: { word: 'a' } },
            { tool: 'bad', input: { word: 'b' } },
            { tool: 'throws', input: { word: 'c' } },
            { tool: 'goood', input: {} },
            { tool: 'good', input: '{{{{' },
            { tool: 'asks', input: {} },
          ],
        },
        { text: 'Done.' },
      ],
      tools: [
        tool('good', { schema: word, concurrency: 'shared' }),
        tool('bad', { execute: () => ({ ok: false, error: { class: 'network', message: 'gone', remedy: 'again' } }) }),
        tool('throws', {
          execute: () => {
            throw new Error('boom')
          },
        }),
        tool('asks', { approval: () => ({ keys: [{ key: 'k', label: 'K' }], summary: 's' }) }),
      ],
    })
    const outcome = await runtime.run('go')
    model.assertDone()
    expect(outcome.status).toBe('completed')
    const events = await journalOf(store, outcome.sessionId)
    expectLegal(events)
    const ended = ofType(events, 'interaction.item.completed').filter(({ item }) => 'content' in item)
    expect(
      Object.fromEntries(ended.map(({ item }) => [(item as { id: string }).id, item.status])),
      'good completed, failures failed, the one without approval declined',
    ).toEqual({
      't1.s1.3': 'completed',
      't1.s1.4': 'failed',
      't1.s1.5': 'failed',
      't1.s1.6': 'failed',
      't1.s1.7': 'failed',
      't1.s1.8': 'declined',
    })
  })

  test('order of events: created, input, turn, offer, step, items, step end, intents, results, next step, turn end, idle', async () => {
    const { runtime } = world({
      steps: [{ text: 'I look.', calls: [{ tool: 'look', input: { word: 'a' } }] }, { text: 'Done.' }],
      tools: [tool('look', { schema: word })],
    })
    const events = durable(await bounded(collect(runtime.stream('go'))))
    expect(events.map(({ type }) => type.replace('interaction.', ''))).toEqual([
      'session.created',
      'input.accepted',
      'turn.started',
      'offer.recorded',
      'step.started',
      'item.started',
      'item.completed',
      'step.completed',
      'item.started',
      'item.completed',
      'step.started',
      'item.started',
      'item.completed',
      'step.completed',
      'turn.completed',
      'session.idle',
    ])
  })

  test('every durable event has seq, gap-free over the tree; live events carry no seq, and name their attempt', async () => {
    const { runtime, store } = world({ steps: [{ text: 'One two three', chunks: 5 }] })
    const handle = runtime.stream('go')
    const events = await bounded(collect(handle))
    expect(durable(events)).toEqual(await journalOf(store, handle.sessionId))
    const live = events.filter((event) => !('seq' in event))
    expect(live.length).toBe(5)
    expect(ofType(live, 'interaction.item.delta').map(({ text, attempt, kind }) => [text, attempt, kind])).toEqual(
      ofType(live, 'interaction.item.delta').map(({ text }) => [text, 1, 'text']),
    )
    expect(
      ofType(live, 'interaction.item.delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('One two three')
  })

  test('the envelope names treeId, sessionId, agentPath and at on every event; turnId and stepId inside a step', async () => {
    const { runtime } = world({ steps: [{ calls: [{ tool: 'look' }] }, { text: 'Done.' }], tools: [tool('look')] })
    const events = durable(await bounded(collect(runtime.stream('go'))))
    for (const event of events)
      expect(event).toMatchObject({ treeId: expect.any(String), sessionId: expect.any(String), agentPath: 'root', at: expect.any(Number) })
    for (const event of events.filter(({ type }) => /\.(step|item)\./.test(type)))
      expect(event).toMatchObject({ turnId: 't1', stepId: expect.stringMatching(/^t1\.s\d$/) })
  })
})

describe('core.md: run never throws and always returns an outcome with accounting, operations, trace, diagnostics, snapshot', () => {
  const outcomes: { name: string; status: Outcome['status']; reason?: string; make: () => Promise<Outcome> }[] = [
    { name: 'an answer', status: 'completed', make: () => world({ steps: [{ text: 'Hi' }] }).runtime.run('go') },
    {
      name: 'a model without credentials',
      status: 'failed',
      reason: 'model',
      make: () => world({ steps: [{ fault: { class: 'auth', message: 'no key' } }] }).runtime.run('go'),
    },
    {
      name: 'a model that fails for good',
      status: 'failed',
      reason: 'model',
      make: async () => {
        const clock = new FakeClock()
        const fault = { class: 'network', message: 'gone' } as const
        return elapsing(clock, world({ clock, limits: { maxRetries: 1 }, steps: [{ fault }, { fault }] }).runtime.run('go'))
      },
    },
    {
      name: 'steps that run out',
      status: 'partial',
      reason: 'steps',
      make: () =>
        world({
          limits: { maxToolTurns: 1 },
          tools: [tool('look')],
          steps: [{ calls: [{ tool: 'look' }] }, { text: 'So far.' }],
        }).runtime.run('go'),
    },
    {
      name: 'a signal that had aborted',
      status: 'interrupted',
      reason: 'interrupted',
      make: () => world({ steps: [{ text: 'never' }] }).runtime.run('go', { signal: AbortSignal.abort() }),
    },
    {
      name: 'an approval that waits',
      status: 'suspended',
      reason: 'approval',
      make: () =>
        world({
          tools: [tool('ask', { approval: () => ({ keys: [], summary: 's' }) })],
          steps: [{ calls: [{ tool: 'ask' }] }],
          approver: { decide: () => 'suspend' },
        }).runtime.run('go'),
    },
  ]
  for (const { name, status, reason, make } of outcomes)
    test(`${name}: ${status}`, async () => {
      const outcome = await bounded(make(), 'run')
      expect([outcome.status, outcome.reason]).toEqual([status, reason])
      expectWhole(outcome)
    })

  test('a store that fails from its n-th append on, for every n: an outcome that says so, never a throw, never a dead process', async () => {
    const { answer, ran } = await inProcess(`
      const answers = []
      for (let n = 1; n <= 12; n += 1) {
        const inner = memoryStore()
        let appends = 0
        const journal = {
          claim: inner.journal.claim.bind(inner.journal), release: inner.journal.release.bind(inner.journal),
          read: inner.journal.read.bind(inner.journal), watch: inner.journal.watch.bind(inner.journal),
          append: async (batch: any) => { appends += 1; if (appends >= n) throw new TroupeError('store_failed', 'the disk is full'); return inner.journal.append(batch) },
        }
        const store = { journal, inbox: inner.inbox, blobs: inner.blobs, trees: inner.trees, close: () => inner.close() }
        const look = { name: 'look', description: 'd', inputSchema: { type: 'object' }, execute: () => 'ok' }
        const runtime = createAgentRuntime({ store: store as any, adapter: new ScriptedModel([{ calls: [{ tool: 'look' }] }, { text: 'Done.' }]), config: { agents: [agent], tools: [look] } })
        const outcome = await runtime.run('go')
        await rounds()
        const kept = (await inner.journal.read(outcome.sessionId, 0)).some(({ type }) => type === 'interaction.turn.completed')
        answers.push({ status: outcome.status, reason: outcome.reason, kept, whole: 'snapshot' in outcome && 'accounting' in outcome && 'diagnostics' in outcome })
      }
      done(answers)
    `)
    const answers = (answer ?? []) as { kept: boolean }[]
    expect(answers, ran.stderr.slice(0, 400)).toHaveLength(12)
    for (const [index, { kept, ...told }] of answers.entries())
      expect([index + 1, told]).toEqual([
        index + 1,
        kept ? { status: 'completed', whole: true } : { status: 'failed', reason: 'store', whole: true },
      ])
    expect(
      answers.some(({ kept }) => kept),
      'the run gets through',
    ).toBe(true)
  })

  test('a store that refuses because another owner has taken over: an outcome, and nothing runs after', async () => {
    const inner = memoryStore()
    let ran = 0
    const { runtime } = world({
      store: inner,
      tools: [
        tool('look', {
          execute: () => {
            ran += 1
            return 'x'
          },
        }),
      ],
      adapter: rawModel([
        () =>
          (async function* () {
            await until('the tree is there', async () => (await inner.trees.list()).length === 1)
            const treeId = await firstTree(inner)
            for (let epoch = 1; epoch < 5; epoch += 1) await inner.journal.release(treeId, epoch)
            expect((await inner.journal.claim(treeId, 'usurper' as never)).ok).toBe(true)
            yield { type: 'call', id: 'c1', name: 'look', input: '{}' }
            yield { type: 'finish', reason: 'tool-calls' }
          })(),
        textReply('never'),
      ]).model,
    })
    const outcome = await bounded(runtime.run('go'), 'run')
    expect(outcome.status).toBe('failed')
    expect(ran, 'a driver that lost its tree starts no effect').toBe(0)
    expectWhole(outcome)
  })

  test('cost is the sum of the known, and unknown where any part has no price, never a false 0', async () => {
    const known = world({
      steps: [
        { calls: [{ tool: 'look' }], costUsd: 0.25 },
        { text: 'x', costUsd: 0.5 },
      ],
      tools: [tool('look')],
    })
    expect((await known.runtime.run('go')).cost).toBe(0.75)
    const mixed = world({ steps: [{ calls: [{ tool: 'look' }], costUsd: 0.25 }, { text: 'x' }], tools: [tool('look')] })
    expect((await mixed.runtime.run('go')).cost).toBe('unknown')
  })

  test('accounting: one entry per model attempt (provider/id as the model names itself) and one per call', async () => {
    const { runtime } = world({
      config: { agents: [{ ...agent, model: 'any' }] },
      steps: [
        { calls: [{ tool: 'look', input: { word: 'a' } }], usage: { input: 10, output: 5, cacheRead: 3 }, costUsd: 1 },
        { text: 'x', usage: { input: 20, output: 1 }, costUsd: 2 },
      ],
      tools: [tool('look', { schema: word, namespace: 'books' })],
    })
    const { accounting, usage } = await runtime.run('go')
    expect(usage).toMatchObject({ input: 30, output: 6, cacheRead: 3 })
    expect(accounting).toMatchObject([
      { kind: 'model', stepId: 't1.s1', attempt: 1, status: 'completed', usage: { input: 10, output: 5, cacheRead: 3 }, cost: 1 },
      { kind: 'call', stepId: 't1.s1', tool: 'look', namespace: 'books', status: 'completed', bytesOut: 9 },
      { kind: 'model', stepId: 't1.s2', attempt: 1, status: 'completed', usage: { input: 20, output: 1 }, cost: 2 },
    ])
  })

  test('contracts/model.ts: Model.id is "provider/name", as accounting shows it', async () => {
    const { runtime } = world({ config: { agents: [{ ...agent, model: 'any' }] }, steps: [{ text: 'x' }] })
    const { accounting } = await runtime.run('go')
    expect(accounting[0]).toMatchObject({ kind: 'model', model: 'scripted/model' })
  })

  test('operations is the tree of turn → step → call', async () => {
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'look', input: { reason: 'Why not' } }, { tool: 'look' }] }, { text: 'x' }],
      tools: [tool('look')],
    })
    const { operations } = await runtime.run('go')
    expect(operations).toMatchObject({
      kind: 'turn',
      turnId: 't1',
      status: 'completed',
      steps: [
        { stepId: 't1.s1', attempts: [{ attempt: 1 }], calls: [{ tool: 'look', title: 'Why not' }, { tool: 'look' }] },
        { stepId: 't1.s2', attempts: [{ attempt: 1 }], calls: [] },
      ],
    })
  })

  test('a turn carries the usage of this turn; the next one starts from nothing', async () => {
    const { runtime, store } = world({
      steps: [
        { text: 'a', usage: { input: 10, output: 1 } },
        { text: 'b', usage: { input: 7, output: 2 } },
      ],
    })
    const handle = runtime.stream('one')
    await handle.send('two')
    const outcome = await finish(handle)
    expect(outcome.usage).toMatchObject({ input: 7, output: 2 })
    const ends = ofType(await journalOf(store, handle.sessionId), 'interaction.turn.completed')
    expect(ends.map(({ totals }) => totals.usage.input)).toEqual([10, 7])
  })
})

describe('core.md: the stream is eager and read by cursor', () => {
  test('the turn continues whether or not anybody reads', async () => {
    const { runtime } = world({ steps: [{ text: 'x' }] })
    const handle = runtime.stream('go')
    expect((await finish(handle)).status).toBe('completed')
    expect((await bounded(collect(handle))).at(-1)?.type).toBe('interaction.session.idle')
  })

  test('leaving the loop detaches and changes nothing; later readers get everything from the beginning', async () => {
    const door = gate()
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'slow' }] }, { text: 'x' }],
      tools: [tool('slow', { execute: () => door.promise.then(() => 'ok') })],
    })
    const handle = runtime.stream('go')
    for await (const event of handle) if (event.type === 'interaction.step.started') break
    door.open()
    expect((await finish(handle)).status).toBe('completed')
    const again = durable(await bounded(collect(runtime.sessions.events(handle.sessionId))))
    expect(again[0]?.type).toBe('interaction.session.created')
    expectLegal(again)
  })

  test('aborting the signal interrupts', async () => {
    const controller = new AbortController()
    const { runtime, store } = world({ steps: [{ text: 'x', fault: 'silence' }] })
    const handle = runtime.stream('go', { signal: controller.signal })
    await until('asked', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.step.started').length === 1)
    controller.abort()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason]).toEqual(['interrupted', 'interrupted'])
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('two readers at once each see every event once, in order', async () => {
    const { runtime, store } = world({
      steps: [{ text: 'abcdef', chunks: 6, calls: [{ tool: 'look' }] }, { text: 'x' }],
      tools: [tool('look')],
    })
    const handle = runtime.stream('go')
    await until('the tree is there', async () => (await journalOf(store, handle.sessionId)).length > 0)
    const [a, b] = await bounded(Promise.all([collect(handle), collect(runtime.sessions.events(handle.sessionId))]))
    expect(durable(a)).toEqual(durable(b))
    expectLegal(durable(a))
  })
})

test('events as read from a stream are all durable when they are shown: a seq that is seen is a seq that is kept', async () => {
  const inner = memoryStore()
  const { runtime } = world({
    store: inner,
    steps: [{ reasoning: 'r', text: 'a', calls: [{ tool: 'look' }, { tool: 'look' }] }, { text: 'x' }],
    tools: [tool('look', { concurrency: 'shared' })],
  })
  const handle = runtime.stream('go')
  const early: string[] = []
  for await (const event of handle as AsyncIterable<StreamEvent>) {
    if (!('seq' in event)) continue
    const stored = await inner.journal.read(handle.sessionId, event.seq - 1, 1)
    if (stored[0]?.type !== event.type) early.push(`${event.seq} ${event.type}`)
  }
  expect(early).toEqual([])
})

test('ScriptedModel is strict: steps not consumed make assertDone throw', async () => {
  const model = new ScriptedModel([{ text: 'a' }, { text: 'b' }])
  const { runtime } = world({ adapter: model })
  await runtime.run('go')
  expect(() => model.assertDone()).toThrow(/never asked for/)
})
