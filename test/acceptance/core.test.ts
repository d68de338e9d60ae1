import { describe, expect, test, vi } from 'vitest'
import { type Outcome, type StreamEvent, TroupeError } from '../../src/index.ts'
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
  journalOf,
  objectSchema,
  ofType,
  parts,
  rawModel,
  resultsIn,
  settle,
  textReply,
  tool,
  until,
  watchedStore,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 15_000 })

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
    const events = await journalOf(store, outcome.treeId)
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

  test('order of events: created, input, turn, step, items, step end, intents, results, next step, turn end, idle', async () => {
    const { runtime } = world({
      steps: [{ text: 'I look.', calls: [{ tool: 'look', input: { word: 'a' } }] }, { text: 'Done.' }],
      tools: [tool('look', { schema: word })],
    })
    const events = durable(await bounded(collect(runtime.stream('go'))))
    expect(events.map(({ type }) => type.replace('interaction.', ''))).toEqual([
      'session.created',
      'input.accepted',
      'turn.started',
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
    expect(durable(events)).toEqual(await journalOf(store, handle.treeId))
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
      make: () => world({ limits: { maxToolTurns: 2 }, tools: [tool('look')], steps: [{ calls: [{ tool: 'look' }] }, { text: 'So far.' }] }).runtime.run('go'),
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
          approver: { review: () => 'suspend' },
        }).runtime.run('go'),
    },
  ]
  for (const { name, status, reason, make } of outcomes)
    test(`${name}: ${status}`, async () => {
      const outcome = await bounded(make(), 'run')
      expect([outcome.status, outcome.reason]).toEqual([status, reason])
      expectWhole(outcome)
    })

  test('a store that fails at its n-th append, for every n: an outcome with reason store, never a throw', async () => {
    for (let n = 1; n <= 12; n += 1) {
      const watched = watchedStore()
      watched.failWhen((_, count) => (count >= n ? new TroupeError('store_failed', 'the disk is full') : undefined))
      const { runtime, clock } = world({
        store: watched.store,
        steps: [{ calls: [{ tool: 'look' }] }, { text: 'Done.' }],
        tools: [tool('look')],
      })
      const outcome = await elapsing(clock, runtime.run('go'))
      expectWhole(outcome)
      const ended = ofType(await journalOf(watched.inner, outcome.treeId), 'interaction.turn.completed').length === 1
      expect([n, outcome.status, outcome.reason]).toEqual(ended ? [n, 'completed', undefined] : [n, 'failed', 'store'])
      if (ended) return
    }
    expect.unreachable('the run never got through')
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
    const known = world({ steps: [{ calls: [{ tool: 'look' }], costUsd: 0.25 }, { text: 'x', costUsd: 0.5 }], tools: [tool('look')] })
    expect((await known.runtime.run('go')).cost).toBe(0.75)
    const mixed = world({ steps: [{ calls: [{ tool: 'look' }], costUsd: 0.25 }, { text: 'x' }], tools: [tool('look')] })
    expect((await mixed.runtime.run('go')).cost).toBe('unknown')
  })

  test('accounting: one entry per model attempt (provider/id as the model names itself) and one per call', async () => {
    const { runtime } = world({
      config: { agents: [{ ...agent, model: 'any' }] },
      steps: [{ calls: [{ tool: 'look', input: { word: 'a' } }], usage: { input: 10, output: 5, cacheRead: 3 }, costUsd: 1 }, { text: 'x', usage: { input: 20, output: 1 }, costUsd: 2 }],
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

  test('contracts/model.ts: Model.id is "provider/name, as it stands in accounting"', async () => {
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
    const { runtime, store } = world({ steps: [{ text: 'a', usage: { input: 10, output: 1 } }, { text: 'b', usage: { input: 7, output: 2 } }] })
    const handle = runtime.stream('one')
    await handle.send('two')
    const outcome = await finish(handle)
    expect(outcome.usage).toMatchObject({ input: 7, output: 2 })
    const ends = ofType(await journalOf(store, handle.treeId), 'interaction.turn.completed')
    expect(ends.map(({ totals }) => totals.usage.input)).toEqual([10, 7])
  })
})

describe('core.md: the stream is eager and read by cursor', () => {
  test('the turn goes on whether or not anybody reads', async () => {
    const { runtime } = world({ steps: [{ text: 'x' }] })
    const handle = runtime.stream('go')
    expect((await finish(handle)).status).toBe('completed')
    expect((await bounded(collect(handle))).at(-1)?.type).toBe('interaction.session.idle')
  })

  test('leaving the loop detaches and changes nothing; whoever comes later gets everything from the beginning', async () => {
    const door = gate()
    const { runtime } = world({ steps: [{ calls: [{ tool: 'slow' }] }, { text: 'x' }], tools: [tool('slow', { execute: () => door.promise.then(() => 'ok') })] })
    const handle = runtime.stream('go')
    for await (const event of handle) if (event.type === 'interaction.step.started') break
    door.open()
    expect((await finish(handle)).status).toBe('completed')
    const again = durable(await bounded(collect(runtime.sessions.events(handle.treeId))))
    expect(again[0]?.type).toBe('interaction.session.created')
    expectLegal(again)
  })

  test('runtime/types.ts: "Iterating yields events from the beginning of this handle" — also the second time', async () => {
    const { runtime } = world({ steps: [{ text: 'x' }] })
    const handle = runtime.stream('go')
    for await (const event of handle) if (event.type === 'interaction.step.started') break
    await finish(handle)
    const again = durable(await bounded(collect(handle)))
    expect(again[0]?.type).toBe('interaction.session.created')
    expectLegal(again)
  })

  test('aborting the signal interrupts', async () => {
    const controller = new AbortController()
    const { runtime, store } = world({ steps: [{ text: 'x', fault: 'silence' }] })
    const handle = runtime.stream('go', { signal: controller.signal })
    await until('asked', async () => ofType(await journalOf(store, handle.treeId), 'interaction.step.started').length === 1)
    controller.abort()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason]).toEqual(['interrupted', 'interrupted'])
    expectLegal(await journalOf(store, handle.treeId))
  })

  test('two readers at once each see every event once, in order', async () => {
    const { runtime, store } = world({ steps: [{ text: 'abcdef', chunks: 6, calls: [{ tool: 'look' }] }, { text: 'x' }], tools: [tool('look')] })
    const handle = runtime.stream('go')
    await until('the tree is there', async () => (await journalOf(store, handle.treeId)).length > 0)
    const [a, b] = await bounded(Promise.all([collect(handle), collect(runtime.sessions.events(handle.treeId))]))
    expect(durable(a)).toEqual(durable(b))
    expectLegal(durable(a))
  })
})

describe('invariant 7: same journal, same state, byte-equal snapshot', () => {
  test('two runs of the same script on the same clock and ids give the same bytes', async () => {
    const once = async (): Promise<string> => {
      const { sequentialIds } = await import('../../src/testing/index.ts')
      const store = memoryStore()
      const { runtime } = world({
        store,
        ids: sequentialIds('same'),
        steps: [{ calls: [{ tool: 'b' }, { tool: 'a' }, { tool: 'b' }] }, { text: 'x' }],
        tools: [tool('b', { concurrency: 'shared' }), tool('a', { concurrency: 'shared' })],
      })
      const outcome = await runtime.run('go')
      return JSON.stringify([await journalOf(store, outcome.treeId), outcome])
    }
    expect(await once()).toBe(await once())
  })

  test('tools are ordered by name, whatever the order in the configuration', async () => {
    const { runtime, model } = world({ steps: [{ text: 'x' }], tools: [tool('zebra'), tool('ape'), tool('mole')] })
    await runtime.run('go')
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['ape', 'mole', 'zebra'])
  })
})

describe('core.md: results are shown to the model in call order', () => {
  test('although they finish in another', async () => {
    const doors = [gate(), gate(), gate()]
    const order: number[] = []
    const { runtime, model } = world({
      steps: [{ calls: [0, 1, 2].map((n) => ({ tool: 'wait', input: { n } })) }, { text: 'x' }],
      tools: [
        tool('wait', {
          concurrency: 'shared',
          schema: objectSchema({ n: { type: 'integer' } }),
          execute: async ({ n }) => {
            await doors[Number(n)]?.promise
            order.push(Number(n))
            return `result ${n}`
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    for (const n of [2, 0, 1]) {
      await settle()
      doors[n]?.open()
      await until(`call ${n} ended`, () => order.includes(n))
    }
    await finish(handle)
    expect(order).toEqual([2, 0, 1])
    expect(resultsIn(model.requests[1]).map(({ id, content }) => [id, content])).toEqual([
      ['call_1', 'result 0'],
      ['call_2', 'result 1'],
      ['call_3', 'result 2'],
    ])
  })

  test('with failures and unknown tools in between, every call has exactly one result', async () => {
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'ok' }, { tool: 'nope' }, { tool: 'ok', input: '[]' }, { tool: 'ok' }] }, { text: 'x' }],
      tools: [tool('ok', { concurrency: 'shared' })],
    })
    await runtime.run('go')
    expect(resultsIn(model.requests[1]).map(({ id, ok }) => [id, ok])).toEqual([
      ['call_1', true],
      ['call_2', false],
      ['call_3', false],
      ['call_4', true],
    ])
  })
})

describe('contracts/messages.ts: metadata is the provider’s own and goes back to it untouched', () => {
  const reply = [
    { type: 'reasoning', text: 'think', metadata: { signature: 'abc==', n: [1, { deep: null }] } },
    { type: 'text', text: 'I look.', metadata: { cache: 'ephemeral' } },
    { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}', metadata: { thought_signature: 'sig' } },
    { type: 'finish', reason: 'tool-calls', metadata: { response: 'r1' } },
  ]
  test('text, reasoning and calls, within a turn', async () => {
    const { model, requests } = rawModel([() => parts(reply), textReply('done')])
    const { runtime } = world({ adapter: model, tools: [tool('look', { schema: word })] })
    expect((await runtime.run('go')).status).toBe('completed')
    expect(requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'think', metadata: { signature: 'abc==', n: [1, { deep: null }] } },
        { type: 'text', text: 'I look.', metadata: { cache: 'ephemeral' } },
        { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}', metadata: { thought_signature: 'sig' } },
      ],
    })
  })

  test('and the order of the parts is kept: reasoning, text, reasoning, call, text, call', async () => {
    const mixed = [
      { type: 'reasoning', text: 'r1', metadata: { s: 1 } },
      { type: 'text', text: 't1' },
      { type: 'reasoning', text: 'r2', metadata: { s: 2 } },
      { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}' },
      { type: 'text', text: 't2' },
      { type: 'call', id: 'c2', name: 'look', input: '{"word":"b"}' },
    ]
    const { model, requests } = rawModel([() => parts([...mixed, { type: 'finish', reason: 'tool-calls' }]), textReply('done')])
    const { runtime } = world({ adapter: model, tools: [tool('look', { schema: word })] })
    await runtime.run('go')
    expect(requests[1]?.messages[1]).toEqual({ role: 'assistant', parts: mixed })
  })

  test('a signature that comes in a part of its own, without text, is not lost', async () => {
    const { model, requests } = rawModel([
      () =>
        parts([
          { type: 'reasoning', text: 'thi' },
          { type: 'reasoning', text: 'nk' },
          { type: 'reasoning', text: '', metadata: { signature: 'late' } },
          { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}' },
          { type: 'finish', reason: 'tool-calls' },
        ]),
      textReply('done'),
    ])
    const { runtime } = world({ adapter: model, tools: [tool('look', { schema: word })] })
    await runtime.run('go')
    expect(JSON.stringify(requests[1]?.messages[1])).toContain('"signature":"late"')
    const said = requests[1]?.messages[1]
    expect(said?.role === 'assistant' && said.parts.map((part) => ('text' in part ? part.text : '')).join('')).toBe('think')
  })

  test('after another runtime has taken the tree up: "Items keep the provider’s own metadata so that a request can be rebuilt exactly"', async () => {
    const store = memoryStore()
    const first = rawModel([() => parts(reply), textReply('done')])
    const one = world({ store, adapter: first.model, tools: [tool('look', { schema: word })] })
    const { treeId } = await one.runtime.run('go')
    await one.runtime.close()
    const second = rawModel([textReply('again')])
    const two = world({ store, adapter: second.model, tools: [tool('look', { schema: word })] })
    const handle = await two.runtime.open(treeId)
    await handle.send('and now?')
    await finish(handle)
    expect(second.requests[0]?.messages.slice(0, 3)).toEqual(first.requests[1]?.messages)
  })
})

describe('core.md: steer enters at the next step boundary, queue when idle', () => {
  const slow = () => {
    const door = gate()
    const entered = gate()
    return {
      door,
      entered,
      tool: tool('slow', {
        execute: async () => {
          entered.open()
          await door.promise
          return 'slow done'
        },
      }),
    }
  }

  test('steer is in the next request of the same turn, after the results', async () => {
    const work = slow()
    const { runtime, model, store } = world({ steps: [{ calls: [{ tool: 'slow' }] }, { text: 'x' }], tools: [work.tool] })
    const handle = runtime.stream('go')
    await work.entered.promise
    await handle.steer('rather this')
    work.door.open()
    const outcome = await finish(handle)
    expect(outcome.turnId).toBe('t1')
    expect(model.requests).toHaveLength(2)
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(model.requests[1]?.messages[3]).toEqual({ role: 'user', parts: [{ type: 'text', text: 'rather this' }] })
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    const [, second] = ofType(events, 'interaction.step.started')
    const steered = ofType(events, 'interaction.input.accepted').find(({ mode }) => mode === 'steer')
    expect(second?.absorbs).toEqual([steered?.clientId])
  })

  test('steer while the model writes its answer is not dropped: "Nothing accepted is dropped"', async () => {
    const door = gate()
    const { runtime, model, store } = world({ steps: [{ text: 'first answer', wait: door.promise }, { text: 'second answer' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.steer('one more thing')
    door.open()
    await finish(handle)
    expect(model.requests).toHaveLength(2)
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('one more thing')
    expectLegal(await journalOf(store, handle.treeId))
  })

  test('queue starts a turn of its own after the present one, in order', async () => {
    const work = slow()
    const { runtime, model, store } = world({ steps: [{ calls: [{ tool: 'slow' }] }, { text: 'one' }, { text: 'two' }, { text: 'three' }], tools: [work.tool] })
    const handle = runtime.stream('first')
    await work.entered.promise
    await handle.send('second')
    await handle.send('third')
    work.door.open()
    const outcome = await finish(handle)
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('second')
    const turns = ofType(events, 'interaction.turn.started')
    // Whether the two waiting inputs share a turn is not written down; that none is lost and none comes early is.
    expect(turns.flatMap(({ inputs }) => inputs)).toHaveLength(3)
    expect(turns.length).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/first.*second.*third/)
    expect(outcome.turnId).toBe(`t${turns.length}`)
    expect(ofType(events, 'interaction.session.idle'), 'idle only when everything has settled').toHaveLength(1)
  })

  test('a message sent after the session went idle starts a further turn with the history before it', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
    const handle = runtime.stream('first')
    await finish(handle)
    await handle.send('second')
    await until('the second turn', async () => ofType(await journalOf(store, handle.treeId), 'interaction.turn.completed').length === 2)
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test('steer after the session went idle is not dropped', async () => {
    const { runtime, model } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
    const handle = runtime.stream('first')
    await finish(handle)
    await handle.steer('late')
    await until('it is answered', () => model.requests.length === 2)
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('late')
  })

  test('a repeated client id is taken once', async () => {
    const work = slow()
    const { runtime, model, store } = world({ steps: [{ calls: [{ tool: 'slow' }] }, { text: 'one' }, { text: 'two' }], tools: [work.tool] })
    const handle = runtime.stream('first')
    await work.entered.promise
    const clientId = 'mine' as never
    await handle.send('second', { clientId })
    await handle.send('second', { clientId })
    await runtime.sessions.send(handle.treeId, 'second', { clientId })
    work.door.open()
    await finish(handle)
    await runtime.sessions.send(handle.treeId, 'second', { clientId })
    await settle(20)
    model.assertDone()
    const inputs = ofType(await journalOf(store, handle.treeId), 'interaction.input.accepted')
    expect(inputs.filter((input) => input.clientId === clientId)).toHaveLength(1)
  })

  test('a repeated client id is taken once over runtimes and restarts', async () => {
    const store = memoryStore()
    const one = world({ store, steps: [{ text: 'a' }, { text: 'b' }] })
    const handle = one.runtime.stream('first')
    await finish(handle)
    await handle.send('second', { clientId: 'mine' as never })
    await until('second', () => one.model.requests.length === 2)
    await finish(handle)
    await one.runtime.close()
    const two = world({ store, steps: [{ text: 'never' }] })
    const again = await two.runtime.open(handle.treeId)
    await again.send('second', { clientId: 'mine' as never })
    await settle(20)
    expect(two.model.requests).toHaveLength(0)
  })

  test('text, image and file parts reach the model as they were sent', async () => {
    const input = [
      { type: 'text', text: 'see' },
      { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      { type: 'file', mediaType: 'text/plain', data: 'aGk=', name: 'a.txt' },
    ] as const
    const { runtime, model } = world({ steps: [{ text: 'x' }] })
    await runtime.run(input)
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', parts: input }])
  })
})

describe('core.md: stop = finish with a last answer; interrupt = signal, grace, kill', () => {
  test('stop during a call: one last step with tools off and a notice, outcome partial, reason stopped', async () => {
    const door = gate()
    const entered = gate()
    const { runtime, model, store } = world({
      steps: [{ calls: [{ tool: 'slow' }] }, { text: 'What I have.' }],
      tools: [
        tool('slow', {
          execute: async () => {
            entered.open()
            await door.promise
            return 'done'
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await handle.stop()
    door.open()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'stopped', 'What I have.'])
    expect(model.requests[1]?.toolChoice).toBe('none')
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.step.started')[1]?.last).toMatchObject({ reason: 'stopped', notice: expect.any(String) })
    expect(ofType(events, 'interaction.cancel.requested')).toMatchObject([{ mode: 'stop' }])
  })

  test('stop while the model is asking for calls still gives a last answer', async () => {
    const door = gate()
    const { runtime, model, store } = world({
      steps: [{ wait: door.promise, calls: [{ tool: 'look' }] }, { text: 'Last.' }],
      tools: [tool('look')],
    })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.stop()
    door.open()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'stopped', 'Last.'])
    expect(model.requests[1]?.toolChoice).toBe('none')
    expectLegal(await journalOf(store, handle.treeId))
  })

  test('stop while the model is writing its answer keeps that answer', async () => {
    const door = gate()
    const { runtime, model } = world({ steps: [{ wait: door.promise, text: 'The answer.' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.stop()
    door.open()
    const outcome = await finish(handle)
    expect(['completed', 'partial']).toContain(outcome.status)
    expect(outcome.report?.text).toBe('The answer.')
    expect(model.requests).toHaveLength(1)
  })

  test('interrupt while the model is silent ends the turn now', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'half', fault: 'silence' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.interrupt()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason]).toEqual(['interrupted', 'interrupted'])
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.step.failed')).toMatchObject([{ failure: { class: 'cancelled' } }])
  })

  test('interrupt: a call that finished keeps its real result; one that did not is interrupted; the marker is committed before the end', async () => {
    const entered = gate()
    const { runtime, store } = world({
      steps: [{ calls: [{ tool: 'quick' }, { tool: 'slow' }] }],
      tools: [
        tool('quick', { concurrency: 'shared' }),
        tool('slow', {
          concurrency: 'shared',
          execute: (_, { signal }) =>
            new Promise((resolve) => {
              entered.open()
              signal.addEventListener('abort', () => resolve({ ok: false, error: { class: 'cancelled', message: 'stopped by signal' } }))
            }),
        }),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await until('quick ended', async () => ofType(await journalOf(store, handle.treeId), 'interaction.item.completed').length === 1)
    await handle.interrupt()
    const outcome = await finish(handle)
    expect(outcome.status).toBe('interrupted')
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.item.completed').map(({ item }) => item.status)).toEqual(['completed', 'interrupted'])
    const types = events.map(({ type }) => type)
    expect(types.indexOf('interaction.cancel.requested')).toBeGreaterThan(0)
    expect(types.indexOf('interaction.cancel.requested')).toBeLessThan(types.indexOf('interaction.turn.interrupted'))
    expect(types.lastIndexOf('interaction.item.completed')).toBeLessThan(types.indexOf('interaction.turn.interrupted'))
  })

  test('interrupt: a call says what is known ("ran for … and may have changed files")', async () => {
    const clock = new FakeClock()
    const entered = gate()
    const { runtime, store } = world({
      clock,
      steps: [{ calls: [{ tool: 'slow' }] }],
      tools: [
        tool('slow', {
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              entered.open()
              signal.addEventListener('abort', () => reject(signal.reason))
            }),
        }),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await clock.elapse(3200)
    await handle.interrupt()
    await finish(handle)
    const [record] = ofType(await journalOf(store, handle.treeId), 'interaction.item.completed')
    expect(record?.item).toMatchObject({ status: 'interrupted', latencyMs: 3200, content: expect.stringMatching(/3\.2 ?s/) })
  })

  test('interrupt: a tool that ignores its signal is given up after a grace', async () => {
    const entered = gate()
    const clock = new FakeClock()
    const { runtime, store } = world({
      clock,
      steps: [{ calls: [{ tool: 'deaf' }, { tool: 'next' }] }],
      tools: [
        tool('deaf', {
          execute: () => {
            entered.open()
            return new Promise<string>(() => undefined)
          },
        }),
        tool('next'),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await handle.interrupt()
    const outcome = await elapsing(clock, handle.outcome, 500, 100)
    expect(outcome.status).toBe('interrupted')
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    const ends = ofType(events, 'interaction.item.completed').map(({ item }) => item.status)
    expect(ends).toHaveLength(2)
    expect(ends).toContain('skipped')
    expect(ends.some((status) => status === 'interrupted' || status === 'unknown')).toBe(true)
  })

  test('interrupt twice, stop then interrupt, interrupt after the end: one end, no throw', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'half', fault: 'silence' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await Promise.all([handle.stop(), handle.interrupt(), handle.interrupt()])
    const outcome = await finish(handle)
    expect(outcome.status).toBe('interrupted')
    await handle.interrupt()
    await handle.stop()
    await settle(20)
    const events = await journalOf(store, handle.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.turn.interrupted')).toHaveLength(1)
  })

  test('an interrupt after the end does not fall upon the next turn', async () => {
    const { runtime, store, model } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
    const handle = runtime.stream('go')
    await finish(handle)
    await handle.interrupt()
    await settle(20)
    await handle.send('again')
    await until('the second turn ended', async () => {
      const events = await journalOf(store, handle.treeId)
      return events.filter(({ type }) => /turn\.(completed|interrupted|failed)/.test(type)).length === 2
    })
    expect(ofType(await journalOf(store, handle.treeId), 'interaction.turn.completed')).toHaveLength(2)
    model.assertDone()
  })

  test('interrupt during a retry delay ends at once, without asking again', async () => {
    const { runtime, model, store } = world({ steps: [{ fault: { class: 'rate_limit', message: 'slow down', retryAfterMs: 30_000 } }, { text: 'never' }] })
    const handle = runtime.stream('go')
    await until('failed once', async () => ofType(await journalOf(store, handle.treeId), 'interaction.step.failed').length === 1)
    await handle.interrupt()
    const outcome = await finish(handle)
    expect(outcome.status).toBe('interrupted')
    expect(model.requests).toHaveLength(1)
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
    const stored = await inner.journal.read(handle.treeId, event.seq - 1, 1)
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
