import { describe, expect, test, vi } from 'vitest'
import type { ApprovalId, Store, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../../src/testing/index.ts'
import {
  bounded,
  collect,
  durable,
  everything,
  expectLegal,
  finish,
  journalOf,
  ofType,
  settle,
  temporaryFolder,
  tool,
  troupeError,
  until,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

for (const [name, open] of Object.entries({
  memory: () => memoryStore() as Store,
  sqlite: () => sqliteStore({ path: temporaryFolder() }) as Store,
}))
  describe(`session-service.ts on ${name}`, () => {
    test('open: "answers as soon as it is durable"', async () => {
      const store = open()
      const door = gate()
      const { runtime } = world({ store, steps: [{ text: 'x', wait: door.promise }] })
      const treeId = await bounded(runtime.sessions.start('go'))
      const events = await journalOf(store, treeId)
      expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['interaction.session.created', 'interaction.input.accepted']))
      door.open()
      expect((await bounded(runtime.sessions.outcome(treeId))).report?.text).toBe('x')
    })

    test('events: replays from after seq, then tails; ends when idle; no event missed or repeated, from every cursor', async () => {
      const store = open()
      const door = gate()
      const { runtime } = world({
        store,
        steps: [
          { text: 'abc', calls: [{ tool: 'slow' }] },
          { text: 'xyz', chunks: 3 },
        ],
        tools: [tool('slow', { execute: () => door.promise.then(() => 'ok') })],
      })
      const treeId = await runtime.sessions.start('go')
      await until('the call runs', async () => ofType(await journalOf(store, treeId), 'interaction.item.started').length === 2)
      const sofar = (await journalOf(store, treeId)).length
      const readers = Array.from({ length: sofar + 1 }, (_, after) => collect(runtime.sessions.events(treeId, after)))
      await settle(5)
      door.open()
      const all = await bounded(Promise.all(readers), 'all readers')
      const journal = await journalOf(store, treeId)
      for (const [after, events] of all.entries()) expect(durable(events), `after ${after}`).toEqual(journal.slice(after))
      expect(journal.at(-1)?.type).toBe('interaction.session.idle')
    })

    test('events of a tree that is idle: the whole, then the end', async () => {
      const store = open()
      const { runtime } = world({ store, steps: [{ text: 'x' }] })
      const { sessionId: treeId } = await bounded(runtime.run('go'))
      const events = await bounded(collect(runtime.sessions.events(treeId)), 'replay of an idle tree')
      expect(durable(events)).toEqual(await journalOf(store, treeId))
      expect(await bounded(collect(runtime.sessions.events(treeId, events.length)), 'from the end')).toEqual([])
    })

    test('events over two turns do not end at the first when a second is waiting', async () => {
      const store = open()
      const door = gate()
      const { runtime } = world({ store, steps: [{ text: 'one', wait: door.promise }, { text: 'two' }] })
      const treeId = await runtime.sessions.start('go')
      const reader = collect(runtime.sessions.events(treeId))
      await runtime.sessions.send(treeId, 'and then')
      door.open()
      const events = durable(await bounded(reader))
      expect(ofType(events, 'interaction.turn.completed')).toHaveLength(2)
      expectLegal(events)
    })

    test('a reader that leaves, and one that never reads, harm nobody', async () => {
      const store = open()
      const { runtime } = world({ store, steps: [{ text: 'x'.repeat(100), chunks: 100 }] })
      const treeId = await runtime.sessions.start('go')
      const idle = runtime.sessions.events(treeId)[Symbol.asyncIterator]()
      for await (const _ of runtime.sessions.events(treeId)) break
      expect(await bounded(runtime.sessions.outcome(treeId))).toMatchObject({ status: 'completed', report: { text: 'x'.repeat(100) } })
      await idle.return?.()
    })

    test('cancel: stop and interrupt; a repeated cancel counts once', async () => {
      const store = open()
      const { runtime, model } = world({ store, steps: [{ text: 'x', fault: 'silence' }] })
      const treeId = await runtime.sessions.start('go')
      await until('asked', () => model.requests.length === 1)
      await Promise.all([runtime.sessions.cancel(treeId, 'interrupt'), runtime.sessions.cancel(treeId, 'interrupt')])
      expect((await bounded(runtime.sessions.outcome(treeId))).status).toBe('interrupted')
      expectLegal(await journalOf(store, treeId))
    })

    test('outcome of an ended tree can be had again, in another runtime too, and says the same', async () => {
      const store = open()
      const one = world({ store, steps: [{ calls: [{ tool: 'look' }] }, { text: 'x' }], tools: [tool('look')] })
      const outcome = await bounded(one.runtime.run('go'))
      const again = await bounded(one.runtime.sessions.outcome(outcome.sessionId))
      expect(again).toEqual(outcome)
      const two = world({ store, tools: [tool('look')] })
      const other = await bounded(two.runtime.sessions.outcome(outcome.sessionId))
      expect([other.status, other.report, other.usage, other.cost, other.accounting, other.operations]).toEqual([
        outcome.status,
        outcome.report,
        outcome.usage,
        outcome.cost,
        outcome.accounting,
        outcome.operations,
      ])
    })

    test('list: newest first, with status, title and agent; limit and before page through without gap or repetition', async () => {
      const store = open()
      const { runtime, clock } = world({ store, steps: Array.from({ length: 5 }, (_, i) => ({ text: `answer ${i}` })) })
      const ids: TreeId[] = []
      for (let i = 0; i < 5; i += 1) {
        ids.push((await bounded(runtime.run(`question ${i}`))).sessionId)
        clock.advance(1000)
      }
      const all = await runtime.sessions.list()
      expect(all.map(({ sessionId }) => sessionId)).toEqual(ids.toReversed())
      expect(all[0]).toMatchObject({ agent: 'clerk', status: 'completed', title: expect.stringContaining('question 4') })
      expect(all[0]?.seq).toBe((await journalOf(store, ids[4] as TreeId)).length)
      const first = await runtime.sessions.list({ limit: 2 })
      expect(first.map(({ sessionId }) => sessionId)).toEqual([ids[4], ids[3]])
      const cursors = first.at(-1)
      const pages = await Promise.all([
        runtime.sessions.list({ limit: 2, before: cursors?.updatedAt as number }),
        runtime.sessions.list({ limit: 2, before: cursors?.createdAt as number }),
      ])
      expect(pages.some((page) => JSON.stringify(page.map(({ sessionId }) => sessionId)) === JSON.stringify([ids[2], ids[1]]))).toBe(true)
    })

    test('list says running, suspended, failed and interrupted as it is', async () => {
      const store = open()
      const { runtime, model } = world({
        store,
        tools: [tool('ask', { approval: () => ({ keys: [], summary: 's' }) })],
        approver: { decide: () => 'suspend' },
        steps: [{ calls: [{ tool: 'ask' }] }, { fault: { class: 'auth', message: 'no' } }, { text: 'x', fault: 'silence' }],
      })
      const suspended = (await bounded(runtime.run('a'))).sessionId
      const failed = (await bounded(runtime.run('b'))).sessionId
      const running = await runtime.sessions.start('c')
      await until('asked', () => model.requests.length === 3)
      const status = async () => Object.fromEntries((await runtime.sessions.list()).map((entry) => [entry.sessionId, entry.status]))
      expect(await status()).toEqual({ [suspended]: 'suspended', [failed]: 'failed', [running]: 'running' })
      await runtime.sessions.cancel(running, 'interrupt')
      await bounded(runtime.sessions.outcome(running))
      expect((await status())[running]).toBe('interrupted')
    })

    test('what does not exist: session_unknown, from every method', async () => {
      const { runtime } = world({ store: open() })
      const nope = 'nope' as TreeId
      expect((await troupeError(() => runtime.open(nope))).code).toBe('session_unknown')
      expect((await troupeError(() => runtime.sessions.send(nope, 'x'))).code).toBe('session_unknown')
      expect((await troupeError(() => runtime.sessions.cancel(nope, 'stop'))).code).toBe('session_unknown')
      expect((await troupeError(() => runtime.sessions.requests(nope))).code).toBe('session_unknown')
      expect(
        (await troupeError(() => runtime.sessions.approve(nope, { approvalId: 'a' as ApprovalId, decision: { kind: 'deny' } }))).code,
      ).toBe('session_unknown')
      expect((await troupeError(() => runtime.sessions.outcome(nope))).code).toBe('session_unknown')
    })

    test('events of a tree that does not exist: session_unknown, not an empty stream', async () => {
      const { runtime } = world({ store: open() })
      expect((await troupeError(() => collect(runtime.sessions.events('nope' as TreeId)))).code).toBe('session_unknown')
    })

    test('send on an idle session without a driver: it is recorded, and answered where the session is opened', async () => {
      const store = open()
      const one = world({ store, steps: [{ text: 'x' }] })
      const { sessionId: treeId } = await bounded(one.runtime.run('go'))
      await one.runtime.close()
      const two = world({ store, steps: [{ text: 'y' }] })
      expect(await two.runtime.sessions.send(treeId, 'and?')).toMatchObject({ driven: false })
      await two.runtime.open(treeId)
      await until('it is answered', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 2)
      expect((await bounded(two.runtime.sessions.outcome(treeId))).report?.text).toBe('y')
    })

    test('send with nonsense is refused and leaves nothing behind', async () => {
      const store = open()
      const { runtime, model } = world({ store, steps: [{ text: 'x' }] })
      const { sessionId: treeId } = await bounded(runtime.run('go'))
      for (const input of [undefined, null, 42, [], [{ type: 'banana' }]])
        await Promise.resolve()
          .then(() => runtime.sessions.send(treeId, input as never))
          .catch((error) => expect(everything(error)).not.toBe(''))
      await settle(20)
      expect(model.requests).toHaveLength(1)
      expectLegal(await journalOf(store, treeId))
    })

    test('events straight after stream(): nothing is missed', async () => {
      const store = open()
      const { runtime } = world({ store, steps: [{ text: 'x' }] })
      const handle = runtime.stream('go')
      const events = durable(await bounded(collect(runtime.sessions.events(handle.sessionId))))
      await finish(handle)
      expect(events).toEqual(await journalOf(store, handle.sessionId))
    })
  })
