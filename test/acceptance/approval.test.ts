import { describe, expect, test, vi } from 'vitest'
import type { ApprovalDecision, ApprovalId, ApprovalRequest, Approver, JsonObject, Store, Tool, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import {
  bounded,
  elapsing,
  everything,
  expectLegal,
  expectWhole,
  finish,
  journalOf,
  objectSchema,
  ofType,
  resultsIn,
  settle,
  temporaryFolder,
  tool,
  troupeError,
  until,
  type Setup,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 15_000 })

const got: JsonObject[] = []
const schema = objectSchema({ path: { type: 'string' } }, ['path'])
const guarded = (more: Partial<Tool> = {}): Tool => ({
  ...tool('remove', { schema }),
  approval: ({ path }) => ({ keys: [{ key: `path:${path}`, label: `${path}` }], summary: `Remove ${path}` }),
  execute: (input) => {
    got.push(input)
    return `removed ${input.path}`
  },
  ...more,
})
const remove = (path: string) => ({ tool: 'remove', input: { path } })
const deciding = (decide: (request: ApprovalRequest, n: number) => unknown) => {
  const asked: ApprovalRequest[] = []
  const approver: Approver = {
    review: (request) => decide(request, asked.push(request)) as never,
  }
  return { approver, asked }
}
const approve = (breadth: 'once' | 'session' = 'once') => ({ kind: 'approve', breadth, by: 'me' }) as const
const setup = (more: Setup): ReturnType<typeof world> => {
  got.length = 0
  return world({ tools: [guarded(), tool('other', { concurrency: 'shared' })], ...more })
}

describe('core.md, approvals: decisions', () => {
  test('"the bare library without an approver: deny"', async () => {
    const { runtime, model, store } = setup({ steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
    const outcome = await bounded(runtime.run('go'))
    expect(got).toEqual([])
    expect(outcome.status).toBe('completed')
    const events = await journalOf(store, outcome.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.item.completed')[0]?.item).toMatchObject({ status: 'declined', error: { class: 'denied' } })
    expect(resultsIn(model.requests[1])[0]?.ok).toBe(false)
  })

  test('approve once: the request has the exact arguments, keys and summary; the call runs; asked again next time', async () => {
    const { approver, asked } = deciding(() => approve())
    const { runtime, store } = setup({ approver, steps: [{ calls: [{ tool: 'remove', input: { path: '/a', reason: 'Tidy' } }] }, { calls: [remove('/a')] }, { text: 'x' }] })
    const outcome = await bounded(runtime.run('go'))
    expect(got).toEqual([{ path: '/a' }, { path: '/a' }])
    expect(asked).toHaveLength(2)
    expect(asked[0]).toMatchObject({ tool: 'remove', summary: 'Remove /a', input: { path: '/a' }, keys: [{ key: 'path:/a', label: '/a' }], scope: 'call' })
    const events = await journalOf(store, outcome.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.approval.requested')[0]?.request).toEqual(asked[0])
    expect(ofType(events, 'interaction.approval.resolved')[0]).toMatchObject({ approvalId: asked[0]?.id, decision: { kind: 'approve', breadth: 'once' }, by: 'me' })
    expect(outcome.snapshot.approvalKeys).toEqual([])
  })

  test('the decision is durable before the call runs', async () => {
    const store = memoryStore()
    const seen: string[][] = []
    const { runtime } = setup({
      store,
      approver: deciding(() => approve()).approver,
      steps: [{ calls: [remove('/a')] }, { text: 'x' }],
      tools: [
        guarded({
          execute: async () => {
            const [entry] = await store.trees.list()
            seen.push((await journalOf(store, entry?.treeId as TreeId)).map(({ type }) => type))
            return 'ok'
          },
        }),
      ],
    })
    await bounded(runtime.run('go'))
    expect(seen[0]).toContain('interaction.approval.requested')
    expect(seen[0]).toContain('interaction.approval.resolved')
  })

  test('approve for the session: the same key is not asked again, another key is; the snapshot has it', async () => {
    const { approver, asked } = deciding(() => approve('session'))
    const { runtime } = setup({ approver, steps: [{ calls: [remove('/a')] }, { calls: [remove('/a')] }, { calls: [remove('/b')] }, { text: 'x' }] })
    const outcome = await bounded(runtime.run('go'))
    expect(asked.map(({ input }) => input.path)).toEqual(['/a', '/b'])
    expect(got).toHaveLength(3)
    expect(outcome.snapshot.approvalKeys.map(({ key }) => key).sort()).toEqual(['path:/a', 'path:/b'])
  })

  test('"cached decisions are events (so they survive resume)": another runtime on the same store does not ask again', async () => {
    const store = memoryStore()
    const one = setup({ store, approver: deciding(() => approve('session')).approver, steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
    const { treeId } = await bounded(one.runtime.run('go'))
    await one.runtime.close()
    const { approver, asked } = deciding(() => ({ kind: 'deny', by: 'me' }))
    const two = setup({ store, approver, steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
    const handle = await two.runtime.open(treeId)
    await handle.send('again')
    await finish(handle)
    await until('the second turn', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 2)
    expect(asked).toEqual([])
    expect(got).toEqual([{ path: '/a' }])
  })

  test('a session approval holds for its session only', async () => {
    const { approver, asked } = deciding(() => approve('session'))
    const { runtime } = setup({ approver, steps: [{ calls: [remove('/a')] }, { text: 'x' }, { calls: [remove('/a')] }, { text: 'x' }] })
    await bounded(runtime.run('one'))
    await bounded(runtime.run('two'))
    expect(asked).toHaveLength(2)
  })

  test('of several keys, all must have been approved', async () => {
    const { approver, asked } = deciding(() => approve('session'))
    const two = guarded({
      inputSchema: { type: 'object' },
      approval: ({ keys }) => ({ keys: (keys as string[]).map((key) => ({ key, label: key })), summary: 's' }),
    })
    const call = (...keys: string[]) => ({ calls: [{ tool: 'remove', input: { keys } }] })
    const { runtime } = setup({ approver, tools: [two], steps: [call('a'), call('a', 'b'), call('b'), call('a', 'b'), { text: 'x' }] })
    await bounded(runtime.run('go'))
    expect(asked.map(({ keys }) => keys.map(({ key }) => key))).toEqual([['a'], ['a', 'b']])
  })

  test('an approval without keys can not be remembered: asked each time', async () => {
    const { approver, asked } = deciding(() => approve('session'))
    const { runtime } = setup({
      approver,
      tools: [guarded({ approval: () => ({ keys: [], summary: 's' }) })],
      steps: [{ calls: [remove('/a')] }, { calls: [remove('/b')] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect(asked).toHaveLength(2)
  })

  test('two calls of one step under one key: approved for the session once, nothing runs that was not approved', async () => {
    const { approver, asked } = deciding((_, n) => (n === 1 ? approve('session') : { kind: 'deny', by: 'me' }))
    const { runtime } = setup({ approver, steps: [{ calls: [remove('/a'), remove('/a')] }, { text: 'x' }] })
    await bounded(runtime.run('go'))
    expect(got.length).toBe(asked.length === 1 ? 2 : 1)
  })

  test('deny with feedback: not run, declined, the model reads the feedback, the turn goes on', async () => {
    const { runtime, model, store } = setup({
      approver: deciding(() => ({ kind: 'deny', feedback: 'Use the archive instead', by: 'me' })).approver,
      steps: [{ calls: [remove('/a'), { tool: 'other' }] }, { text: 'x' }],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(got).toEqual([])
    expect(outcome.status).toBe('completed')
    const results = resultsIn(model.requests[1])
    expect(results.map(({ ok }) => ok)).toEqual([false, true])
    expect(results[0]?.content).toContain('Use the archive instead')
    expect(ofType(await journalOf(store, outcome.treeId), 'interaction.item.completed').map(({ item }) => item.status)).toContain('declined')
  })

  test('events.ts: abort = "Deny and end the turn": nothing further runs, the model is not asked again, reason denied', async () => {
    const { runtime, model, store } = setup({
      approver: deciding(() => ({ kind: 'abort', by: 'me' })).approver,
      tools: [guarded(), tool('later')],
      steps: [{ calls: [remove('/a'), { tool: 'later' }] }, { text: 'never' }],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(got).toEqual([])
    expect(outcome.reason).toBe('denied')
    expect(['failed', 'interrupted']).toContain(outcome.status)
    expect(model.requests).toHaveLength(1)
    const events = await journalOf(store, outcome.treeId)
    expectLegal(events)
    expectWhole(outcome)
  })

  for (const [name, decide] of [
    ['throws', () => { throw new Error('no terminal') }],
    ['rejects', () => Promise.reject(new Error('no terminal'))],
    ['answers nothing', () => undefined],
    ['answers nonsense', () => ({ kind: 'banana' })],
    ['answers true', () => true],
    ['answers "approve"', () => 'approve'],
    ['approves with an unknown breadth', () => ({ kind: 'approve', breadth: 'forever', by: 'me' })],
  ] as const)
    test(`an approver that ${name}: nothing runs, the session ends or goes on`, async () => {
      const { runtime, store, clock } = setup({ approver: deciding(decide).approver, steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
      const outcome = await elapsing(clock, runtime.run('go'), 1000, 30)
      expect(got).toEqual([])
      expectWhole(outcome)
      expectLegal(await journalOf(store, outcome.treeId), { settled: outcome.status !== 'suspended' })
    })

  test('a tool whose approval() throws is not run', async () => {
    const { runtime, model } = setup({
      approver: deciding(() => approve()).approver,
      tools: [
        guarded({
          approval: () => {
            throw new Error('can not tell')
          },
        }),
      ],
      steps: [{ calls: [remove('/a')] }, { text: 'x' }],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(got).toEqual([])
    expect(outcome.status).toBe('completed')
    expect(resultsIn(model.requests[1])[0]?.ok).toBe(false)
  })

  test('a tool whose approval() answers nonsense is not run without being asked for', async () => {
    for (const answer of [{}, 'yes', { keys: 'all' }, true]) {
      const { approver, asked } = deciding(() => ({ kind: 'deny', by: 'me' }))
      const { runtime } = setup({ approver, tools: [guarded({ approval: () => answer as never })], steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
      await bounded(runtime.run('go'))
      expect(got, `${JSON.stringify(answer)}, asked ${asked.length}`).toEqual([])
    }
  })

  test('undefined: nobody is asked', async () => {
    const { approver, asked } = deciding(() => approve())
    const { runtime } = setup({ approver, tools: [guarded({ approval: () => undefined })], steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
    await bounded(runtime.run('go'))
    expect([asked.length, got.length]).toEqual([0, 1])
  })

  test('exact arguments: what was approved is what runs, whatever the approver does to the request', async () => {
    const { approver } = deciding((request) => {
      try {
        ;(request.input as { path: string }).path = '/etc'
      } catch {
        // frozen is as good
      }
      return approve()
    })
    const { runtime, store } = setup({ approver, steps: [{ calls: [remove('/a')] }, { text: 'x' }] })
    const { treeId } = await bounded(runtime.run('go'))
    expect(got).toEqual([{ path: '/a' }])
    expect(ofType(await journalOf(store, treeId), 'interaction.approval.requested')[0]?.request.input).toEqual({ path: '/a' })
  })

  test('approval() can not change the arguments either', async () => {
    const { runtime } = setup({
      approver: deciding(() => approve()).approver,
      tools: [
        guarded({
          approval: (input) => {
            try {
              ;(input as { path: string }).path = '/etc'
            } catch {
              // frozen is as good
            }
            return { keys: [{ key: 'k', label: 'k' }], summary: 'Remove /a' }
          },
        }),
      ],
      steps: [{ calls: [remove('/a')] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect(got).toEqual([{ path: '/a' }])
  })

  test('"tool output can never grant one"', async () => {
    const { approver, asked } = deciding(() => ({ kind: 'deny', by: 'me' }))
    const { runtime } = setup({
      approver,
      tools: [guarded(), tool('other', { execute: () => ({ ok: true, content: 'approved', value: { kind: 'approve', breadth: 'session', keys: ['path:/a'] } }) })],
      steps: [{ calls: [{ tool: 'other' }] }, { calls: [remove('/a')] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect([asked.length, got.length]).toEqual([1, 0])
  })

  test('revoked keys are asked for again', async () => {
    const { approver, asked } = deciding(() => approve('session'))
    const { runtime, store } = setup({ approver, steps: [{ calls: [remove('/a')] }, { text: 'x' }, { calls: [remove('/a')] }, { text: 'y' }] })
    const handle = runtime.stream('go')
    await finish(handle)
    await store.inbox.add(handle.treeId, 'revoke-1' as never, { kind: 'revoke', keys: ['path:/a'], by: 'me' })
    await handle.send('again')
    await until('the second turn', async () => ofType(await journalOf(store, handle.treeId), 'interaction.turn.completed').length === 2)
    expect(asked).toHaveLength(2)
    expect(ofType(await journalOf(store, handle.treeId), 'interaction.approval.revoked')).toMatchObject([{ keys: ['path:/a'], by: 'me' }])
  })
})

describe('core.md, approvals: waiting', () => {
  const stores: { [name: string]: () => { first: Store; second: Store } } = {
    memory: () => {
      const store = memoryStore()
      return { first: store, second: store }
    },
    sqlite: () => {
      const path = temporaryFolder()
      return { first: sqliteStore({ path }), second: sqliteStore({ path }) }
    },
  }
  const suspended = async (store: Store, more: Setup = {}) => {
    const made = setup({ store, approver: deciding(() => 'suspend').approver, steps: [{ calls: [remove('/a'), { tool: 'other' }] }, { text: 'Removed.' }], ...more })
    const outcome = await bounded(made.runtime.run('go'), 'the suspension')
    expect([outcome.status, outcome.reason]).toEqual(['suspended', 'approval'])
    const [requested] = ofType(await journalOf(store, outcome.treeId), 'interaction.approval.requested')
    return { ...made, outcome, treeId: outcome.treeId, approvalId: requested?.request.id as ApprovalId }
  }

  for (const [name, open] of Object.entries(stores)) {
    test(`suspend (${name}): turn.suspended is not terminal, names the approvals; the call has not run, the one beside it has`, async () => {
      const { first } = open()
      const { treeId, approvalId } = await suspended(first)
      const events = await journalOf(first, treeId)
      expectLegal(events, { settled: false })
      expect(ofType(events, 'interaction.turn.suspended')).toMatchObject([{ reason: 'approval', approvals: [approvalId] }])
      expect(events.filter(({ type }) => /turn\.(completed|failed|interrupted)|session\.idle/.test(type))).toEqual([])
      expect(got).toEqual([])
      expect(ofType(events, 'interaction.item.completed')).toHaveLength(1)
    })

    test(`answered later from another runtime on the same store (${name}): it runs once, exactly as asked, and the turn completes`, async () => {
      const { first, second } = open()
      const one = await suspended(first)
      await one.runtime.close()
      const two = setup({ store: second, steps: [{ text: 'Removed.' }] })
      await two.runtime.sessions.approve(one.treeId, one.approvalId, { kind: 'approve', breadth: 'once' })
      const handle = await two.runtime.open(one.treeId)
      const outcome = await finish(handle)
      expect([outcome.status, outcome.report?.text]).toEqual(['completed', 'Removed.'])
      expect(got).toEqual([{ path: '/a' }])
      const events = await journalOf(second, one.treeId)
      expectLegal(events)
      expect(ofType(events, 'interaction.turn.completed')).toHaveLength(1)
      expect(resultsIn(two.model.requests[0]).map(({ name: called, ok }) => [called, ok])).toEqual([
        ['remove', true],
        ['other', true],
      ])
    })

    test(`denied later (${name})`, async () => {
      const { first, second } = open()
      const one = await suspended(first)
      await one.runtime.close()
      const two = setup({ store: second, steps: [{ text: 'Not removed.' }] })
      const handle = await two.runtime.open(one.treeId)
      await handle.approve(one.approvalId, { kind: 'deny', feedback: 'Keep it' })
      await until('the end', async () => ofType(await journalOf(second, one.treeId), 'interaction.turn.completed').length === 1)
      expect(got).toEqual([])
      expect(resultsIn(two.model.requests[0])[0]?.content).toContain('Keep it')
    })
  }

  test('answered in the same runtime while suspended: the turn goes on by itself', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    await runtime.sessions.approve(treeId, approvalId, { kind: 'approve', breadth: 'once' })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect((await bounded(runtime.sessions.outcome(treeId))).status).toBe('completed')
    expect(got).toEqual([{ path: '/a' }])
    expectLegal(await journalOf(store, treeId))
  })

  test('two open approvals: one answer is not enough', async () => {
    const store = memoryStore()
    const made = setup({ store, approver: deciding(() => 'suspend').approver, steps: [{ calls: [remove('/a'), remove('/b')] }, { text: 'x' }] })
    const { treeId } = await bounded(made.runtime.run('go'))
    const ids = ofType(await journalOf(store, treeId), 'interaction.approval.requested').map(({ request }) => request.id)
    expect(ids).toHaveLength(2)
    await made.runtime.sessions.approve(treeId, ids[1] as ApprovalId, { kind: 'approve', breadth: 'once' })
    await settle(20)
    expect(ofType(await journalOf(store, treeId), 'interaction.turn.completed')).toEqual([])
    await made.runtime.sessions.approve(treeId, ids[0] as ApprovalId, { kind: 'deny' })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(got).toEqual([{ path: '/b' }])
    expectLegal(await journalOf(store, treeId))
  })

  test('double answers: the first counts, the call runs at most once, nothing breaks', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    const answers = await Promise.allSettled([
      runtime.sessions.approve(treeId, approvalId, { kind: 'approve', breadth: 'once' }),
      runtime.sessions.approve(treeId, approvalId, { kind: 'deny', feedback: 'No!' }),
      runtime.sessions.approve(treeId, approvalId, { kind: 'approve', breadth: 'once' }),
    ])
    expect(answers[0]?.status).toBe('fulfilled')
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(got).toEqual([{ path: '/a' }])
    const events = await journalOf(store, treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.approval.resolved').map(({ decision }) => decision.kind)).toEqual(['approve'])
  })

  test('a late answer, after the turn: refused as approval_unknown or told in a diagnostic; nothing runs', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    await runtime.sessions.approve(treeId, approvalId, { kind: 'deny' })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    let refused = ''
    try {
      await runtime.sessions.approve(treeId, approvalId, { kind: 'approve', breadth: 'once' })
    } catch (error) {
      refused = (error as { code: string }).code
    }
    await settle(20)
    expect(got).toEqual([])
    const told = ofType(await journalOf(store, treeId), 'interaction.diagnostic')
    if (refused === '') expect(told).toHaveLength(1)
    else expect(refused).toBe('approval_unknown')
    expectLegal(await journalOf(store, treeId))
  })

  test('an approval that does not exist: approval_unknown, or a diagnostic', async () => {
    const { runtime, treeId, store } = await suspended(memoryStore())
    let refused = ''
    try {
      await runtime.sessions.approve(treeId, 'nope' as ApprovalId, { kind: 'approve', breadth: 'once' })
    } catch (error) {
      refused = (error as { code: string }).code
    }
    await settle(20)
    if (refused === '') expect(ofType(await journalOf(store, treeId), 'interaction.diagnostic')).toHaveLength(1)
    else expect(refused).toBe('approval_unknown')
    expect(got).toEqual([])
  })

  test('a decision that is nonsense is refused and nothing runs', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    for (const decision of [undefined, null, {}, { kind: 'banana' }, { kind: 'approve' }, { kind: 'approve', breadth: 'everything' }, 'approve'])
      await Promise.resolve()
        .then(() => runtime.sessions.approve(treeId, approvalId, decision as unknown as ApprovalDecision))
        .catch((error) => expect(everything(error)).not.toBe(''))
    await settle(20)
    expect(got).toEqual([])
    expectLegal(await journalOf(store, treeId), { settled: false })
  })

  test('an answer for a tree that does not exist: tree_unknown', async () => {
    const { runtime } = setup({})
    expect((await troupeError(() => runtime.sessions.approve('nope' as TreeId, 'a' as ApprovalId, { kind: 'deny' }))).code).toBe('tree_unknown')
  })

  test('wait: the turn stays open, handle.approve lets it go on', async () => {
    const { runtime, store } = setup({ approver: deciding(() => 'wait').approver, steps: [{ calls: [remove('/a')] }, { text: 'Removed.' }] })
    const handle = runtime.stream('go')
    let request: ApprovalRequest | undefined
    for await (const event of handle)
      if (event.type === 'interaction.approval.requested') {
        request = event.request
        break
      }
    await settle(20)
    expect(got).toEqual([])
    await handle.approve(request?.id as ApprovalId, { kind: 'approve', breadth: 'once' })
    const outcome = await finish(handle)
    expect([outcome.status, outcome.report?.text]).toEqual(['completed', 'Removed.'])
    expect(got).toEqual([{ path: '/a' }])
    expect(ofType(await journalOf(store, handle.treeId), 'interaction.turn.suspended')).toEqual([])
  })

  test('"an open approval holds no reservation and no slot": with a cap of one and an exclusive call waiting, the others run', async () => {
    const { runtime, store } = setup({
      approver: deciding(() => 'wait').approver,
      limits: { parallelToolCalls: 1 },
      steps: [{ calls: [remove('/a'), { tool: 'other' }] }, { text: 'x' }],
    })
    const handle = runtime.stream('go')
    await until('the other has run', async () => ofType(await journalOf(store, handle.treeId), 'interaction.item.completed').length === 1)
    expect(got).toEqual([])
    await handle.interrupt()
    await finish(handle)
  })

  test('"Time is working time: waiting for a person does not count", and no timeout covers a person’s thinking', async () => {
    const clock = new FakeClock()
    const { runtime, store } = setup({
      clock,
      approver: deciding(() => 'wait').approver,
      limits: { timeBudget: 10_000, toolTimeout: 5_000 },
      steps: [{ calls: [remove('/a')] }, { text: 'x' }],
    })
    const handle = runtime.stream('go')
    await until('asked', async () => ofType(await journalOf(store, handle.treeId), 'interaction.approval.requested').length === 1)
    await clock.elapse(3_600_000)
    const [requested] = ofType(await journalOf(store, handle.treeId), 'interaction.approval.requested')
    await handle.approve(requested?.request.id as ApprovalId, { kind: 'approve', breadth: 'once' })
    const outcome = await finish(handle)
    expect([outcome.status, got.length]).toEqual(['completed', 1])
  })

  test('the same when the approver itself takes an hour to answer', async () => {
    const clock = new FakeClock()
    const { runtime } = setup({
      clock,
      approver: { review: () => new Promise((resolve) => void clock.after(3_600_000, () => resolve(approve()))) },
      limits: { timeBudget: 10_000, toolTimeout: 5_000 },
      steps: [{ calls: [remove('/a')] }, { text: 'x' }],
    })
    const outcome = await elapsing(clock, runtime.run('go'), 600_000, 20)
    expect([outcome.status, got.length]).toEqual(['completed', 1])
  })

  test('the same over a suspension', async () => {
    const clock = new FakeClock()
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore(), { clock, limits: { timeBudget: 10_000 } })
    await clock.elapse(3_600_000)
    await runtime.sessions.approve(treeId, approvalId, { kind: 'approve', breadth: 'once' })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(ofType(await journalOf(store, treeId), 'interaction.turn.completed')[0]?.status).toBe('completed')
  })

  test('interrupt while suspended ends the turn; the call never ran', async () => {
    const { runtime, treeId, store } = await suspended(memoryStore())
    await runtime.sessions.cancel(treeId, 'interrupt')
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.interrupted').length === 1)
    const events = await journalOf(store, treeId)
    expectLegal(events)
    expect(got).toEqual([])
  })

  test('stop while waiting gives a last answer; the call never runs', async () => {
    const { runtime, model, store } = setup({ approver: deciding(() => 'wait').approver, steps: [{ calls: [remove('/a')] }, { text: 'Without it.' }] })
    const handle = runtime.stream('go')
    await until('asked', async () => ofType(await journalOf(store, handle.treeId), 'interaction.approval.requested').length === 1)
    await handle.stop()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'stopped', 'Without it.'])
    expect(got).toEqual([])
    expect(model.requests[1]?.toolChoice).toBe('none')
    expectLegal(await journalOf(store, handle.treeId))
  })

  test('a message sent while suspended is not lost: it is answered after the turn', async () => {
    const { runtime, treeId, approvalId, store, model } = await suspended(memoryStore(), {
      steps: [{ calls: [remove('/a')] }, { text: 'Removed.' }, { text: 'And that.' }],
    })
    await runtime.sessions.send(treeId, 'and that?')
    await settle(20)
    await runtime.sessions.approve(treeId, approvalId, { kind: 'approve', breadth: 'once' })
    await until('both turns', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 2)
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('and that?')
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('and that?')
    expectLegal(await journalOf(store, treeId))
  })

  test('opening a suspended tree without an answer leaves it suspended, and asks the model nothing', async () => {
    const store = memoryStore()
    const one = await suspended(store)
    await one.runtime.close()
    const two = setup({ store, approver: deciding(() => 'suspend').approver, steps: [{ text: 'never' }] })
    const handle = await two.runtime.open(one.treeId)
    const outcome = await finish(handle)
    expect(outcome.status).toBe('suspended')
    expect(two.model.requests).toHaveLength(0)
    expectLegal(await journalOf(store, one.treeId), { settled: false })
  })

  test('"Changing the arguments voids an approval": an answer to an old request does not cover a new one', async () => {
    const { runtime, store } = setup({
      approver: deciding(() => 'wait').approver,
      steps: [{ calls: [remove('/a')] }, { calls: [remove('/b')] }, { text: 'x' }],
    })
    const handle = runtime.stream('go')
    const requests = async () => ofType(await journalOf(store, handle.treeId), 'interaction.approval.requested').map(({ request }) => request)
    await until('asked', async () => (await requests()).length === 1)
    const [first] = await requests()
    await handle.approve(first?.id as ApprovalId, { kind: 'approve', breadth: 'once' })
    await until('asked again', async () => (await requests()).length === 2)
    await Promise.resolve(handle.approve(first?.id as ApprovalId, { kind: 'approve', breadth: 'once' })).catch(() => undefined)
    await settle(20)
    expect(got).toEqual([{ path: '/a' }])
    const second = (await requests())[1]
    expect(second?.id).not.toBe(first?.id)
    expect(second?.inputHash).not.toBe(first?.inputHash)
    await handle.interrupt()
    await finish(handle)
  })
})

describe('core.md, sandbox: sandboxed attempt → gated retry without sandbox, which needs an approval of its own', () => {
  const sandbox = { confinement: { kind: 'sandbox', name: 'box' } } as const
  const confined = (log: string[], more: Partial<Tool> = {}): Tool =>
    tool('shell', {
      execute: (_, { confinement, attempt }) => {
        log.push(`${confinement.kind} ${attempt}`)
        return confinement.kind === 'sandbox' ? { ok: false, error: { class: 'sandbox', message: 'no network inside' } } : 'did it outside'
      },
      ...more,
    })

  test('approved: runs again outside as attempt 2; item.updated is durable before that', async () => {
    const log: string[] = []
    const store = memoryStore()
    const seen: string[][] = []
    const { approver, asked } = deciding(() => approve())
    const { runtime, model } = setup({
      store,
      sandbox,
      approver,
      tools: [
        confined(log, {
          execute: async (_, { confinement, attempt }) => {
            log.push(`${confinement.kind} ${attempt}`)
            const [entry] = await store.trees.list()
            seen.push((await journalOf(store, entry?.treeId as TreeId)).map(({ type }) => type))
            return confinement.kind === 'sandbox' ? { ok: false, error: { class: 'sandbox', message: 'no network inside' } } : 'did it outside'
          },
        }),
      ],
      steps: [{ calls: [{ tool: 'shell' }] }, { text: 'x' }],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(log).toEqual(['sandbox 1', 'none 2'])
    expect(asked).toMatchObject([{ scope: 'unsandboxed', tool: 'shell' }])
    expect(seen[1]).toContain('interaction.item.updated')
    expect(resultsIn(model.requests[1])[0]).toMatchObject({ ok: true, content: 'did it outside' })
    const events = await journalOf(store, outcome.treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.item.updated')).toMatchObject([{ attempt: 2, reason: 'unsandboxed' }])
  })

  test('denied, and the default without an approver: it does not run outside', async () => {
    for (const approver of [undefined, deciding(() => ({ kind: 'deny', by: 'me' })).approver]) {
      const log: string[] = []
      const { runtime, model } = setup({ sandbox, ...(approver && { approver }), tools: [confined(log)], steps: [{ calls: [{ tool: 'shell' }] }, { text: 'x' }] })
      const outcome = await bounded(runtime.run('go'))
      expect(log).toEqual(['sandbox 1'])
      expect(outcome.status).toBe('completed')
      expect(resultsIn(model.requests[1])[0]?.ok).toBe(false)
    }
  })

  test('an approval of the call, even for the session, does not cover the run outside', async () => {
    const log: string[] = []
    const { approver, asked } = deciding(({ scope }) => (scope === 'call' ? approve('session') : { kind: 'deny', by: 'me' }))
    const { runtime } = setup({
      sandbox,
      approver,
      tools: [confined(log, { approval: () => ({ keys: [{ key: 'tool:shell', label: 'shell' }], summary: 's' }) })],
      steps: [{ calls: [{ tool: 'shell' }] }, { calls: [{ tool: 'shell' }] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect(log).toEqual(['sandbox 1', 'sandbox 1'])
    expect(asked.map(({ scope }) => scope)).toEqual(['call', 'unsandboxed', 'unsandboxed'])
  })

  test('without a sandbox there is nothing to escalate', async () => {
    const log: string[] = []
    const { approver, asked } = deciding(() => approve())
    const { runtime } = setup({
      approver,
      tools: [
        confined(log, {
          execute: (_, { confinement, attempt }) => {
            log.push(`${confinement.kind} ${attempt}`)
            return { ok: false, error: { class: 'sandbox', message: 'says so' } }
          },
        }),
      ],
      steps: [{ calls: [{ tool: 'shell' }] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect([log, asked.length]).toEqual([['none 1'], 0])
  })

  test('other failures are not escalated, and an outside attempt that fails is not tried a third time', async () => {
    const log: string[] = []
    const { approver } = deciding(() => approve())
    const { runtime } = setup({
      sandbox,
      approver,
      tools: [
        confined(log, {
          execute: (_, { confinement, attempt }) => {
            log.push(`${confinement.kind} ${attempt}`)
            return { ok: false, error: { class: 'sandbox', message: 'still' } }
          },
        }),
        tool('broken', {
          execute: (_, { attempt }) => {
            log.push(`broken ${attempt}`)
            return { ok: false, error: { class: 'network', message: 'gone' } }
          },
        }),
      ],
      steps: [{ calls: [{ tool: 'shell' }, { tool: 'broken' }] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect(log).toEqual(['sandbox 1', 'none 2', 'broken 1'])
  })

  test('the run outside can wait for an answer from another runtime', async () => {
    const store = memoryStore()
    const log: string[] = []
    const one = setup({ store, sandbox, approver: deciding(() => 'suspend').approver, tools: [confined(log)], steps: [{ calls: [{ tool: 'shell' }] }] })
    const { treeId, status } = await bounded(one.runtime.run('go'))
    expect(status).toBe('suspended')
    await one.runtime.close()
    const [requested] = ofType(await journalOf(store, treeId), 'interaction.approval.requested')
    const two = setup({ store, sandbox, tools: [confined(log)], steps: [{ text: 'x' }] })
    const handle = await two.runtime.open(treeId)
    await handle.approve(requested?.request.id as ApprovalId, { kind: 'approve', breadth: 'once' })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(log).toEqual(['sandbox 1', 'none 2'])
    expectLegal(await journalOf(store, treeId))
  })
})
