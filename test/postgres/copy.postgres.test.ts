import assert from 'node:assert/strict'
import { expect, it } from 'vitest'
import type { Store, TreeId } from '../../src/contracts/index.ts'
import { copyFromSqlite } from '../../src/stores/postgres/index.ts'
import { appended, batch, claimed, client, createTree, event, input, oddText, one, two } from '../../src/testing/store-cases/sample-tree.ts'
import { model, turn } from '../../src/testing/store-cases/turn-records.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { testDatabase } from './postgres-fixture.ts'
import { run } from './server.ts'

const day = '2026-11-17'
const oddTree = `odd ${oddText}` as TreeId

async function fill(store: Store): Promise<void> {
  const { epoch } = await claimed(store, one)
  const identity = { owner: oddText, key: 'thread', labels: ['red', oddText], workspace: '/project' }
  const summary = { agent: 'helper', title: oddText, status: 'completed', openRequests: 1 } as const
  const turns = [turn({ texts: ['hello', oddText], models: [model('m', { costUsd: 0.1, latencyMs: 5 })] })]
  const charge = { owner: oddText, period: day, tokens: 7, costUsd: 0.25 }
  const events = [event(one, 1, { text: oddText, metadata: { b: 1, a: [null, 1e308] } }), event(one, 2)]
  await appended(store, { ...batch(one, epoch, { after: 0, count: 2 }), events, identity, summary, turns, charge })
  await store.trees.update(one, { title: 'Mine' })
  await store.inbox.add(one, client(oddText), input(oddText))
  await store.blobs.put(one, oddText)
  await store.blobs.putBytes(one, Buffer.from([0, 1, 255]), 'image/png')
  await store.journal.release(one, epoch)
  await store.journal.release(oddTree, await createTree(store, oddTree, 700))
  const deleted = await claimed(store, two)
  await appended(store, { ...batch(two, deleted.epoch, { after: 0, count: 1 }), turns: [turn({ models: [model('n', { costUsd: 3 })] })] })
  await store.journal.release(two, deleted.epoch)
  await store.trees.delete(two)
  await store.inbox.add('early' as TreeId, client('a'), input('before its tree'))
  await store.records.update('schedules', 'a', () => ({ due: 12.5, value: { text: oddText } }))
}

async function contentOf(store: Store): Promise<object> {
  const trees = [one, oddTree, 'early' as TreeId]
  return {
    list: await store.trees.list(),
    found: await store.trees.list({ search: 'lone' }),
    journals: await Promise.all(trees.map(async (treeId) => JSON.stringify(await store.journal.read(treeId, 0)))),
    inboxes: await Promise.all(trees.map((treeId) => store.inbox.read(treeId, 0))),
    usage: await Promise.all((['agent', 'model', 'person'] as const).map((by) => store.turns.usage({ by }))),
    charged: await store.usages.get(oddText, day),
    records: await store.records.list('schedules'),
  }
}

it('copies everything, byte for byte, and can be repeated', async () => {
  const folder = await dataFolder()
  const source = folder.open()
  await fill(source)
  const database = await testDatabase()
  const copied = { sessions: 3, events: 702, blobs: 2 }
  const seen: number[] = []
  assert.deepEqual(await copyFromSqlite(folder.path, { url: database.url }, (done) => seen.push(done)), copied)
  assert.deepEqual(seen, [1, 2, 3])
  assert.deepEqual(await copyFromSqlite(folder.path, { url: database.url }), copied)
  const target = await database.open()
  assert.deepEqual(await contentOf(target), await contentOf(source))
  const png = await source.blobs.putBytes(one, Buffer.from([0, 1, 255]), 'image/png')
  assert.deepEqual((await target.blobs.getBytes(one, png))?.bytes, Buffer.from([0, 1, 255]))
  // The driver goes on where it was.
  const [from, to] = [await claimed(source, one), await claimed(target, one)]
  assert.deepEqual(from, to)
  await appended(target, {
    ...batch(one, to.epoch, { after: 2, count: 1 }),
    summary: { agent: 'a', title: 'b', status: 'running', openRequests: 0 },
  })
  assert.equal((await target.trees.get(one))?.title, 'Mine')
})

it('refuses sessions that run, a database with others, and a copy that differs', async () => {
  const folder = await dataFolder()
  const source = folder.open()
  const epoch = await createTree(source, one, 2)
  const database = await testDatabase()
  await expect(copyFromSqlite(folder.path, { url: database.url })).rejects.toMatchObject({ code: 'session_driven' })
  await source.journal.release(one, epoch)
  await copyFromSqlite(folder.path, { url: database.url })
  await run(database.url, "UPDATE troupe.journal SET event = replace(event, 'event 2', 'event 3')")
  await expect(copyFromSqlite(folder.path, { url: database.url })).rejects.toMatchObject({
    code: 'store_invalid',
    problems: [{ place: one, message: 'its events are not the same' }],
  })
  const target = await database.open()
  await target.journal.release(two, await createTree(target, two, 1))
  await expect(copyFromSqlite(folder.path, { url: database.url })).rejects.toMatchObject({
    code: 'config_invalid',
    message: 'The database has other sessions.',
  })
  await expect(copyFromSqlite('/nowhere', { url: database.url })).rejects.toMatchObject({ code: 'config_invalid' })
})
