import assert from 'node:assert/strict'
import { appended, batch, claimed, oddText, one, type StoreCase, two } from './store-case.ts'

/** For stores that have them. */
export const snapshotCases: readonly StoreCase[] = [
  {
    name: 'gives back the last one of the same version',
    async run({ store, other }) {
      if (!store.snapshots || !other.snapshots) return
      const { epoch } = await claimed(store, one)
      await appended(store, batch(one, epoch, { after: 0, count: 3 }))
      assert.equal(await other.snapshots.get(one, '1'), undefined)
      for (const seq of [2, 3]) await store.snapshots.put(one, { seq, version: '1', state: JSON.stringify({ seq, text: oddText }) })
      assert.deepEqual(await other.snapshots.get(one, '1'), { seq: 3, version: '1', state: JSON.stringify({ seq: 3, text: oddText }) })
      assert.equal(await other.snapshots.get(one, '2'), undefined)
      assert.equal(await other.snapshots.get(two, '1'), undefined)
    },
  },
  {
    name: 'keeps none that is ahead of the journal, or of a tree that was deleted',
    async run({ store }) {
      if (!store.snapshots) return
      const { epoch } = await claimed(store, one)
      await appended(store, batch(one, epoch, { after: 0, count: 2 }))
      await store.snapshots.put(one, { seq: 3, version: '1', state: '{}' })
      await store.snapshots.put(two, { seq: 0, version: '1', state: '{}' })
      assert.equal(await store.snapshots.get(one, '1'), undefined)
      assert.equal(await store.trees.get(two), undefined)
      await store.snapshots.put(one, { seq: 2, version: '1', state: '{}' })
      await store.journal.release(one, epoch)
      await store.trees.delete(one)
      const again = await claimed(store, one)
      await appended(store, batch(one, again.epoch, { after: 0, count: 2 }))
      assert.equal(await store.snapshots.get(one, '1'), undefined)
    },
  },
]
