import { describe, expect, it } from 'vitest'
import type { Store, StreamEvent, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { bounded, collect, ofType, settle, until, world } from '../acceptance/support.ts'
import { run, stage } from './approval-stage.ts'
import { changedStore } from './changed-store.ts'

// Whoever follows a tree can leave, and is let go when there is nothing more to follow.

/** The same store, for somebody whose watching is counted. */
function counted(store: Store) {
  const watching = { now: 0 }
  const watch: Store['journal']['watch'] = (treeId, wake) => {
    watching.now++
    const stop = store.journal.watch(treeId, wake)
    return () => {
      watching.now--
      stop()
    }
  }
  return { store: changedStore(store, { watch }), watching }
}

/** The same store, for a driver who is told of what arrives only then. */
function slowInbox(store: Store, then: Promise<void>): Store {
  const { inbox } = store
  return {
    ...changedStore(store, {}),
    inbox: {
      add: (treeId, clientId, message) => inbox.add(treeId, clientId, message),
      read: (treeId, after) => inbox.read(treeId, after),
      watch: (treeId, wake) => inbox.watch(treeId, () => void then.then(wake)),
    },
  }
}

/** A tree that one runtime drives, held at its model, and another runtime on the same store. */
async function twoRuntimes() {
  const [store, door] = [memoryStore(), gate()]
  const driving = world({ store, steps: [{ wait: door.promise, text: 'One.' }, { text: 'Two.' }] })
  const treeId = await driving.runtime.sessions.start('one')
  const { store: looked, watching } = counted(store)
  // It drives nothing: its model is never asked.
  const following = world({ store: looked })
  return { store, door, driving, following, treeId, watching }
}

it('a reader whose read of the journal is overtaken by new events does not wait for the end of the turn', async () => {
  const [store, door, reading, held] = [memoryStore(), gate(), gate(), gate()]
  let last = Number.NaN
  const slow = changedStore(store, {
    async read(treeId, after, limit) {
      const page = await store.journal.read(treeId, after, limit)
      if (after !== last) return page
      reading.open()
      await held.promise
      return page
    },
  })
  const { runtime } = world({ store: slow, steps: [{ wait: door.promise, text: 'One.' }, { text: 'Two.' }] })
  const id = await runtime.sessions.start('one')
  await until('the model is asked', async () => (await store.journal.read(id as never, 0)).at(-1)?.type === 'interaction.step.started')
  last = (await store.journal.read(id as never, 0)).at(-1)?.seq ?? 0
  const events = runtime.sessions.events(id, { after: last })[Symbol.asyncIterator]()
  const next = events.next()
  await reading.promise
  await runtime.sessions.send(id, 'two')
  await until('it is accepted', async () => (await store.journal.read(id as never, 0)).at(-1)?.type === 'interaction.input.accepted')
  held.open()
  expect((await bounded(next)).value).toMatchObject({ seq: last + 1, type: 'interaction.input.accepted' })
  door.open()
  await events.return?.()
  await runtime.close()
})

describe('a reader that follows a tree of another process', () => {
  it('reads a session that was deleted there and started again under its id, not the one before', async () => {
    const [store, clock] = [memoryStore(), new FakeClock()]
    const driving = world({ store, clock, steps: [{ text: 'One.' }, { text: 'Two.' }] })
    const following = world({ store, clock })
    const start = (input: string) => driving.runtime.sessions.start(input, { clientId: 'same' })
    const inputs = async (treeId: TreeId) =>
      ofType(await collect(following.runtime.sessions.events(treeId)), 'interaction.input.accepted').map(({ parts }) => parts)
    const treeId = await start('one')
    expect(await inputs(treeId)).toEqual([[{ type: 'text', text: 'one' }]])
    await driving.runtime.sessions.delete(treeId)
    await clock.elapse(1)
    expect(await start('two')).toBe(treeId)
    expect(await inputs(treeId)).toEqual([[{ type: 'text', text: 'two' }]])
  })

  it('is ended by close, and nothing is watched any more', async () => {
    const { following, treeId, watching } = await twoRuntimes()
    const events = collect(following.runtime.sessions.events(treeId))
    const outcome = following.runtime.sessions.outcome(treeId)
    await until('both watch', () => watching.now === 2)
    await following.runtime.close()
    expect((await bounded(events)).at(-1)).toMatchObject({ type: 'interaction.step.started' })
    expect(await bounded(outcome)).toMatchObject({ status: 'suspended', reason: 'released' })
    expect(watching.now).toBe(0)
  })

  it('is ended by the death of that process, which wakes nobody', async () => {
    const { store, treeId } = await twoRuntimes()
    const state = { isAlive: true }
    const trees: Store['trees'] = {
      ...store.trees,
      driver: (id) => (state.isAlive ? store.trees.driver(id) : undefined),
    }
    const { watching, store: looked } = counted({ ...changedStore(store, {}), trees })
    const { runtime, clock } = world({ store: looked })
    const events = collect(runtime.sessions.events(treeId))
    const outcome = runtime.sessions.outcome(treeId)
    await until('both wait', () => watching.now === 2 && clock.pending === 2)
    // As long as it lives, however long it is silent, nobody is ended.
    await clock.elapse(60_000)
    expect([watching.now, clock.pending]).toEqual([2, 2])
    state.isAlive = false
    await clock.elapse(10_000)
    expect(await bounded(events)).toEqual(await store.journal.read(treeId, 0))
    expect(await bounded(outcome)).toMatchObject({ status: 'suspended', remedy: 'Open the session to continue.' })
    expect([watching.now, clock.pending]).toEqual([0, 0])
  })

  it('waits for the turn of what was sent to it and not taken in yet', async () => {
    const [store, door] = [memoryStore(), gate()]
    const driving = world({ store: slowInbox(store, door.promise), steps: [{ text: 'One.' }, { text: 'Two.' }] })
    const { sessionId: treeId } = await driving.runtime.run('one')
    await driving.runtime.open(treeId)
    const { sessions } = world({ store }).runtime
    const { seq = 0 } = (await store.journal.read(treeId, 0)).at(-1) ?? {}
    await sessions.send(treeId, 'two')
    const outcome = sessions.outcome(treeId)
    const events = collect(sessions.events(treeId, seq))
    await settle()
    door.open()
    expect(await bounded(outcome)).toMatchObject({ report: { text: 'Two.' } })
    expect(await bounded(events)).toEqual(await store.journal.read(treeId, seq))
  })

  it('reads it to its end', async () => {
    const { store, door, following, treeId } = await twoRuntimes()
    const events = collect(following.runtime.sessions.events(treeId))
    await settle()
    door.open()
    expect(await bounded(events)).toEqual(await store.journal.read(treeId, 0))
  })
})

describe('a reader of events can leave while it waits', () => {
  async function left(events: AsyncIterable<StreamEvent>, length: number) {
    const iterator = events[Symbol.asyncIterator]()
    for (let read = 0; read < length; read++) await iterator.next()
    const waiting = iterator.next()
    await settle()
    expect(await bounded(iterator.return?.() as Promise<unknown>, 'return')).toEqual({ value: undefined, done: true })
    expect(await bounded(waiting, 'the pending next')).toEqual({ value: undefined, done: true })
  }

  it('for another process', async () => {
    const { store, following, treeId, watching } = await twoRuntimes()
    await left(following.runtime.sessions.events(treeId), (await store.journal.read(treeId, 0)).length)
    expect([watching.now, following.clock.pending]).toEqual([0, 0])
  })

  it('for a model that says nothing', async () => {
    const { store, driving, treeId, door } = await twoRuntimes()
    await left(driving.runtime.sessions.events(treeId), (await store.journal.read(treeId, 0)).length)
    door.open()
    expect(await bounded(driving.runtime.sessions.outcome(treeId))).toMatchObject({ status: 'completed' })
  })

  it('for a person', async () => {
    const { store, watching } = counted(memoryStore())
    const { runtime } = stage({ store, decide: () => 'suspend', steps: [{ calls: [run('make')] }] })
    const { sessionId: treeId } = await runtime.run('go')
    await left(runtime.sessions.events(treeId), (await store.journal.read(treeId, 0)).length)
    expect(watching.now).toBe(0)
  })

  it('before it has read anything', async () => {
    const { following, treeId, watching } = await twoRuntimes()
    const iterator = following.runtime.sessions.events(treeId)[Symbol.asyncIterator]()
    await iterator.return?.()
    expect(await iterator.next()).toEqual({ value: undefined, done: true })
    expect(watching.now).toBe(0)
  })
})
