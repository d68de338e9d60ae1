import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { ClientId, DriverId, InboxMessage, MaybePromise, OutcomeStatus, Store, TreeId } from '../../contracts/index.ts'
import { storeContract } from '../../testing/index.ts'
import { batch, event, events } from '../../testing/store-cases/sample-tree.ts'
import { treeWith, turn } from '../../testing/store-cases/turn-records.ts'
import { memoryStore } from './index.ts'

const me = 'me' as DriverId

/** Everything is at hand at once: an answer is no promise. */
function atOnce<Answer>(answer: MaybePromise<Answer>): Answer {
  assert(!(answer instanceof Promise), 'the answer is a promise')
  return answer
}

function claim(store: Store, name: string): { readonly treeId: TreeId; readonly epoch: number } {
  const treeId = name as TreeId
  const answer = atOnce(store.journal.claim(treeId, me))
  assert(answer.ok)
  return { treeId, epoch: answer.epoch }
}

function plant(
  store: Store,
  name: string,
  status: OutcomeStatus | 'running' = 'completed',
): { readonly treeId: TreeId; readonly epoch: number } {
  const { treeId, epoch } = claim(store, name)
  const summary = { agent: 'a', title: 't', status, openRequests: 0 }
  assert.deepEqual(atOnce(store.journal.append({ ...batch(treeId, epoch, { after: 0, count: 2 }), summary })), { ok: true })
  return { treeId, epoch }
}

function release(store: Store, trees: readonly { readonly treeId: TreeId; readonly epoch: number }[]): void {
  for (const { treeId, epoch } of trees) atOnce(store.journal.release(treeId, epoch))
}

const known = (store: Store, names: readonly string[]): readonly string[] =>
  names.filter((name) => atOnce(store.trees.get(name as TreeId)) !== undefined)
const cancel: InboxMessage = { kind: 'cancel', mode: 'stop', by: 'me' }

describe('the contract of stores', () => {
  const open = async () => {
    const store = memoryStore()
    return { store, dispose: () => store.close() }
  }
  for (const { name, run } of storeContract(open)) it(name, run)
})

describe('answers', () => {
  it('are returned synchronously, never as promises', () => {
    const store = memoryStore()
    const { treeId, epoch } = plant(store, 'a')
    const blob = atOnce(store.blobs.put(treeId, 'text'))
    assert.equal(atOnce(store.blobs.get(treeId, blob)), 'text')
    assert.equal(atOnce(store.journal.read(treeId, 0)).length, 2)
    assert.equal(atOnce(store.inbox.add(treeId, 'c' as ClientId, cancel)).position, 1)
    assert.equal(atOnce(store.inbox.read(treeId, 0)).length, 1)
    assert.equal(atOnce(store.trees.get(treeId))?.seq, 2)
    assert.equal(atOnce(store.trees.list()).length, 1)
    atOnce(store.journal.release(treeId, epoch))
  })

  it('hold the very events that were appended', () => {
    const store = memoryStore()
    const { treeId, epoch } = claim(store, 'a')
    const given = event(treeId, 1)
    atOnce(store.journal.append({ treeId, epoch, expectedSeq: 0, events: [given] }))
    assert.equal(atOnce(store.journal.read(treeId, 0))[0], given)
  })

  it('do not grow with what comes later', () => {
    const store = memoryStore()
    const { treeId, epoch } = plant(store, 'a')
    const before = atOnce(store.journal.read(treeId, 0))
    atOnce(store.journal.append(batch(treeId, epoch, { after: 2, count: 3 })))
    assert.deepEqual(before, events(treeId, 1, 2))
  })
})

describe('trees without a driver (invariants of the forest)', () => {
  it('are never evicted while they are running or suspended (1)', () => {
    const store = memoryStore({ keepSessions: 1 })
    const open = ['a', 'b', 'c'].map((name) => plant(store, name, 'suspended'))
    const left = ['d', 'e'].map((name) => plant(store, name, 'running'))
    release(store, [...open, ...left])
    release(
      store,
      ['f', 'g', 'h'].map((name) => plant(store, name)),
    )
    assert.deepEqual(known(store, [...'abcdefgh']), ['a', 'b', 'c', 'd', 'e', 'h'])
    // Continued and ended, they are like any other.
    const { epoch } = claim(store, 'a')
    const summary = { agent: 'a', title: 't', status: 'completed', openRequests: 0 } as const
    atOnce(store.journal.append({ ...batch('a' as TreeId, epoch, { after: 2, count: 1 }), summary }))
    release(store, [{ treeId: 'a' as TreeId, epoch }])
    assert.deepEqual(known(store, [...'abcdefgh']), ['a', 'b', 'c', 'd', 'e'])
  })

  it('are reported as deleted when they are evicted', () => {
    const store = memoryStore({ keepSessions: 1 })
    const trees = ['a', 'b'].map((name) => plant(store, name))
    const deleted: string[] = []
    store.trees.watch(({ treeId, entry }) => {
      if (entry === undefined) deleted.push(treeId)
    })
    release(store, trees)
    assert.deepEqual(deleted, ['a'])
  })

  it('are forgotten from the one given up longest ago on (2, 3)', () => {
    const store = memoryStore({ keepSessions: 2 })
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => plant(store, name))
    assert(a && b && c && d)
    release(store, [b, a, d])
    assert.deepEqual(known(store, ['a', 'b', 'c', 'd']), ['a', 'c', 'd'])
    assert.deepEqual(store.journal.read(b.treeId, 0), [])
    assert.deepEqual(store.journal.append(batch(b.treeId, b.epoch, { after: 2, count: 1 })), { ok: false, refusal: 'missing' })
  })

  it('are never forgotten while they have a driver (1)', () => {
    const store = memoryStore({ keepSessions: 1 })
    const names = Array.from({ length: 50 }, (_, index) => `tree-${index}`)
    for (const name of names) plant(store, name)
    assert.deepEqual(known(store, names), names)
  })

  it('are safe again once they are claimed', () => {
    const store = memoryStore({ keepSessions: 1 })
    const [a, b, c] = ['a', 'b', 'c'].map((name) => plant(store, name))
    assert(a && b && c)
    release(store, [a])
    assert.deepEqual(claim(store, 'a'), { treeId: 'a', epoch: a.epoch + 1 })
    release(store, [b, c])
    assert.deepEqual(known(store, ['a', 'b', 'c']), ['a', 'c'])
  })

  it('are not pushed out by trees that start', () => {
    const store = memoryStore({ keepSessions: 1 })
    release(store, [plant(store, 'a')])
    plant(store, 'b')
    assert.deepEqual(known(store, ['a', 'b']), ['a', 'b'])
  })

  it('take messages even where none is kept', () => {
    const store = memoryStore({ keepSessions: 0 })
    atOnce(store.inbox.add('a' as TreeId, 'c' as ClientId, cancel))
    const { treeId, epoch } = claim(store, 'a')
    assert.equal(atOnce(store.inbox.read(treeId, 0)).length, 1)
    release(store, [{ treeId, epoch }])
    assert.deepEqual(store.inbox.read(treeId, 0), [])
  })
})

describe('misuse', () => {
  it('throws for an empty batch and for one that is numbered wrongly', () => {
    const store = memoryStore()
    const { treeId, epoch } = plant(store, 'a')
    assert.throws(() => store.journal.append({ treeId, epoch, expectedSeq: 2, events: [] }), { code: 'internal' })
    assert.throws(() => store.journal.append({ treeId, epoch, expectedSeq: 2, events: [event(treeId, 3), event(treeId, 5)] }), {
      code: 'internal',
    })
  })

  it('throws after the store was closed', async () => {
    const store = memoryStore()
    const { treeId, epoch } = plant(store, 'a')
    await store.close()
    assert.throws(() => store.journal.append(batch(treeId, epoch, { after: 2, count: 1 })), {
      code: 'store_failed',
      message: 'the store is closed',
    })
    assert.throws(() => store.trees.list(), { code: 'store_failed' })
    assert.throws(() => store.records.list('a'), { code: 'store_failed' })
    assert.throws(() => store.usages.get('a', 'b'), { code: 'store_failed' })
    assert.throws(() => store.turns.usage({ by: 'day' }), { code: 'store_failed' })
    assert.throws(() => store.turns.rebuildIndex(), { code: 'store_failed' })
  })
})

describe('usage', () => {
  it('is that of the newest 10,000 turns', async () => {
    const store = memoryStore()
    const turns = Array.from({ length: 10_003 }, (_, at) => turn({ at }))
    await treeWith(store, 'a', { turns })
    assert.equal(atOnce(store.turns.usage({ by: 'day' })).total.turns, 10_000)
    assert.equal(atOnce(store.turns.usage({ by: 'day', until: 4 })).total.turns, 1)
  })
})

describe('options of a memory store', () => {
  it('are reported together if they are wrong', () => {
    assert.throws(() => memoryStore({ keepSession: 1, keepSessions: '5' } as never), {
      code: 'config_invalid',
      message: [
        'Invalid configuration, 2 problems:',
        '  memoryStore.keepSession: unknown key. Did you mean "keepSessions"?',
        '  memoryStore.keepSessions: expected a number of sessions, found "5". Leave it out for 100.',
      ].join('\n'),
    })
  })
})
