import assert from 'node:assert/strict'
import { alice, appended, batch, bob, claimed, events, one, type StoreCase, two } from './store-case.ts'

export const ownershipCases: readonly StoreCase[] = [
  {
    name: 'starts a new tree at seq 0',
    async run({ store }) {
      const claim = await store.journal.claim(one, alice)
      assert(claim.ok)
      assert.equal(claim.seq, 0)
    },
  },
  {
    name: 'refuses a second owner while the first lives, and says who that is',
    async run({ store, other }) {
      const { epoch } = await claimed(store, one)
      for (const place of [store, other]) {
        const claim = await place.journal.claim(one, bob)
        assert(!claim.ok)
        assert.notEqual(claim.owner, '')
      }
      await appended(store, batch(one, epoch, { after: 0, count: 1 }))
    },
  },
  {
    name: 'says who drives a tree, from its claim to its release',
    async run({ store, other }) {
      assert.equal(await other.trees.driver(one), undefined)
      const { epoch } = await claimed(store, one)
      for (const place of [store, other]) assert.notEqual((await place.trees.driver(one)) ?? '', '')
      await appended(store, batch(one, epoch, { after: 0, count: 1 }))
      await store.journal.release(one, epoch)
      assert.equal(await other.trees.driver(one), undefined)
    },
  },
  {
    name: 'gives one tree to one of two that claim in the same tick',
    async run({ store, other }) {
      const claims = await Promise.all([store.journal.claim(one, alice), other.journal.claim(one, bob)])
      assert.deepEqual(claims.map(({ ok }) => ok).sort(), [false, true])
    },
  },
  {
    name: 'raises the epoch with every claim, also of the same owner, and refuses the older ones',
    async run({ store }) {
      const first = await claimed(store, one)
      await appended(store, batch(one, first.epoch, { after: 0, count: 2 }))
      const second = await claimed(store, one)
      assert(second.epoch > first.epoch)
      assert.equal(second.seq, 2)
      assert.deepEqual(await store.journal.append(batch(one, first.epoch, { after: 2, count: 1 })), { ok: false, refusal: 'epoch' })
      await appended(store, batch(one, second.epoch, { after: 2, count: 1 }))
    },
  },
  {
    name: 'refuses an epoch that was never issued',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      assert.deepEqual(await store.journal.append(batch(one, epoch + 1, { after: 0, count: 1 })), { ok: false, refusal: 'epoch' })
    },
  },
  {
    name: 'passes a released tree on, with a higher epoch and everything that is in it',
    async run({ store, other }) {
      const first = await claimed(store, one)
      await appended(store, batch(one, first.epoch, { after: 0, count: 3 }))
      await store.journal.release(one, first.epoch)
      const second = await claimed(other, one, bob)
      assert(second.epoch > first.epoch)
      assert.equal(second.seq, 3)
      assert.deepEqual(await store.journal.append(batch(one, first.epoch, { after: 3, count: 1 })), { ok: false, refusal: 'epoch' })
      await appended(other, batch(one, second.epoch, { after: 3, count: 1 }))
      assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 4))
    },
  },
  {
    name: 'takes no append under an epoch that was given up',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      await store.journal.release(one, epoch)
      assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 0, count: 1 })), { ok: false, refusal: 'epoch' })
    },
  },
  {
    name: 'does nothing for a release under an old epoch, of an unknown tree, or a second time',
    async run({ store }) {
      const first = await claimed(store, one)
      const second = await claimed(store, one)
      await store.journal.release(one, first.epoch)
      assert.equal((await store.journal.claim(one, bob)).ok, false)
      await store.journal.release(two, 1)
      await store.journal.release(one, second.epoch)
      await store.journal.release(one, second.epoch)
      await claimed(store, one, bob)
    },
  },
  {
    name: 'owns each tree for itself',
    async run({ store, other }) {
      await claimed(store, one, alice)
      await claimed(other, two, bob)
      assert.equal((await store.journal.claim(two, alice)).ok, false)
      assert.equal((await other.journal.claim(one, bob)).ok, false)
    },
  },
]
