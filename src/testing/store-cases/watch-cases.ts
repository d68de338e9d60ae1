import assert from 'node:assert/strict'
import type { TreeId } from '../../contracts/index.ts'
import { within } from '../within.ts'
import { appended, batch, claimed, client, input, one, type StoreCase, seqs } from './store-case.ts'

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

export const watchCases: readonly StoreCase[] = [
  {
    name: 'wakes after an append, when the events can be read',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      const seen = Promise.withResolvers<readonly number[]>()
      const stop = store.journal.watch(one, () => seqs(store, one).then(seen.resolve, seen.reject))
      await appended(store, batch(one, epoch, { after: 0, count: 2 }))
      assert.deepEqual(await seen.promise, [1, 2])
      stop()
    },
  },
  {
    name: 'wakes after an append of another process, each time',
    async run({ store, other }) {
      const { epoch } = await claimed(other, one)
      for (let after = 0; after < 3; after += 1) {
        await wakes(
          (treeId, wake) => store.journal.watch(treeId, wake),
          () => appended(other, batch(one, epoch, { after, count: 1 })),
        )
        assert.equal((await seqs(store, one)).length, after + 1)
      }
    },
  },
  {
    name: 'wakes the driver after a message from this or another process',
    async run({ store, other }) {
      for (const [index, place] of [store, other].entries()) {
        await wakes(
          (treeId, wake) => store.inbox.watch(treeId, wake),
          async () => void (await place.inbox.add(one, client(`client-${index}`), input('hello'))),
        )
        assert.equal((await store.inbox.read(one, 0)).length, index + 1)
      }
    },
  },
  {
    name: 'wakes all watchers, and none that have left',
    async run({ store }) {
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
  },
]
