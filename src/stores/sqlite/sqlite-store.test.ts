import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'vitest'
import { dataFolder } from '../../../test/fixtures/data-folder.ts'
import type { Store } from '../../contracts/index.ts'
import { storeContract } from '../../testing/index.ts'
import { alice, appended, batch, bob, claimed, client, event, events, input, one } from '../../testing/store-cases/sample-tree.ts'
import { sqliteStore } from './index.ts'

async function openForContract(): ReturnType<Parameters<typeof storeContract>[0]> {
  const path = await mkdtemp(join(tmpdir(), 'troupe-store-'))
  const stores: Store[] = []
  const open = (): Store => {
    const store = sqliteStore({ path, timing: { pollMs: 5 } })
    stores.push(store)
    return store
  }
  return {
    store: open(),
    another: async () => open(),
    async dispose() {
      for (const store of stores) await store.close()
      await rm(path, { recursive: true })
    },
  }
}

describe('the contract of stores', () => {
  for (const { name, run } of storeContract(openForContract)) it(name, run)
})

describe('opening', () => {
  it('makes the folder and keeps everything private', async () => {
    const { path } = await dataFolder()
    const deep = join(path, 'a', 'b')
    const store = sqliteStore({ path: deep })
    await claimed(store, one)
    const id = await store.blobs.put(one, 'text')
    const modes: Record<string, string> = {}
    for (const name of ['..', '.', 'troupe.db', 'troupe.db-wal', 'troupe.db-shm', 'blobs', `blobs/${one}`, `blobs/${one}/${id}`]) {
      modes[name] = ((await stat(join(deep, name))).mode & 0o777).toString(8)
    }
    const expected = { '..': '700', '.': '700', 'troupe.db': '600', 'troupe.db-wal': '600', 'troupe.db-shm': '600', blobs: '700' }
    assert.deepEqual(modes, { ...expected, [`blobs/${one}`]: '700', [`blobs/${one}/${id}`]: '600' })
    await store.close()
  })

  it('finds everything again after a close', async () => {
    const folder = await dataFolder()
    const first = folder.open()
    const { epoch } = await claimed(first, one)
    await appended(first, {
      ...batch(one, epoch, { after: 0, count: 3 }),
      summary: { agent: 'a', title: 't', status: 'running', openRequests: 0 },
    })
    await first.inbox.add(one, client('c'), input('hello'))
    const blob = await first.blobs.put(one, 'large')
    const entry = await first.trees.get(one)
    await first.close()

    const second = folder.open()
    assert.deepEqual(await second.journal.read(one, 0), events(one, 1, 3))
    assert.deepEqual(await second.inbox.read(one, 0), [{ position: 1, clientId: 'c', message: input('hello') }])
    assert.equal(await second.blobs.get(one, blob), 'large')
    assert.deepEqual(await second.trees.get(one), entry)
    assert.deepEqual(await second.journal.claim(one, bob), { ok: true, epoch: epoch + 1, seq: 3 })
    assert.deepEqual(await second.inbox.add(one, client('c'), input('again')), { position: 1, repeated: true, message: input('hello') })
  })

  it('refuses a newer schema', async () => {
    const folder = await dataFolder()
    await folder.open().close()
    const database = new DatabaseSync(folder.file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    assert.throws(() => folder.open(), { code: 'store_invalid', message: /version 99/, remedy: /update Troupe/ })
  })

  it('refuses a file that is no database, and leaves it alone', async () => {
    const folder = await dataFolder()
    await writeFile(folder.file, 'these are somebody’s notes\n'.repeat(200))
    assert.throws(() => folder.open(), { code: 'store_invalid', remedy: /another folder/ })
    assert.equal((await stat(folder.file)).size, Buffer.byteLength('these are somebody’s notes\n') * 200)
  })

  it('refuses a database of another program', async () => {
    const folder = await dataFolder()
    const database = new DatabaseSync(folder.file)
    database.exec('CREATE TABLE notes (text)')
    database.close()
    assert.throws(() => folder.open(), { code: 'store_invalid', message: /"notes"/ })
  })

  it('reports wrong options, all together, and makes no folder', async () => {
    const { path } = await dataFolder()
    const below = join(path, 'below')
    assert.throws(() => sqliteStore({ path: below, pth: 1, timing: { pollMS: 5, leaseMs: '1' }, surroundings: { clock: 1 } } as never), {
      code: 'config_invalid',
      message: [
        'Invalid configuration, 4 problems:',
        '  sqliteStore.pth: unknown key. Did you mean "path"?',
        '  sqliteStore.timing.pollMS: unknown key. Did you mean "pollMs"?',
        '  sqliteStore.timing.leaseMs: expected milliseconds, found "1". Leave it out for 15000.',
        '  sqliteStore.surroundings.clock: unknown key. Known keys: now, pid, host, isAlive, openDatabase.',
      ].join('\n'),
    })
    assert.equal(existsSync(below), false)
    assert.throws(() => sqliteStore({} as never), { code: 'config_invalid', message: /path: expected a folder, found nothing/ })
    assert.throws(() => sqliteStore(undefined as never), { code: 'config_invalid' })
  })

  it('says what to do about a folder that cannot be made', async () => {
    const folder = await dataFolder()
    await writeFile(join(folder.path, 'file'), '')
    assert.throws(() => sqliteStore({ path: join(folder.path, 'file', 'below') }), {
      code: 'store_failed',
      message: /^Cannot open the data folder/,
      remedy: /^Check the folder/,
    })
  })

  it.runIf(process.platform === 'linux')('ends where the system makes no folders: below /proc it went on for ever', () => {
    assert.throws(() => sqliteStore({ path: '/proc/troupe/data' }), { code: 'store_failed', message: /ENOENT/ })
  })
})

describe('closing', () => {
  it('stores the queue and releases ownership', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    const queued = [store.journal.append(batch(one, epoch, { after: 0, count: 2 })), store.inbox.add(one, client('c'), input('hello'))]
    const late = store.journal.claim('late' as typeof one, alice)
    const blob = store.blobs.put(one, 'text')
    const closing = store.close()
    await assert.rejects(async () => store.journal.claim('too late' as typeof one, alice), { message: 'the store is closed' })
    await closing
    assert.deepEqual(await Promise.all(queued), [{ ok: true }, { position: 1, repeated: false }])
    assert.equal((await late).ok, true)

    const database = new DatabaseSync(folder.file)
    assert.deepEqual({ ...database.prepare('SELECT count(*) AS trees, count(owner) AS owned FROM trees').get() }, { trees: 2, owned: 0 })
    database.close()

    const next = folder.open()
    assert.deepEqual(await next.journal.claim(one, bob), { ok: true, epoch: epoch + 1, seq: 2 })
    assert.equal((await next.journal.claim('late' as typeof one, bob)).ok, true)
    assert.equal(await next.blobs.get(one, await blob), 'text')
  })

  it('refuses whatever comes later, and may be repeated', async () => {
    const store = (await dataFolder()).open()
    const { epoch } = await claimed(store, one)
    await Promise.all([store.close(), store.close()])
    await store.close()
    const closed = { code: 'store_failed', message: 'the store is closed' }
    await assert.rejects(async () => store.journal.claim(one, alice), closed)
    await assert.rejects(async () => store.journal.append(batch(one, epoch, { after: 0, count: 1 })), closed)
    await assert.rejects(async () => store.journal.read(one, 0), closed)
    await assert.rejects(async () => store.journal.release(one, epoch), closed)
    await assert.rejects(async () => store.inbox.add(one, client('c'), input('hello')), closed)
    await assert.rejects(async () => store.inbox.read(one, 0), closed)
    await assert.rejects(async () => store.blobs.put(one, 'text'), closed)
    await assert.rejects(async () => store.trees.list(), closed)
    await assert.rejects(async () => store.records.get('a', 'b'), closed)
    await assert.rejects(async () => store.records.update('a', 'b', () => undefined), closed)
    await assert.rejects(async () => store.usages.get('a', 'b'), closed)
    await assert.rejects(async () => store.turns.usage({ by: 'day' }), closed)
    await assert.rejects(async () => store.turns.unindexed(), closed)
    await assert.rejects(async () => store.turns.replace(one, 1, []), closed)
    await assert.rejects(async () => store.turns.rebuildIndex(), closed)
    await assert.rejects(async () => store.trees.list({ search: 'a' }), closed)
    assert.throws(() => store.journal.watch(one, () => {}), closed)
    assert.throws(() => store.trees.watch(() => {}), closed)
  })
})

describe('watching', () => {
  it('learns of commits of the same store without any poll', async () => {
    const store = (await dataFolder()).open({ timing: { pollMs: 1_000_000 } })
    const { epoch } = await claimed(store, one)
    const woken: string[] = []
    store.journal.watch(one, () => woken.push('journal'))
    store.inbox.watch(one, () => woken.push('inbox'))
    await appended(store, batch(one, epoch, { after: 0, count: 1 }))
    await store.inbox.add(one, client('c'), input('hello'))
    await store.inbox.add(one, client('c'), input('repeated'))
    await store.journal.append(batch(one, epoch, { after: 7, count: 1 }))
    assert.deepEqual(woken, ['journal', 'inbox'])
    store.trees.watch(({ treeId, entry }) => woken.push(`${treeId} ${entry?.title}`))
    await store.trees.update(one, { title: 'Mine' })
    await store.journal.release(one, epoch)
    await store.trees.delete(one)
    assert.deepEqual(woken.slice(2), [`${one} Mine`, `${one} undefined`])
  })
})

describe('lists', () => {
  const planOf = (file: string, sql: string): string => {
    const database = new DatabaseSync(file)
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all('x', 1)
    database.close()
    return plan.map(({ detail }) => detail).join('; ')
  }

  it('of an owner use an index, which a database of this schema gets when it is opened', async () => {
    const folder = await dataFolder()
    await folder.open().close()
    const database = new DatabaseSync(folder.file)
    database.exec('DROP INDEX trees_by_principal')
    database.close()
    await folder.open().close()
    const list = 'SELECT id FROM trees WHERE principal = ? AND created_at < ? ORDER BY created_at DESC'
    assert.equal(planOf(folder.file, list), 'SEARCH trees USING INDEX trees_by_principal (principal=? AND created_at<?)')
  })

  it('do not read journals', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    await appended(store, batch(one, epoch, { after: 0, count: 1 }))
    const database = new DatabaseSync(folder.file)
    database.exec("UPDATE journal SET events = 'damaged'")
    database.close()
    const filter = { status: 'running', labels: [], text: '', agent: '', hasOpenRequests: false } as const
    assert.equal((await store.trees.list(filter)).length, 1)
  })
})

describe('damage', () => {
  it('in a blob is reported', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const id = await store.blobs.put(one, 'as it was')
    await writeFile(join(folder.path, 'blobs', one, id), 'as it is')
    await assert.rejects(async () => store.blobs.get(one, id), { code: 'store_invalid' })
  })
})

describe('misuse', () => {
  it('is thrown: an empty batch, a wrong number, what is not JSON', async () => {
    const store = (await dataFolder()).open()
    const { epoch } = await claimed(store, one)
    const start = { treeId: one, epoch, expectedSeq: 0 }
    assert.throws(() => store.journal.append({ ...start, events: [] }), { code: 'internal' })
    assert.throws(() => store.journal.append({ ...start, events: [event(one, 2)] }), { code: 'internal' })
    const circular: { metadata: Record<string, unknown> } = { metadata: {} }
    circular.metadata.self = circular
    assert.throws(() => store.journal.append({ ...start, events: [event(one, 1, circular as never)] }), {
      code: 'internal',
      message: /not JSON/,
    })
    await appended(store, batch(one, epoch, { after: 0, count: 1 }))
  })
})
