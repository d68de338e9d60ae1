import assert from 'node:assert/strict'
import type { BlobId } from '../../contracts/index.ts'
import { appended, batch, claimed, createTree, oddText, one, type StoreCases, two } from './sample-tree.ts'

export const blobCases: StoreCases = {
  async 'gives any text back'({ store, other }) {
    for (const text of ['plain', '', '\ufeffwith a mark', 'line\r\nends\n', oddText, 'large \u{1f3ad}'.repeat(500_000)]) {
      const id = await store.blobs.put(one, text)
      assert((await other.blobs.get(one, id)) === text, `a text of ${text.length} characters came back otherwise`)
    }
  },
  async 'tells texts apart, also those that differ only in a lone surrogate'({ store }) {
    const texts = ['a', 'b', '\ud800', '\ud801', '\ufffd']
    const ids = await Promise.all(texts.map((text) => store.blobs.put(one, text)))
    assert.deepEqual(await Promise.all(ids.map((id) => store.blobs.get(one, id))), texts)
  },
  async 'takes the same text again, also at the same time'({ store, other }) {
    const ids = await Promise.all([store.blobs.put(one, 'same'), other.blobs.put(one, 'same'), store.blobs.put(one, 'same')])
    for (const id of ids) assert.equal(await store.blobs.get(one, id), 'same')
  },
  async 'knows nothing of ids that it did not give, and of other trees'({ store }) {
    const id = await store.blobs.put(one, 'mine')
    assert.equal(await store.blobs.get(two, id), undefined)
    for (const wrong of [
      '',
      '.',
      '..',
      '../troupe.db',
      '../../../../etc/passwd',
      'a\u0000b',
      id.toUpperCase().padEnd(99, 'X'),
      '0'.repeat(32),
    ]) {
      assert.equal(await store.blobs.get(one, wrong as BlobId), undefined)
    }
  },
}

/** For stores that have them. */
export const snapshotCases: StoreCases = {
  async 'gives back the last one of the same version'({ store, other }) {
    if (!store.snapshots || !other.snapshots) return
    await createTree(store, one, 3)
    assert.equal(await other.snapshots.get(one, '1'), undefined)
    for (const seq of [2, 3]) await store.snapshots.put(one, { seq, version: '1', state: JSON.stringify({ seq, text: oddText }) })
    assert.deepEqual(await other.snapshots.get(one, '1'), { seq: 3, version: '1', state: JSON.stringify({ seq: 3, text: oddText }) })
    assert.equal(await other.snapshots.get(one, '2'), undefined)
    assert.equal(await other.snapshots.get(two, '1'), undefined)
  },
  async 'keeps none that is ahead of the journal, or of a tree that was deleted'({ store }) {
    if (!store.snapshots) return
    const epoch = await createTree(store, one, 2)
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
}
