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
  async 'gives the same content the same id in every tree'({ store, other }) {
    const bytes = Buffer.from('picture')
    assert.equal(await other.blobs.put(two, 'copied'), await store.blobs.put(one, 'copied'))
    assert.equal(await other.blobs.putBytes(two, bytes, 'image/png'), await store.blobs.putBytes(one, bytes, 'image/png'))
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
  async 'gives any bytes back, with their media type'({ store, other }) {
    for (const mediaType of ['image/png', 'application/octet-stream', 'image/svg+xml', 'application/vnd.ms-excel']) {
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256))
      const id = await store.blobs.putBytes(one, bytes, mediaType)
      const before = Buffer.from(bytes)
      bytes.fill(0)
      const found = await other.blobs.getBytes(one, id)
      assert.equal(found?.mediaType, mediaType)
      assert(found && Buffer.compare(found.bytes, before) === 0, 'the bytes came back otherwise')
    }
    const empty = await store.blobs.getBytes(one, await store.blobs.putBytes(one, new Uint8Array(), 'image/png'))
    assert.equal(empty?.bytes.length, 0)
  },
  async 'tells bytes from texts, and media types apart'({ store }) {
    const bytes = Buffer.from('same')
    const [text, png, gif] = await Promise.all([
      store.blobs.put(one, 'same'),
      store.blobs.putBytes(one, bytes, 'image/png'),
      store.blobs.putBytes(one, bytes, 'image/gif'),
    ])
    assert.equal(await store.blobs.get(one, text), 'same')
    assert.equal(await store.blobs.get(one, png), undefined)
    assert.equal(await store.blobs.getBytes(one, text), undefined)
    assert.equal((await store.blobs.getBytes(one, png))?.mediaType, 'image/png')
    assert.equal((await store.blobs.getBytes(one, gif))?.mediaType, 'image/gif')
    assert.equal(await store.blobs.getBytes(two, png), undefined)
    for (const wrong of [`${png}/../${png}`, `../${png}`, `${png}.`, png.slice(0, -1), ''])
      assert.equal(await store.blobs.getBytes(one, wrong as BlobId), undefined)
  },
  async 'refuses a media type that is none'({ store }) {
    for (const wrong of ['', 'png', 'image/', '../x', 'image/png; q=1', 'a/b/c', 'image/p\u0000ng', 'Image/PNG'])
      await assert.rejects(async () => store.blobs.putBytes(one, new Uint8Array(3), wrong), /media type/)
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
