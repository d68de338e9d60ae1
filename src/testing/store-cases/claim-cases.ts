import assert from 'node:assert/strict'
import { alice, appended, batch, bob, claimed, createTree, events, one, type StoreCases, two } from './sample-tree.ts'

export const claimCases: StoreCases = {
  async 'starts a new tree at seq 0'({ store }) {
    const claim = await store.journal.claim(one, alice)
    assert(claim.ok)
    assert.equal(claim.seq, 0)
  },
  async 'refuses a second driver while the first lives, and says who that is'({ store, other }) {
    const { epoch } = await claimed(store, one)
    for (const place of [store, other]) {
      const claim = await place.journal.claim(one, bob)
      assert(!claim.ok)
      assert.notEqual(claim.driver, '')
    }
    await appended(store, batch(one, epoch, { after: 0, count: 1 }))
  },
  async 'says who drives a tree, from its claim to its release'({ store, other }) {
    assert.equal(await other.trees.driver(one), undefined)
    const { epoch } = await claimed(store, one)
    for (const place of [store, other]) assert.notEqual((await place.trees.driver(one)) ?? '', '')
    assert.deepEqual(await other.trees.abandoned('/work'), [])
    await appended(store, batch(one, epoch, { after: 0, count: 1 }))
    await store.journal.release(one, epoch)
    assert.equal(await other.trees.driver(one), undefined)
  },
  async 'gives one tree to one of two that claim in the same tick'({ store, other }) {
    const claims = await Promise.all([store.journal.claim(one, alice), other.journal.claim(one, bob)])
    assert.deepEqual(claims.map(({ ok }) => ok).sort(), [false, true])
  },
  async 'raises the epoch with every claim, also of the same driver, and refuses the older ones'({ store }) {
    const epoch = await createTree(store, one, 2)
    const second = await claimed(store, one)
    assert(second.epoch > epoch)
    assert.equal(second.seq, 2)
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 2, count: 1 })), { ok: false, refusal: 'epoch' })
    await appended(store, batch(one, second.epoch, { after: 2, count: 1 }))
  },
  async 'refuses an epoch that was never issued'({ store }) {
    const { epoch } = await claimed(store, one)
    assert.deepEqual(await store.journal.append(batch(one, epoch + 1, { after: 0, count: 1 })), { ok: false, refusal: 'epoch' })
  },
  async 'passes a released tree on, with a higher epoch and everything that is in it'({ store, other }) {
    const epoch = await createTree(store, one, 3)
    await store.journal.release(one, epoch)
    const second = await claimed(other, one, bob)
    assert(second.epoch > epoch)
    assert.equal(second.seq, 3)
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 3, count: 1 })), { ok: false, refusal: 'epoch' })
    await appended(other, batch(one, second.epoch, { after: 3, count: 1 }))
    assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 4))
  },
  async 'takes no append under an epoch that was given up'({ store }) {
    const { epoch } = await claimed(store, one)
    await store.journal.release(one, epoch)
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 0, count: 1 })), { ok: false, refusal: 'epoch' })
  },
  async 'does nothing for a release under an old epoch, of an unknown tree, or a second time'({ store }) {
    const first = await claimed(store, one)
    const second = await claimed(store, one)
    await store.journal.release(one, first.epoch)
    assert.equal((await store.journal.claim(one, bob)).ok, false)
    await store.journal.release(two, 1)
    await store.journal.release(one, second.epoch)
    await store.journal.release(one, second.epoch)
    await claimed(store, one, bob)
  },
  async 'owns each tree for itself'({ store, other }) {
    await claimed(store, one, alice)
    await claimed(other, two, bob)
    assert.equal((await store.journal.claim(two, alice)).ok, false)
    assert.equal((await other.journal.claim(one, bob)).ok, false)
  },
}
