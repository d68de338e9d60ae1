import { describe, expect, test, vi } from 'vitest'
import type { ApprovalId, ApprovalRequest, JsonObject, Store, Tool, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import {
  approverOf,
  bounded,
  elapsing,
  expectLegal,
  finish,
  inProcess,
  journalOf,
  objectSchema,
  ofType,
  resultsIn,
  type Setup,
  settle,
  temporaryFolder,
  tool,
  troupeError,
  until,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const got: JsonObject[] = []
const schema = objectSchema({ path: { type: 'string' } }, ['path'])
const guarded = (more: Partial<Tool> = {}): Tool => ({
  ...tool('remove', { schema }),
  concurrency: { key: ({ path }) => String(path) },
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
  const approver = approverOf((request) => decide(request, asked.push(request)))
  return { approver, asked }
}
const approve = (breadth: 'once' | 'session' = 'once') => ({ kind: 'approve', breadth, by: 'me' }) as const
const setup = (more: Setup): ReturnType<typeof world> => {
  got.length = 0
  return world({ tools: [guarded(), tool('other', { concurrency: 'shared' })], ...more })
}

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
    const made = setup({
      store,
      approver: deciding(() => 'suspend').approver,
      steps: [{ calls: [remove('/a'), { tool: 'other' }] }, { text: 'Removed.' }],
      ...more,
    })
    const outcome = await bounded(made.runtime.run('go'), 'the suspension')
    expect([outcome.status, outcome.reason]).toEqual(['suspended', 'approval'])
    const [requested] = ofType(await journalOf(store, outcome.sessionId), 'interaction.approval.requested')
    return { ...made, outcome, treeId: outcome.sessionId, approvalId: requested?.request.id as ApprovalId }
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
      await two.runtime.sessions.approve(one.treeId, { approvalId: one.approvalId, decision: { kind: 'approve', breadth: 'once' } })
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
      const two = setup({ store: second, approver: deciding(() => 'suspend').approver, steps: [{ text: 'Not removed.' }] })
      const handle = await two.runtime.open(one.treeId)
      await handle.approve(one.approvalId, { kind: 'deny', feedback: 'Keep it' })
      await until('the end', async () => ofType(await journalOf(second, one.treeId), 'interaction.turn.completed').length === 1)
      expect(got).toEqual([])
      expect(resultsIn(two.model.requests[0])[0]?.content).toContain('Keep it')
    })
  }

  test('answered in the same runtime while suspended: the turn continues by itself', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    await runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'approve', breadth: 'once' } })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect((await bounded(runtime.sessions.outcome(treeId))).status).toBe('completed')
    expect(got).toEqual([{ path: '/a' }])
    expectLegal(await journalOf(store, treeId))
  })

  test('two open approvals: one answer is not enough', async () => {
    const store = memoryStore()
    const made = setup({
      store,
      approver: deciding(() => 'suspend').approver,
      steps: [{ calls: [remove('/a'), remove('/b')] }, { text: 'x' }],
    })
    const { sessionId: treeId } = await bounded(made.runtime.run('go'))
    const ids = ofType(await journalOf(store, treeId), 'interaction.approval.requested').map(({ request }) => request.id)
    expect(ids).toHaveLength(2)
    await made.runtime.sessions.approve(treeId, { approvalId: ids[1] as ApprovalId, decision: { kind: 'approve', breadth: 'once' } })
    await settle(20)
    expect(ofType(await journalOf(store, treeId), 'interaction.turn.completed')).toEqual([])
    await made.runtime.sessions.approve(treeId, { approvalId: ids[0] as ApprovalId, decision: { kind: 'deny' } })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(got).toEqual([{ path: '/b' }])
    expectLegal(await journalOf(store, treeId))
  })

  test('double answers: the first applies, the call runs at most once, nothing breaks', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    const answers = await Promise.allSettled([
      runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'approve', breadth: 'once' } }),
      runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'deny', feedback: 'No!' } }),
      runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'approve', breadth: 'once' } }),
    ])
    expect(answers[0]?.status).toBe('fulfilled')
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(got).toEqual([{ path: '/a' }])
    const events = await journalOf(store, treeId)
    expectLegal(events)
    expect(ofType(events, 'interaction.approval.resolved').map(({ decision }) => decision.kind)).toEqual(['approve'])
  })

  test('a late answer, after the turn: refused as approval_answered or reported in a diagnostic; nothing runs', async () => {
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore())
    await runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'deny' } })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    let refused = ''
    try {
      await runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'approve', breadth: 'once' } })
    } catch (error) {
      refused = (error as { code: string }).code
    }
    await settle(20)
    expect(got).toEqual([])
    const told = ofType(await journalOf(store, treeId), 'interaction.diagnostic')
    if (refused === '') expect(told).toHaveLength(1)
    else expect(refused).toBe('approval_answered')
    expectLegal(await journalOf(store, treeId))
  })

  test('an approval that does not exist: approval_unknown, and nothing is written', async () => {
    const { runtime, treeId, store } = await suspended(memoryStore())
    let refused = ''
    try {
      await runtime.sessions.approve(treeId, { approvalId: 'nope' as ApprovalId, decision: { kind: 'approve', breadth: 'once' } })
    } catch (error) {
      refused = (error as { code: string }).code
    }
    await settle(20)
    expect(refused).toBe('approval_unknown')
    expect(ofType(await journalOf(store, treeId), 'interaction.diagnostic')).toEqual([])
    expect(got).toEqual([])
  })

  test('a decision of an unknown kind runs nothing and does not stop the process', async () => {
    const { answer, ran } = await inProcess(`
      let ran = 0
      for (const decision of [undefined, null, {}, { kind: 'banana' }, 'approve']) {
        const store = memoryStore()
        const asks = { name: 'remove', description: 'd', inputSchema: { type: 'object' }, approval: () => ({ keys: [], summary: 's' }), execute: () => { ran += 1; return 'x' } }
        const runtime = createAgentRuntime({ store, adapter: new ScriptedModel([{ calls: [{ tool: 'remove' }] }, { text: 'x' }]), approver: { decide: () => 'suspend' }, config: { agents: [agent], tools: [asks] } })
        const { sessionId: treeId } = await runtime.run('go')
        const requested = (await store.journal.read(treeId, 0)).find((event) => event.type === 'interaction.approval.requested') as any
        try { await runtime.sessions.approve(treeId, { approvalId: requested.request.id, decision: decision as any }) } catch (error) { if (!(error instanceof TroupeError)) throw error }
        await rounds()
      }
      done({ ran })
    `)
    expect(ran.killed, ran.stderr).toBe(false)
    expect(answer, ran.stderr).toEqual({ ran: 0 })
  })

  test('an answer for a tree that does not exist: session_unknown', async () => {
    const { runtime } = setup({})
    expect(
      (await troupeError(() => runtime.sessions.approve('nope' as TreeId, { approvalId: 'a' as ApprovalId, decision: { kind: 'deny' } })))
        .code,
    ).toBe('session_unknown')
  })

  test('wait: the turn stays open, handle.approve lets it continue', async () => {
    const { runtime, store } = setup({
      approver: deciding(() => 'wait').approver,
      steps: [{ calls: [remove('/a')] }, { text: 'Removed.' }],
    })
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
    expect(ofType(await journalOf(store, handle.sessionId), 'interaction.turn.suspended')).toEqual([])
  })

  test('"an open approval holds no reservation and no slot": with a cap of one, a call that does not conflict runs', async () => {
    const { runtime, store } = setup({
      approver: deciding(() => 'wait').approver,
      limits: { parallelToolCalls: 1 },
      steps: [{ calls: [remove('/a'), { tool: 'other' }] }, { text: 'x' }],
    })
    const handle = runtime.stream('go')
    await until(
      'the other has run',
      async () => ofType(await journalOf(store, handle.sessionId), 'interaction.item.completed').length === 1,
    )
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
    await until('asked', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.approval.requested').length === 1)
    await clock.elapse(3_600_000)
    const [requested] = ofType(await journalOf(store, handle.sessionId), 'interaction.approval.requested')
    await handle.approve(requested?.request.id as ApprovalId, { kind: 'approve', breadth: 'once' })
    const outcome = await finish(handle)
    expect([outcome.status, got.length]).toEqual(['completed', 1])
  })

  test('the same when the approver itself takes an hour to answer', async () => {
    const clock = new FakeClock()
    const { runtime } = setup({
      clock,
      approver: approverOf(() => new Promise((resolve) => void clock.after(3_600_000, () => resolve(approve())))),
      limits: { timeBudget: 10_000, toolTimeout: 5_000 },
      steps: [{ calls: [remove('/a')] }, { text: 'x' }],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [600_000, 20])
    expect([outcome.status, got.length]).toEqual(['completed', 1])
  })

  test('the same over a suspension', async () => {
    const clock = new FakeClock()
    const { runtime, treeId, approvalId, store } = await suspended(memoryStore(), { clock, limits: { timeBudget: 10_000 } })
    await clock.elapse(3_600_000)
    await runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'approve', breadth: 'once' } })
    await until('the end', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 1)
    expect(ofType(await journalOf(store, treeId), 'interaction.turn.completed')[0]?.ending.status).toBe('completed')
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
    const { runtime, model, store } = setup({
      approver: deciding(() => 'wait').approver,
      steps: [{ calls: [remove('/a')] }, { text: 'Without it.' }],
    })
    const handle = runtime.stream('go')
    await until('asked', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.approval.requested').length === 1)
    await handle.stop()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'stopped', 'Without it.'])
    expect(got).toEqual([])
    expect(model.requests[1]?.toolChoice).toBe('none')
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('a message sent while suspended is not lost: it is answered after the turn', async () => {
    const { runtime, treeId, approvalId, store, model } = await suspended(memoryStore(), {
      steps: [{ calls: [remove('/a')] }, { text: 'Removed.' }, { text: 'And that.' }],
    })
    await runtime.sessions.send(treeId, 'and that?')
    await settle(20)
    await runtime.sessions.approve(treeId, { approvalId: approvalId, decision: { kind: 'approve', breadth: 'once' } })
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
    const requests = async () =>
      ofType(await journalOf(store, handle.sessionId), 'interaction.approval.requested').map(({ request }) => request)
    await until('asked', async () => (await requests()).length === 1)
    const [first] = await requests()
    await handle.approve(first?.id as ApprovalId, { kind: 'approve', breadth: 'once' })
    await until('asked again', async () => (await requests()).length === 2)
    await Promise.resolve(handle.approve(first?.id as ApprovalId, { kind: 'approve', breadth: 'once' })).catch(() => undefined)
    await settle(20)
    expect(got).toEqual([{ path: '/a' }])
    const second = (await requests())[1]
    expect(second?.id).not.toBe(first?.id)
    await handle.interrupt()
    await finish(handle)
  })
})
