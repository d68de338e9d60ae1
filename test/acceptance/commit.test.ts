import { describe, expect, test, vi } from 'vitest'
import { type InteractionEvent, TroupeError } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../../src/testing/index.ts'
import {
  bounded,
  collect,
  durable,
  finish,
  firstTree,
  has,
  journalOf,
  ofType,
  rawModel,
  settle,
  temporaryFolder,
  tool,
  until,
  watchedStore,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const stores = {
  memory: () => memoryStore(),
  sqlite: () => sqliteStore({ path: temporaryFolder() }),
}

for (const [name, open] of Object.entries(stores))
  describe(`core.md, what is committed when, on ${name}`, () => {
    test('[step.completed + intents] is durable before any call runs', async () => {
      const inner = open()
      const seen: InteractionEvent['type'][][] = []
      const { runtime } = world({
        store: inner,
        steps: [{ text: 'I look.', calls: [{ tool: 'a' }, { tool: 'b' }] }, { text: 'x' }],
        tools: ['a', 'b'].map((each) =>
          tool(each, {
            concurrency: 'shared',
            execute: async () => {
              seen.push((await journalOf(inner, await firstTree(inner))).map(({ type }) => type))
              return 'ok'
            },
          }),
        ),
      })
      expect((await bounded(runtime.run('go'))).status).toBe('completed')
      expect(seen).toHaveLength(2)
      for (const types of seen) {
        expect(types).toContain('interaction.step.completed')
        expect(types.filter((type) => type === 'interaction.item.started').length, 'the message and both intents').toBe(3)
      }
    })

    test('no call runs while the commit of its intent is on its way', async () => {
      const watched = watchedStore(open())
      let ran = 0
      const hold = watched.hold(has('interaction.step.completed', 'interaction.item.started'))
      const { runtime } = world({
        store: watched.store,
        steps: [{ calls: [{ tool: 'a' }] }, { text: 'x' }],
        tools: [
          tool('a', {
            execute: () => {
              ran += 1
              return 'ok'
            },
          }),
        ],
      })
      const handle = runtime.stream('go')
      await bounded(hold.reached, 'the commit of the intent')
      await settle(20)
      expect(ran).toBe(0)
      hold.release()
      expect((await finish(handle)).status).toBe('completed')
      expect(ran).toBe(1)
    })

    test('[results + step.started] must be durable before the reply is used', async () => {
      const watched = watchedStore(open())
      let ran = 0
      const { runtime, model } = world({
        store: watched.store,
        steps: [{ calls: [{ tool: 'a' }] }, { calls: [{ tool: 'a' }] }, { text: 'x' }],
        tools: [
          tool('a', {
            execute: () => {
              ran += 1
              return 'ok'
            },
          }),
        ],
      })
      const hold = watched.hold((batch) =>
        batch.events.some((event) => event.type === 'interaction.step.started' && event.stepId === 't1.s2'),
      )
      const handle = runtime.stream('go')
      await bounded(hold.reached, 'the commit of the second step')
      await settle(20)
      expect(ran, 'no further effect starts').toBe(1)
      expect(model.requests.length, 'the model may think meanwhile').toBeLessThanOrEqual(2)
      hold.release()
      expect((await finish(handle)).status).toBe('completed')
      expect(ran).toBe(2)
    })

    test('results are committed as each call finishes', async () => {
      const inner = open()
      const door = gate()
      const { runtime } = world({
        store: inner,
        steps: [{ calls: [{ tool: 'slow' }, { tool: 'quick' }] }, { text: 'x' }],
        tools: [
          tool('quick', { concurrency: 'shared' }),
          tool('slow', { concurrency: 'shared', execute: () => door.promise.then(() => 'ok') }),
        ],
      })
      const handle = runtime.stream('go')
      await until('the result of the quick one is durable', async () => {
        const ended = ofType(await journalOf(inner, handle.sessionId), 'interaction.item.completed')
        return ended.some(({ itemId }) => itemId === 't1.s1.2')
      })
      door.open()
      expect((await finish(handle)).status).toBe('completed')
    })

    test('invariant 4: no further effect starts before the result of the call before it is durable', async () => {
      const watched = watchedStore(open())
      const ran: string[] = []
      const { runtime } = world({
        store: watched.store,
        steps: [{ calls: [{ tool: 'a' }, { tool: 'b' }] }, { text: 'x' }],
        tools: ['a', 'b'].map((each) =>
          tool(each, {
            execute: () => {
              ran.push(each)
              return 'ok'
            },
          }),
        ),
      })
      const hold = watched.hold((batch) =>
        batch.events.some((event) => event.type === 'interaction.item.completed' && event.itemId === 't1.s1.1'),
      )
      const handle = runtime.stream('go')
      await bounded(hold.reached, 'the commit of the first result')
      await settle(20)
      expect(ran).toEqual(['a'])
      hold.release()
      expect((await finish(handle)).status).toBe('completed')
      expect(ran).toEqual(['a', 'b'])
    })

    test('the end of a turn is durable before the answer is delivered', async () => {
      const watched = watchedStore(open())
      const { runtime } = world({ store: watched.store, steps: [{ text: 'x' }] })
      const hold = watched.hold(has('interaction.turn.completed'))
      const handle = runtime.stream('go')
      let delivered = false
      void handle.outcome.then(() => {
        delivered = true
      })
      const seen: string[] = []
      const reading = (async () => {
        for await (const event of handle) seen.push(event.type)
      })()
      await bounded(hold.reached, 'the commit of the end')
      await settle(20)
      expect(delivered, 'the outcome is not delivered').toBe(false)
      expect(seen, 'the stream does not show the end').not.toContain('interaction.turn.completed')
      hold.release()
      expect((await finish(handle)).status).toBe('completed')
      await bounded(reading)
      expect(seen).toContain('interaction.turn.completed')
    })

    test('sessions.outcome and sessions.events do not deliver an end that is not durable either', async () => {
      const watched = watchedStore(open())
      const { runtime } = world({ store: watched.store, steps: [{ text: 'x' }] })
      const hold = watched.hold(has('interaction.turn.completed'))
      const treeId = await runtime.sessions.start('go')
      const seen: string[] = []
      let delivered = false
      void runtime.sessions.outcome(treeId).then(() => {
        delivered = true
      })
      const reading = (async () => {
        for await (const event of runtime.sessions.events(treeId)) seen.push(event.type)
      })()
      await bounded(hold.reached, 'the commit of the end')
      await settle(20)
      expect(delivered).toBe(false)
      expect(seen).not.toContain('interaction.turn.completed')
      hold.release()
      await bounded(reading)
      expect((await bounded(runtime.sessions.outcome(treeId))).status).toBe('completed')
    })

    test('one commit a step on the critical path: at most two appends a step in all, and one that waits', async () => {
      const watched = watchedStore(open())
      const steps = 10
      const { runtime } = world({
        store: watched.store,
        limits: { maxToolTurns: 50 },
        steps: [...Array.from({ length: steps }, (_, n) => ({ calls: [{ tool: 'a', input: { n } }] })), { text: 'x' }],
        tools: [tool('a')],
      })
      expect((await bounded(runtime.run('go'))).status).toBe('completed')
      expect(watched.batches.length).toBeLessThanOrEqual(2 * (steps + 1) + 2)
    })
  })

describe('core.md: commit points when a commit fails', () => {
  test('the end of the turn can not be written: the outcome is not completed', async () => {
    const watched = watchedStore()
    watched.failWhen((batch) => (has('interaction.turn.completed')(batch) ? new TroupeError('store_failed', 'disk full') : undefined))
    const { runtime } = world({ store: watched.store, steps: [{ text: 'x' }] })
    const outcome = await bounded(runtime.run('go'))
    expect(ofType(await journalOf(watched.inner, outcome.sessionId), 'interaction.turn.completed')).toEqual([])
    expect([outcome.status, outcome.reason]).toEqual(['failed', 'store'])
  })

  test('the end of the turn can not be written: the stream ends, without showing an end that is not kept', async () => {
    const watched = watchedStore()
    watched.failWhen((batch) => (has('interaction.turn.completed')(batch) ? new TroupeError('store_failed', 'disk full') : undefined))
    const { runtime } = world({ store: watched.store, steps: [{ text: 'x' }] })
    const events = durable(await bounded(collect(runtime.stream('go')), 'the stream'))
    expect(events.map(({ type }) => type)).not.toContain('interaction.turn.completed')
  })

  test('the end of the turn is refused because another owner took over: the outcome is not completed', async () => {
    const inner = memoryStore()
    const { model } = rawModel([
      () =>
        (async function* () {
          yield { type: 'text', text: 'x' }
          await until('the tree is there', async () => (await inner.trees.list()).length === 1)
          const treeId = await firstTree(inner)
          for (let epoch = 1; epoch < 5; epoch += 1) await inner.journal.release(treeId, epoch)
          expect((await inner.journal.claim(treeId, 'usurper' as never)).ok).toBe(true)
          yield { type: 'finish', reason: 'stop' }
        })(),
    ])
    const { runtime } = world({ store: inner, adapter: model })
    const outcome = await bounded(runtime.run('go'))
    expect(ofType(await journalOf(inner, outcome.sessionId), 'interaction.turn.completed')).toEqual([])
    expect(outcome.status).toBe('failed')
  })

  test('the intent can not be written: the call never runs', async () => {
    const watched = watchedStore()
    watched.failWhen((batch) => (has('interaction.step.completed')(batch) ? new TroupeError('store_failed', 'disk full') : undefined))
    let ran = 0
    const { runtime } = world({
      store: watched.store,
      steps: [{ calls: [{ tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          execute: () => {
            ran += 1
            return 'ok'
          },
        }),
      ],
    })
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.reason, ran]).toEqual(['failed', 'store', 0])
  })

  test('the result of a write can not be written: no later call runs and no answer is given', async () => {
    const watched = watchedStore()
    watched.failWhen((batch) =>
      batch.events.some((event) => event.type === 'interaction.item.completed' && event.itemId === 't1.s1.1')
        ? new TroupeError('store_failed', 'disk full')
        : undefined,
    )
    const ran: string[] = []
    const { runtime } = world({
      store: watched.store,
      steps: [{ calls: [{ tool: 'a' }, { tool: 'b' }] }, { text: 'x' }],
      tools: ['a', 'b'].map((each) =>
        tool(each, {
          execute: () => {
            ran.push(each)
            return 'ok'
          },
        }),
      ),
    })
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.reason]).toEqual(['failed', 'store'])
    await expect(ran).toEqual(['a'])
  })
})
