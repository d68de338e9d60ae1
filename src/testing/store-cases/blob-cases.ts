import assert from 'node:assert/strict'
import type { BlobId } from '../../contracts/index.ts'
import { oddText, one, type StoreCase, two } from './store-case.ts'

export const blobCases: readonly StoreCase[] = [
  {
    name: 'gives any text back',
    async run({ store, other }) {
      for (const text of ['plain', '', '\ufeffwith a mark', 'line\r\nends\n', oddText, 'large \u{1f3ad}'.repeat(500_000)]) {
        const id = await store.blobs.put(one, text)
        assert((await other.blobs.get(one, id)) === text, `a text of ${text.length} characters came back otherwise`)
      }
    },
  },
  {
    name: 'tells texts apart, also those that differ only in a lone surrogate',
    async run({ store }) {
      const texts = ['a', 'b', '\ud800', '\ud801', '\ufffd']
      const ids = await Promise.all(texts.map((text) => store.blobs.put(one, text)))
      assert.deepEqual(await Promise.all(ids.map((id) => store.blobs.get(one, id))), texts)
    },
  },
  {
    name: 'takes the same text again, also at the same time',
    async run({ store, other }) {
      const ids = await Promise.all([store.blobs.put(one, 'same'), other.blobs.put(one, 'same'), store.blobs.put(one, 'same')])
      for (const id of ids) assert.equal(await store.blobs.get(one, id), 'same')
    },
  },
  {
    name: 'knows nothing of ids that it did not give, and of other trees',
    async run({ store }) {
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
  },
]
