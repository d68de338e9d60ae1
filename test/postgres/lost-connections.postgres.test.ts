import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { appended, batch, bob, claimed, client, createTree, events, input, one, two } from '../../src/testing/store-cases/sample-tree.ts'
import { testDatabase } from './postgres-fixture.ts'

const says = (message: Buffer, text: string): boolean => message.includes(text)

it('an append whose answer is lost is stored once, with its charge', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const store = await database.open({ url: proxy.url })
  const epoch = await createTree(store, one, 2)
  let lost = 0
  proxy.onRequest((message) => {
    if (lost > 0 || !says(message, 'troupe.journal (tree')) return true
    lost += 1
    return false
  })
  const charge = { owner: 'ann', period: '2026-11-17', tokens: 5, costUsd: 0.5 }
  await appended(store, { ...batch(one, epoch, { after: 2, count: 3 }), charge })
  assert.equal(lost, 1)
  assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 5))
  assert.deepEqual(await store.usages.get('ann', '2026-11-17'), { tokens: 5, costUsd: 0.5 })
})

it('a transaction takes effect once, wherever its connection is cut', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const store = await database.open({ url: proxy.url })
  for (const at of ['BEGIN', 'pg_advisory_xact_lock', 'INSERT INTO troupe.records', 'COMMIT']) {
    let lost = 0
    proxy.onRequest((message) => {
      if (lost > 0 || !says(message, at)) return true
      lost += 1
      return false
    })
    await store.records.update('test', at, (before) => ({ value: Number(before?.value ?? 0) + 1 }))
    assert.equal(lost, 1, at)
    assert.deepEqual(await store.records.get('test', at), { key: at, value: 1 })
  }
  let lost = 0
  proxy.onRequest((message) => {
    if (lost > 0 || !says(message, 'COMMIT')) return true
    lost += 1
    return false
  })
  assert.deepEqual(await store.inbox.add(one, client('a'), input('hello')), { position: 1, repeated: false })
  assert.equal((await claimed(store, one)).epoch, 1)
})

it('a connection that is cut without a sign is replaced before the lease is over', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const timing = { leaseMs: 2_000, heartbeatMs: 500 }
  const store = await database.open({ url: proxy.url, timing })
  const epoch = await createTree(store, one, 1)
  proxy.freeze()
  const append = store.journal.append(batch(one, epoch, { after: 1, count: 1 }))
  await delay(300)
  proxy.heal()
  assert.deepEqual(await append, { ok: true })
})

it('a driver that nobody hears of loses its trees when its lease is over, and cannot write afterwards', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const timing = { leaseMs: 600, heartbeatMs: 100 }
  const first = await database.open({ url: proxy.url, timing })
  const second = await database.open({ timing })
  const epoch = await createTree(first, one, 1)
  // Longer than its first lease: it was renewed.
  await delay(900)
  assert.equal((await second.journal.claim(one, bob)).ok, false)
  proxy.cut()
  const stale = Promise.allSettled([first.journal.append(batch(one, epoch, { after: 1, count: 1 }))])
  let claim = await second.journal.claim(one, bob)
  while (!claim.ok) {
    await delay(50)
    claim = await second.journal.claim(one, bob)
  }
  proxy.heal()
  await appended(second, batch(one, claim.epoch, { after: 1, count: 2 }))
  await stale
  assert.deepEqual(await first.journal.append(batch(one, epoch, { after: 1, count: 1 })), { ok: false, refusal: 'epoch' })
  assert.deepEqual(await second.journal.read(one, 0), events(one, 1, 3))
})

it('says what is wrong if the server is gone for longer', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const store = await database.open({ url: proxy.url, timing: { leaseMs: 400, heartbeatMs: 100 } })
  const epoch = await createTree(store, one, 1)
  assert.deepEqual(await store.check?.({ writes: true }), [])
  proxy.cut()
  await expect(store.journal.append(batch(one, epoch, { after: 1, count: 1 }))).rejects.toMatchObject({ code: 'store_failed' })
  assert.equal((await store.check?.())?.length, 1)
  proxy.heal()
  assert.deepEqual(await store.check?.(), [])
  await appended(store, batch(one, epoch, { after: 1, count: 1 }))
})

it('changes of other processes are found without notifications, and again with them', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const store = await database.open({ listenUrl: proxy.url, timing: { pollMs: 30 } })
  const other = await database.open({ timing: { notifyMs: 1 } })
  const { epoch } = await claimed(other, one)
  const woken: string[] = []
  const seen = async (name: string): Promise<void> => {
    while (!woken.includes(name)) await delay(10)
    woken.length = 0
  }
  store.journal.watch(one, () => woken.push('journal'))
  store.inbox.watch(one, () => woken.push('inbox'))
  store.trees.watch(({ treeId, entry }) => woken.push(entry === undefined ? `deleted ${treeId}` : `${treeId} ${entry.seq}`))
  for (const [round, disturb] of [proxy.cut, proxy.heal].entries()) {
    disturb()
    const after = round * 2
    await appended(other, batch(one, epoch, { after, count: 2 }))
    await seen('journal')
    await other.inbox.add(one, client(`a${round}`), input('hello'))
    await seen('inbox')
    await other.trees.update(one, { title: `title ${round}` })
    await seen(`${one} ${after + 2}`)
  }
  proxy.cut()
  await other.journal.release(two, await createTree(other, two, 1))
  await other.trees.delete(two)
  await seen(`deleted ${two}`)
})

it('a store whose connections are frozen closes all the same', async () => {
  const database = await testDatabase()
  const proxy = await database.proxy()
  const store = await postgresStore({ url: proxy.url, timing: { leaseMs: 300, heartbeatMs: 100 } })
  store.journal.watch(one, () => undefined)
  await createTree(store, one, 1)
  proxy.freeze()
  await store.close()
  await assert.rejects(async () => store.trees.list(), { code: 'store_failed', message: 'the store is closed' })
})
