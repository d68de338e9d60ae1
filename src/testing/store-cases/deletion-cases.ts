import assert from 'node:assert/strict'
import type { OutcomeStatus, Store, TreeId } from '../../contracts/index.ts'
import { appended, batch, bob, claimed, client, input, one, type StoreCase, two } from './store-case.ts'

async function made(store: Store, treeId: TreeId, status: OutcomeStatus | 'running'): Promise<number> {
  const { epoch } = await claimed(store, treeId)
  const summary = { agent: 'a', title: 't', status, openRequests: 0 }
  await appended(store, { ...batch(treeId, epoch, { after: 0, count: 2 }), summary, identity: { key: `key of ${treeId}` } })
  return epoch
}

export const deletionCases: readonly StoreCase[] = [
  {
    name: 'removes everything of a tree, and nothing of others',
    async run({ store, other }) {
      const blobs = new Map<TreeId, Awaited<ReturnType<Store['blobs']['put']>>>()
      for (const treeId of [one, two]) {
        const epoch = await made(store, treeId, 'suspended')
        await store.inbox.add(treeId, client('c'), input('hello'))
        blobs.set(treeId, await store.blobs.put(treeId, 'large'))
        await store.journal.release(treeId, epoch)
      }
      assert.deepEqual(await other.trees.delete(one), { ok: true })
      await other.vacuum()
      const left = async (treeId: TreeId): Promise<readonly unknown[]> => [
        (await store.trees.get(treeId))?.seq,
        (await store.trees.find(`key of ${treeId}`))?.treeId,
        (await store.journal.read(treeId, 0)).length,
        (await store.inbox.read(treeId, 0)).length,
        await store.blobs.get(treeId, blobs.get(treeId) as never),
      ]
      assert.deepEqual(await left(one), [undefined, undefined, 0, 0, undefined])
      assert.deepEqual(await left(two), [2, two, 2, 1, 'large'])
      assert.deepEqual(
        (await store.trees.list()).map(({ treeId }) => treeId),
        [two],
      )
    },
  },
  {
    name: 'refuses a tree that is driven, and names the driver',
    async run({ store, other }) {
      const epoch = await made(store, one, 'running')
      const driver = await other.trees.driver(one)
      assert(driver !== undefined)
      assert.deepEqual(await other.trees.delete(one), { ok: false, refusal: 'driven', driver })
      await appended(store, batch(one, epoch, { after: 2, count: 1 }))
      await store.journal.release(one, epoch)
      assert.deepEqual(await other.trees.delete(one), { ok: true })
    },
  },
  {
    name: 'reports a tree that does not exist, or no longer exists, as missing',
    async run({ store }) {
      assert.deepEqual(await store.trees.delete(one), { ok: false, refusal: 'missing' })
      await store.journal.release(one, await made(store, one, 'completed'))
      assert.deepEqual(await store.trees.delete(one), { ok: true })
      assert.deepEqual(await store.trees.delete(one), { ok: false, refusal: 'missing' })
    },
  },
  {
    name: 'leaves the former driver nothing to write to, also where another tree came after',
    async run({ store, other }) {
      const epoch = await made(store, one, 'running')
      await store.journal.release(one, epoch)
      assert.deepEqual(await other.trees.delete(one), { ok: true })
      assert.equal(await made(other, two, 'running'), epoch)
      assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 2, count: 1 })), { ok: false, refusal: 'missing' })
      assert.equal((await other.trees.get(two))?.seq, 2)
      const again = await claimed(store, one, bob)
      assert.equal(again.seq, 0)
    },
  },
]
