import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, onTestFinished } from 'vitest'
import { type DataFolder, dataFolder } from '../../../test/fixtures/data-folder.ts'
import { JournalDamagedError, type Store, type TreeId } from '../../contracts/index.ts'
import { appended, batch, claimed, events, one, two } from '../../testing/store-cases/sample-tree.ts'

/** Two trees of five rows with two events each, and another connection to the file. */
async function twoTrees(): Promise<{ readonly folder: DataFolder; readonly store: Store; readonly database: DatabaseSync }> {
  const folder = await dataFolder()
  const store = folder.open()
  for (const treeId of [one, two]) {
    const { epoch } = await claimed(store, treeId)
    for (let after = 0; after < 10; after += 2) await appended(store, batch(treeId, epoch, { after, count: 2 }))
  }
  const database = new DatabaseSync(folder.file)
  onTestFinished(() => database.close())
  return { folder, store, database }
}

const ofTree = (treeId: TreeId): string => `tree = (SELECT key FROM trees WHERE id = '${treeId}')`

/** What is done to the third row of the first tree, and what is said of event 5. */
const damages: readonly (readonly [string, string, RegExp])[] = [
  [
    'another content that is JSON',
    `UPDATE journal SET events = replace(events, 'event 6', 'event 7') WHERE last = 6 AND ${ofTree(one)}`,
    /checksum/,
  ],
  ['content that is not JSON', `UPDATE journal SET events = '[{' WHERE last = 6 AND ${ofTree(one)}`, /checksum/],
  ['bytes that are not text', `UPDATE journal SET events = CAST(x'5b7bff' AS TEXT) WHERE last = 6 AND ${ofTree(one)}`, /checksum/],
  ['another number', `UPDATE journal SET seq = 4 WHERE last = 6 AND ${ofTree(one)}`, /checksum/],
  [
    'the row of another tree',
    `UPDATE journal SET (events, checksum) = (SELECT events, checksum FROM journal WHERE last = 6 AND ${ofTree(two)}) WHERE last = 6 AND ${ofTree(one)}`,
    /checksum/,
  ],
  ['a row that is gone', `DELETE FROM journal WHERE last = 6 AND ${ofTree(one)}`, /is missing/],
  ['all rows to the end that are gone', `DELETE FROM journal WHERE last >= 6 AND ${ofTree(one)}`, /is missing/],
]

describe('a damaged row', () => {
  for (const [name, sql, what] of damages)
    it(`is refused by tree, number and file: ${name}`, async () => {
      const { folder, store, database } = await twoTrees()
      assert(Number(database.prepare(sql).run().changes) > 0)
      const refused = await Promise.resolve(store.journal.read(one, 0)).catch((error: unknown) => error)
      assert(refused instanceof JournalDamagedError)
      assert.deepEqual([refused.code, refused.treeId, refused.seq], ['store_invalid', one, 5])
      assert(refused.message.startsWith(`event 5 of session ${one} in ${folder.file} `))
      assert.match(refused.message, what)
      assert.match(refused.remedy ?? '', /Events 1 to 4 can still be read/)
      assert.deepEqual(await store.journal.read(one, 0, refused.seq - 1), events(one, 1, 4))
      assert.deepEqual(await store.journal.read(two, 0), events(two, 1, 10))
    })

  it('is refused where a page of the file was overwritten, and what lies before it can be read', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    for (let after = 0; after < 400; after += 20) await appended(store, batch(one, epoch, { after, count: 20 }))
    await store.close()
    const database = new DatabaseSync(folder.file)
    const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = 'journal' AND pagetype = 'leaf' ORDER BY pageno").all()
    database.close()
    const page = Number(pages[Math.floor(pages.length / 2)]?.pageno)
    const file = await open(folder.file, 'r+')
    await file.write(Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 8192)
    await file.close()
    const reopened = folder.open()
    const refused = await Promise.resolve(reopened.journal.read(one, 0)).catch((error: unknown) => error)
    assert(refused instanceof JournalDamagedError && refused.seq > 1)
    assert.deepEqual(await reopened.journal.read(one, 0, refused.seq - 1), events(one, 1, refused.seq - 1))
  })
})
