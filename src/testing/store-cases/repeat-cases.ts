import assert from 'node:assert/strict'
import { appended, batch, bob, claimed, event, events, oddText, one, type StoreCase, seqs } from './store-case.ts'

/** An append whose answer was lost is repeated; it must neither fail nor be stored twice. */
export const repeatCases: readonly StoreCase[] = [
  {
    name: 'succeeds when the same events are stored already, and stores nothing',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      const first = {
        ...batch(one, epoch, { after: 0, count: 2 }),
        events: [event(one, 1, { text: oddText, metadata: { b: 1, a: 2, 1: 3 } }), event(one, 2)],
      }
      await appended(store, first)
      await appended(store, structuredClone(first))
      assert.deepEqual(await store.journal.read(one, 0), first.events)
    },
  },
  {
    name: 'succeeds also when the journal has gone on since',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      await appended(store, batch(one, epoch, { after: 0, count: 2 }))
      await appended(store, batch(one, epoch, { after: 2, count: 2 }))
      await appended(store, batch(one, epoch, { after: 0, count: 2 }))
      assert.deepEqual(await seqs(store, one), [1, 2, 3, 4])
    },
  },
  {
    name: 'looks at the events, not at how they were divided',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      await appended(store, batch(one, epoch, { after: 0, count: 3 }))
      await appended(store, batch(one, epoch, { after: 3, count: 1 }))
      await appended(store, batch(one, epoch, { after: 1, count: 3 }))
      assert.deepEqual(await seqs(store, one), [1, 2, 3, 4])
    },
  },
  {
    name: 'succeeds in the same tick as the first',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      const again = batch(one, epoch, { after: 0, count: 2 })
      assert.deepEqual(await Promise.all([store.journal.append(again), store.journal.append(again)]), [{ ok: true }, { ok: true }])
      assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 2))
    },
  },
  {
    name: 'is refused when any event differs or is not there',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      await appended(store, batch(one, epoch, { after: 0, count: 2 }))
      const changed = { ...batch(one, epoch, { after: 0, count: 2 }), events: [event(one, 1), event(one, 2, { text: 'otherwise' })] }
      assert.deepEqual(await store.journal.append(changed), { ok: false, refusal: 'seq' })
      assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 0, count: 3 })), { ok: false, refusal: 'seq' })
      assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 2))
    },
  },
  {
    name: 'is refused under an old epoch, the same events or not',
    async run({ store, other }) {
      const { epoch } = await claimed(store, one)
      await appended(store, batch(one, epoch, { after: 0, count: 2 }))
      await store.journal.release(one, epoch)
      await claimed(other, one, bob)
      assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 0, count: 2 })), { ok: false, refusal: 'epoch' })
    },
  },
]
