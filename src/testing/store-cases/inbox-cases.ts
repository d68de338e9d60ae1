import assert from 'node:assert/strict'
import type { ApprovalId, InboxMessage, TreeId } from '../../contracts/index.ts'
import { within } from '../within.ts'
import { appended, batch, claimed, client, input, oddText, one, type StoreCases, seqs, two } from './sample-tree.ts'

export const inboxCases: StoreCases = {
  async 'gives every kind of message back, in the order in which they came'({ store, other }) {
    const messages: readonly InboxMessage[] = [
      input(oddText),
      { kind: 'approval', approvalId: 'a1' as ApprovalId, decision: { kind: 'deny', feedback: oddText }, by: 'someone' },
      { kind: 'revoke', keys: ['tool:shell'], by: 'someone' },
      { kind: 'cancel', mode: 'interrupt', by: 'someone' },
    ]
    const positions: number[] = []
    for (const [index, message] of messages.entries()) {
      const { position, repeated } = await other.inbox.add(one, client(`client-${index}`), message)
      assert.equal(repeated, false)
      positions.push(position)
    }
    assert.deepEqual(
      await store.inbox.read(one, 0),
      messages.map((message, index) => ({ position: positions[index], clientId: `client-${index}`, message })),
    )
  },
  async 'reads what is after the cursor'({ store }) {
    for (const name of ['a', 'b', 'c']) await store.inbox.add(one, client(name), input(name))
    const all = await store.inbox.read(one, 0)
    for (const [index, { position }] of all.entries()) assert.deepEqual(await store.inbox.read(one, position), all.slice(index + 1))
  },
  async 'stores a repeated client id once and returns the first row'({ store, other }) {
    const first = await store.inbox.add(one, client('a'), input('first'))
    const second = await store.inbox.add(one, client('b'), input('second'))
    assert(first.position > 0 && second.position > first.position)
    assert.deepEqual(await other.inbox.add(one, client('a'), input('changed')), {
      position: first.position,
      repeated: true,
      message: input('first'),
    })
    assert.deepEqual(await store.inbox.read(one, 0), [
      { position: first.position, clientId: 'a', message: input('first') },
      { position: second.position, clientId: 'b', message: input('second') },
    ])
  },
  async 'takes a client id once when it comes many times in one tick'({ store, other }) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).inbox.add(one, client('a'), input('hello'))),
    )
    assert.equal(answers.filter(({ repeated }) => !repeated).length, 1)
    assert.equal(new Set(answers.map(({ position }) => position)).size, 1)
    assert.equal((await store.inbox.read(one, 0)).length, 1)
  },
  async 'loses nothing when several processes add at the same time'({ store, other }) {
    const names = Array.from({ length: 40 }, (_, index) => `client-${index}`)
    await Promise.all(names.map((name, index) => (index % 2 ? store : other).inbox.add(one, client(name), input(name))))
    const rows = await store.inbox.read(one, 0)
    assert.deepEqual(rows.map(({ clientId }) => clientId).sort(), names.sort())
    assert.equal(new Set(rows.map(({ position }) => position)).size, names.length)
    assert.deepEqual(
      rows.map(({ position }) => position),
      rows.map(({ position }) => position).sort((a, b) => a - b),
    )
  },
  async 'keeps the client ids of each tree apart, and any two that differ'({ store }) {
    await store.inbox.add(one, client('a'), input('for one'))
    assert.equal((await store.inbox.add(two, client('a'), input('for two'))).repeated, false)
    for (const name of ['\ud800', '\ud801', '\ufffd', '"a"', 'A', ' a']) {
      assert.equal((await store.inbox.add(one, client(name), input(name))).repeated, false, `${JSON.stringify(name)} was taken for another`)
    }
    assert.deepEqual(
      (await store.inbox.read(two, 0)).map(({ message }) => message),
      [input('for two')],
    )
  },
  async 'takes messages for a tree that nobody has claimed, which does not claim it'({ store }) {
    assert.deepEqual(await store.inbox.read(one, 0), [])
    await store.inbox.add(one, client('a'), input('early'))
    assert.deepEqual(await store.journal.append(batch(one, 0, { after: 0, count: 1 })), { ok: false, refusal: 'missing' })
    assert.deepEqual(await store.trees.list(), [])
  },
}

/** Real time: a store may have to look for what another process wrote. */
const patienceMs = 10_000

type Watch = (treeId: TreeId, wake: () => void) => () => void

/** Watches until woken, while `act` does what should wake. */
async function wakes(watch: Watch, act: () => Promise<void>): Promise<void> {
  const woken = Promise.withResolvers<void>()
  const stop = watch(one, woken.resolve)
  try {
    await act()
    assert(await within(patienceMs, woken.promise), `nobody was woken within ${patienceMs} ms`)
  } finally {
    stop()
  }
}

export const watchCases: StoreCases = {
  async 'wakes after an append, when the events can be read'({ store }) {
    const { epoch } = await claimed(store, one)
    const seen = Promise.withResolvers<readonly number[]>()
    const stop = store.journal.watch(one, () => seqs(store, one).then(seen.resolve, seen.reject))
    await appended(store, batch(one, epoch, { after: 0, count: 2 }))
    assert.deepEqual(await seen.promise, [1, 2])
    stop()
  },
  async 'wakes after an append of another process, each time'({ store, other }) {
    const { epoch } = await claimed(other, one)
    for (let after = 0; after < 3; after += 1) {
      await wakes(
        (treeId, wake) => store.journal.watch(treeId, wake),
        () => appended(other, batch(one, epoch, { after, count: 1 })),
      )
      assert.equal((await seqs(store, one)).length, after + 1)
    }
  },
  async 'wakes the driver after a message from this or another process'({ store, other }) {
    for (const [index, place] of [store, other].entries()) {
      await wakes(
        (treeId, wake) => store.inbox.watch(treeId, wake),
        async () => void (await place.inbox.add(one, client(`client-${index}`), input('hello'))),
      )
      assert.equal((await store.inbox.read(one, 0)).length, index + 1)
    }
  },
  async 'wakes all watchers, and none that have left'({ store }) {
    const { epoch } = await claimed(store, one)
    const woken: string[] = []
    const both = Promise.withResolvers<void>()
    const note = (name: string) => (): void => {
      woken.push(name)
      if (woken.includes('first') && woken.includes('second')) both.resolve()
    }
    const leave = store.journal.watch(one, note('gone'))
    const stops = [store.journal.watch(one, note('first')), store.journal.watch(one, note('second'))]
    leave()
    leave()
    await appended(store, batch(one, epoch, { after: 0, count: 1 }))
    assert(await within(patienceMs, both.promise))
    assert(!woken.includes('gone'))
    for (const stop of stops) stop()
  },
}
