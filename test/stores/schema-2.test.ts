import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { describe, it } from 'vitest'
import type { TreeId } from '../../src/contracts/index.ts'
import { appended, batch, claimed } from '../../src/testing/store-cases/sample-tree.ts'
import { found, model, turn } from '../../src/testing/store-cases/turn-records.ts'
import { type DataFolder, dataFolder } from '../fixtures/data-folder.ts'

/** Written by the last version with schema 2: one session with two turns. */
const version2 = new URL('schema-2.db.gz', import.meta.url)

async function oldFolder(): Promise<DataFolder> {
  const folder = await dataFolder()
  await writeFile(folder.file, gunzipSync(await readFile(version2)))
  return folder
}

function lookInto<Result>({ file }: DataFolder, look: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file)
  try {
    return look(database)
  } finally {
    database.close()
  }
}

describe('a database of schema 2', () => {
  it('has the tables of a new one afterwards, and no journal was read for it', async () => {
    const [old, fresh] = [await oldFolder(), await dataFolder()]
    const damage = (database: DatabaseSync): void => database.exec("UPDATE journal SET events = 'damaged'")
    lookInto(old, damage)
    await old.open().close()
    await fresh.open().close()
    const schema = (database: DatabaseSync): unknown => [
      database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all(),
      database.prepare('PRAGMA user_version').get()?.user_version,
    ]
    assert.deepEqual(lookInto(old, schema), lookInto(fresh, schema))
  })

  it('has sessions that are not indexed until their records are added', async () => {
    const store = (await oldFolder()).open()
    const [entry] = await store.trees.list()
    assert(entry)
    assert.deepEqual([await store.turns.unindexed(), await found(store, 'message'), 'cost' in entry], [1, '', false])
    assert.deepEqual((await store.turns.usage({ by: 'day' })).groups, [])
    assert((await store.journal.read(entry.treeId, 0)).length > 0)
    const { epoch, seq } = await claimed(store, entry.treeId)
    const paid = turn({ texts: ['A third message'], models: [model('m', { costUsd: 1 })] })
    await appended(store, { ...batch(entry.treeId, epoch, { after: seq, count: 1 }), turns: [paid] })
    assert.deepEqual([await store.turns.unindexed(), await found(store, 'message')], [1, entry.treeId])
    assert.equal(await store.turns.replace(entry.treeId, seq + 1, [turn({ texts: ['A first message'] }), paid]), true)
    assert.deepEqual(
      [await store.turns.unindexed(), await found(store, 'first'), (await store.trees.get(entry.treeId))?.cost],
      [0, entry.treeId, 1],
    )
    const another = 'another' as TreeId
    const { epoch: first } = await claimed(store, another)
    await appended(store, batch(another, first, { after: 0, count: 1 }))
    assert.equal(await store.turns.unindexed(), 0)
  })
})
