import assert from 'node:assert/strict'
import { linkSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { dataFolder } from '../../../test/fixtures/data-folder.ts'
import { bob, claimed, one } from '../../testing/store-cases/sample-tree.ts'

const readOnly = (database: DatabaseSync | undefined, isOn: boolean): void => database?.exec(`PRAGMA query_only = ${isOn ? 'ON' : 'OFF'}`)

it.each(['troupe.db', 'troupe.db-wal', 'troupe.db-shm', 'blobs'])('%s that was moved away is missing until it is back', async (name) => {
  const folder = await dataFolder()
  const store = folder.open()
  const path = join(folder.path, name)
  assert.deepEqual(await store.check?.({ writes: true }), [])
  renameSync(path, `${path}.away`)
  for (const writes of [false, true]) {
    const [problem, ...others] = (await store.check?.({ writes })) ?? []
    assert.deepEqual(others, [])
    assert.match(problem ?? '', new RegExp(`^${name} of the store was deleted while it was in use\\. .* restart Troupe`))
  }
  renameSync(`${path}.away`, path)
  assert.deepEqual(await store.check?.({ writes: true }), [])
})

it('a log and its index that SQLite has replaced before this store used them are in their places', async () => {
  const folder = await dataFolder()
  const before = folder.open()
  await claimed(before, one)
  await before.close()
  // The server before holds the file until it has closed it; being the last one, it deletes both.
  const old = new DatabaseSync(folder.file)
  old.exec('SELECT * FROM trees; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; CREATE TABLE other (a); COMMIT')
  // Their inodes stay in use.
  for (const suffix of ['-wal', '-shm']) linkSync(`${folder.file}${suffix}`, `${folder.file}${suffix}.old`)
  const store = folder.open()
  assert.deepEqual(await store.check?.(), [])
  old.close()
  for (const writes of [true, false]) assert.deepEqual(await store.check?.({ writes }), [])
  await claimed(store, one, bob)
  renameSync(`${folder.file}-wal.old`, `${folder.file}-wal`)
  assert.match((await store.check?.())?.join() ?? '', /^troupe\.db-wal of the store was replaced/)
})

it.runIf(process.platform === 'linux')('a second store in the process leaves the lock of the first', async () => {
  const folder = await dataFolder()
  folder.open()
  const { ino } = statSync(folder.file)
  const locks = (): readonly string[] =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${ino} `))
  assert.equal(locks().length, 1)
  folder.open()
  assert.equal(locks().length, 1)
})

it('a write that failed is reported once, although the next one succeeds', async () => {
  const folder = await dataFolder()
  let database: DatabaseSync | undefined
  const openDatabase = (file: string): DatabaseSync => {
    database = new DatabaseSync(file)
    return database
  }
  const store = folder.open({ surroundings: { openDatabase } })
  readOnly(database, true)
  await assert.rejects(async () => store.journal.claim(one, bob), { code: 'store_failed' })
  readOnly(database, false)
  assert.match(
    (await store.check?.())?.join() ?? '',
    /^Cannot write to the store: attempt to write a readonly database\. Make the data folder/,
  )
  assert.deepEqual(await store.check?.(), [])
})

it('a tree whose release could not be stored has no driver here, and none for others when the store works again', async () => {
  const folder = await dataFolder()
  let database: DatabaseSync | undefined
  const openDatabase = (file: string): DatabaseSync => {
    database = new DatabaseSync(file)
    return database
  }
  const store = folder.open({ surroundings: { openDatabase }, timing: { heartbeatMs: 5 } })
  const { epoch } = await claimed(store, one)
  readOnly(database, true)
  await assert.rejects(async () => store.journal.release(one, epoch), { code: 'store_failed' })
  assert.equal(await store.trees.driver(one), undefined)
  const other = folder.open()
  assert.equal((await other.journal.claim(one, bob)).ok, false)
  readOnly(database, false)
  await expect.poll(async () => (await other.journal.claim(one, bob)).ok).toBe(true)
})

it('inexact usages of an earlier version are whole nano-dollars', async () => {
  const folder = await dataFolder()
  const store = folder.open()
  const database = new DatabaseSync(folder.file)
  const json = JSON.stringify({ tokens: 5, costUsd: 0.1 + 0.7 })
  database.prepare("INSERT INTO records (namespace, key, json) VALUES ('usage', '2026-01-01/token:ci', ?)").run(json)
  database.close()
  assert.deepEqual(await store.usages.get('token:ci', '2026-01-01'), { tokens: 5, costUsd: 0.8 })
})
