import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { open as openFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DataFolder, dataFolder } from '../../../test/fixtures/data-folder.ts'
import type { Store, TreeId } from '../../contracts/index.ts'
import { appended, batch, bob, claimed, one, two } from '../../testing/store-cases/sample-tree.ts'
import { found, model, treeOf, treeWith, turn } from '../../testing/store-cases/turn-records.ts'

/** Another connection, which may also write the tables of the index. */
function outsider({ file }: DataFolder): DatabaseSync {
  const database = new DatabaseSync(file)
  database.enableDefensive(false)
  onTestFinished(() => database.close())
  return database
}

const damaged = { code: 'index_damaged', remedy: 'Run `troupe store reindex`.' }
const count = (database: DatabaseSync, rows: string): number => Number(database.prepare(`SELECT count(*) AS n FROM ${rows}`).get()?.n)

/** More texts than a search looks through: the index is created in the background. */
async function manyTexts(store: Store, treeId: TreeId, texts = 600): Promise<void> {
  const turns = Array.from({ length: texts / 2 }, (_, index) => turn({ texts: [`message number${index}`, `answer ${'word '.repeat(50)}`] }))
  await treeWith(store, treeId, { turns })
}

/** The position of the index and its texts are what the file has now. */
async function indexed(store: Store, database: DatabaseSync): Promise<void> {
  await store.turns.rebuildIndex()
  assert.equal(count(database, 'search_removed'), 0)
}

const table = (database: DatabaseSync): string =>
  String(database.prepare("SELECT json ->> 'table' AS name FROM records WHERE namespace = 'search-index'").get()?.name)

/** All terms of the index, with those of deleted texts that are only marked. */
const allBytes = (database: DatabaseSync): string =>
  database
    .prepare(`SELECT block FROM ${table(database)}_data`)
    .all()
    .map(({ block }) => Buffer.from(block as Uint8Array).toString('latin1'))
    .join()

describe('the search index', () => {
  it('is written in the background, when many texts wait, and never with a turn', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const database = outsider(folder)
    await treeOf(store, two, 'few texts')
    assert.equal(count(database, "records WHERE namespace = 'search-index'"), 0)
    assert.equal(await found(store, 'few'), two)
    await manyTexts(store, one)
    await expect.poll(() => count(database, "sqlite_schema WHERE name = 'search_index'") && count(database, 'search_index')).toBe(601)
  })

  it('gets large texts soon, so that no search has to look through them', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    await treeOf(store, one, 'word '.repeat(20_000))
    const database = outsider(folder)
    await expect.poll(() => count(database, "sqlite_schema WHERE name = 'search_index'") && count(database, 'search_index')).toBe(1)
  })

  it('is completed by whoever searches, if a process died before it could', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    const turns = Array.from({ length: 300 }, (_, index) => turn({ texts: [`number${index}`] }))
    const stored = appended(store, { ...batch(one, epoch, { after: 0, count: 1 }), turns })
    // Nothing that is added after the append is written: as if the process had died.
    const closing = store.close()
    await Promise.all([stored, closing])
    const database = outsider(folder)
    const next = folder.open()
    assert.equal(await found(next, 'number299'), one)
    assert.equal(count(database, 'search_index'), 300)
    assert.equal(await found(next, 'number0'), one)
  })

  it('has no rows of deleted trees, and after `vacuum` none of their words', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const database = outsider(folder)
    await treeOf(store, one, 'zzsecret message')
    await treeOf(store, two, 'zzopen message')
    await indexed(store, database)
    await store.trees.delete(one)
    assert.deepEqual([count(database, 'search_texts'), count(database, 'search_removed'), count(database, table(database))], [1, 0, 1])
    await store.vacuum()
    assert(!allBytes(database).includes('zzsecret'))
    assert(allBytes(database).includes('zzopen'))
    assert.deepEqual([await found(store, 'zzsecret'), await found(store, 'zzopen')], ['', two])
  })

  it('forgets what a program of schema 2 deletes', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const database = outsider(folder)
    await treeOf(store, one, 'secret')
    await indexed(store, database)
    database.exec('DELETE FROM journal; DELETE FROM trees')
    await treeOf(store, two, 'other')
    assert.equal(await found(store, 'secret'), '')
    assert.equal(count(database, 'search_texts'), 1)
    await store.vacuum()
    assert.equal(count(database, table(database)), 0)
  })

  it('is used by processes with an older one while another builds it again', async () => {
    const folder = await dataFolder()
    const [store, other] = [folder.open(), folder.open()]
    await manyTexts(store, one)
    const searches = Array.from({ length: 20 }, () => found(other, 'number7'))
    await Promise.all([store.turns.rebuildIndex(), ...searches])
    assert.deepEqual(new Set(await Promise.all(searches)), new Set([one]))
    assert.equal(await found(other, 'number299'), one)
  })

  it('can be built by two processes at once', async () => {
    const folder = await dataFolder()
    const [store, other] = [folder.open(), folder.open()]
    const database = outsider(folder)
    await manyTexts(store, one)
    await indexed(store, database)
    const tables = "sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE search_index%'"
    const first = store.turns.rebuildIndex()
    await expect.poll(() => count(database, tables), { interval: 1 }).toBe(2)
    // It is behind: the first one drops its table.
    await Promise.all([first, other.turns.rebuildIndex()])
    assert.deepEqual([count(database, table(database)), count(database, tables)], [600, 1])
    for (const each of [store, other]) assert.equal(await found(each, 'number299'), one)
  })

  it('is built by one of two: the other one is done when its table is gone', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const database = outsider(folder)
    await manyTexts(store, one)
    await indexed(store, database)
    const rebuilt = store.turns.rebuildIndex()
    const next = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE search_index%' AND name != ?"
    const unfinished = (): unknown => database.prepare(next).get(table(database))?.name
    await expect.poll(unfinished, { interval: 1 }).toBeDefined()
    // As the rebuild of another process does when it has finished.
    database.exec(`DROP TABLE ${unfinished()}`)
    await rebuilt
    assert.equal(await found(store, 'number299'), one)
  })

  it('can be searched where nothing may be written', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    await manyTexts(store, one)
    await treeOf(store, two, 'later')
    const reader = folder.open({ access: 'read' })
    assert.deepEqual([await found(reader, 'number3'), await found(reader, 'later')], [one, two])
    assert.deepEqual(await reader.check?.(), [])
  })
})

const damages: { readonly [name: string]: (database: DatabaseSync, table: string) => void } = {
  'other bytes': (database, table) => database.exec(`UPDATE ${table}_data SET block = x'00ff00ff00ff'`),
  'no structure': (database, table) => database.exec(`DELETE FROM ${table}_data WHERE id = 10`),
  'no rows': (database, table) => database.exec(`DELETE FROM ${table}_data`),
  'another format': (database, table) => database.exec(`UPDATE ${table}_config SET v = 99`),
  'no configuration': (database, table) => database.exec(`DROP TABLE ${table}_config`),
}

describe('a damaged index', () => {
  for (const [name, damage] of Object.entries(damages))
    it(`keeps nothing from being stored or deleted, is reported by a search, and is built again: ${name}`, async () => {
      const folder = await dataFolder()
      const first = folder.open()
      const database = outsider(folder)
      await manyTexts(first, one)
      await treeOf(first, two, 'to delete')
      await indexed(first, database)
      await first.close()
      damage(database, table(database))

      const store = folder.open()
      await assert.rejects(async () => store.trees.list({ search: 'number7' }), damaged)
      await manyTexts(store, 'tree-three' as TreeId)
      await assert.rejects(async () => store.trees.list({ search: 'number7' }), damaged)
      assert.deepEqual(await store.trees.delete(two), { ok: true })
      assert.equal(await store.turns.replace(one, 1, [turn({ texts: ['replaced'] })]), true)
      await store.vacuum()
      assert.equal((await store.trees.list()).length, 2)
      assert.deepEqual(await store.check?.(), [])

      await store.turns.rebuildIndex()
      assert.deepEqual(
        [await found(store, 'number7'), await found(store, 'replaced'), await found(store, 'delete')],
        ['tree-three', one, ''],
      )
      await manyTexts(store, 'tree-four' as TreeId)
      await expect.poll(() => count(database, table(database))).toBe(1201)
    })

  it('is reported before all texts that wait for it are looked through', async () => {
    const folder = await dataFolder()
    const first = folder.open()
    const database = outsider(folder)
    await manyTexts(first, one)
    await indexed(first, database)
    damages['other bytes']?.(database, table(database))
    await manyTexts(first, two, 2000)
    await first.close()
    const last = database.prepare('SELECT max(id) AS id FROM search_texts').get()?.id
    const reads: number[] = []
    const open = (file: string) => {
      const opened = new DatabaseSync(file)
      const prepare = opened.prepare.bind(opened)
      opened.prepare = (sql) => {
        const statement = prepare(sql)
        const iterate = statement.iterate.bind(statement)
        statement.iterate = function* (...values: never[]) {
          for (const row of iterate(...values)) {
            reads.push(Number(row.id))
            yield row
          }
          return undefined
        } as typeof statement.iterate
        return statement
      }
      return opened
    }
    const store = folder.open({ surroundings: { openDatabase: open } })
    await assert.rejects(async () => store.trees.list({ search: 'number7' }), damaged)
    assert(reads.length > 0 && Math.max(...reads) < Number(last) - 1000, String(reads.length))
  })

  it('is reported, too, where pages of the file were overwritten, and is built again', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    await manyTexts(store, one, 4000)
    await store.turns.rebuildIndex()
    await store.close()
    const database = new DatabaseSync(folder.file)
    const pages = database.prepare(`SELECT pageno FROM dbstat WHERE name = '${table(database)}_data'`).all()
    database.close()
    const file = await openFile(folder.file, 'r+')
    for (const { pageno } of pages) await file.write(Buffer.alloc(8192, 0x5a), 0, 8192, (Number(pageno) - 1) * 8192)
    await file.close()
    const reopened = folder.open()
    await assert.rejects(async () => reopened.trees.list({ search: 'number7' }), damaged)
    await treeOf(reopened, two, 'stored')
    await reopened.turns.rebuildIndex()
    assert.deepEqual([await found(reopened, 'number7'), await found(reopened, 'stored')], [one, two])
  })

  it('is not what is reported for damage elsewhere', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    await manyTexts(store, one, 4000)
    await store.turns.rebuildIndex()
    await store.close()
    const database = new DatabaseSync(folder.file)
    const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = 'search_texts' AND pagetype = 'leaf'").all()
    database.close()
    const file = await openFile(folder.file, 'r+')
    for (const { pageno } of pages) await file.write(Buffer.alloc(8192, 0x5a), 0, 8192, (Number(pageno) - 1) * 8192)
    await file.close()
    await assert.rejects(async () => folder.open().trees.list({ search: 'number7' }), { code: 'store_invalid' })
  })
})

describe('trees of an older version', () => {
  /** As that version creates and continues it: it does not know the columns of schema 3. */
  function continuedByVersion2(database: DatabaseSync, treeId: TreeId, head: number): void {
    database.prepare('UPDATE trees SET head = ?, created_at = coalesce(created_at, 1) WHERE id = ?').run(head, treeId)
  }

  it('are not indexed, also with new turns, until their records are replaced', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const database = outsider(folder)
    await claimed(store, one)
    continuedByVersion2(database, one, 3)
    database.exec("UPDATE trees SET principal = 'ann'")
    assert.deepEqual([await store.turns.unindexed(), await store.turns.unindexed('ann'), await store.turns.unindexed('bob')], [1, 1, 0])
    const { epoch } = await claimed(store, one)
    const paid = turn({ texts: ['new'], models: [model('m', { costUsd: 1 })] })
    await appended(store, { ...batch(one, epoch, { after: 3, count: 1 }), turns: [paid] })
    assert.equal(await store.turns.unindexed(), 1)
    assert.equal('cost' in ((await store.trees.get(one)) ?? {}), false)
    assert.deepEqual(await store.trees.list({ minCostUsd: 0 }), [])
    assert.equal(await found(store, 'new'), one)
    assert.equal((await store.turns.usage({ by: 'day' })).total.costUsd, 1)
    assert.equal(await store.turns.replace(one, 4, [turn({ texts: ['old'], models: [model('m', { costUsd: 2 })] }), paid]), true)
    assert.deepEqual([await store.turns.unindexed(), (await store.trees.get(one))?.cost, await found(store, 'old')], [0, 3, one])
  })

  it('are again not indexed when that version, still running, has continued them', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    await treeWith(store, one, { turns: [turn({ models: [model('m', { costUsd: 1 })] })] })
    continuedByVersion2(outsider(folder), one, 2)
    assert.equal(await store.turns.unindexed(), 1)
    assert.equal('cost' in ((await store.trees.get(one)) ?? {}), false)
  })
})

describe('records of turns', () => {
  it('are stored with their events or not at all, when a process dies', async () => {
    const folder = await dataFolder()
    const program = `
      const { sqliteStore } = await import(${JSON.stringify(new URL('index.ts', import.meta.url).href)})
      const { batch } = await import(${JSON.stringify(new URL('../../testing/store-cases/sample-tree.ts', import.meta.url).href)})
      const { turn, model } = await import(${JSON.stringify(new URL('../../testing/store-cases/turn-records.ts', import.meta.url).href)})
      const { DatabaseSync } = await import('node:sqlite')
      let commits = 0
      class Dying extends DatabaseSync {
        exec(sql) {
          if (sql === 'COMMIT' && ++commits === 9) process.kill(process.pid, 'SIGKILL')
          super.exec(sql)
        }
      }
      const store = sqliteStore({ path: ${JSON.stringify(folder.path)}, surroundings: { openDatabase: (file) => new Dying(file) } })
      const { epoch } = await store.journal.claim('${one}', 'me')
      const turns = [turn({ texts: ['a word'], models: [model('m', { costUsd: 1 })] })]
      for (let after = 0; ; after += 1) await store.journal.append({ ...batch('${one}', epoch, { after, count: 1 }), turns })`
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    assert.equal(signal, 'SIGKILL', stderr)
    const store = folder.open()
    const { seq } = await claimed(store, one, bob)
    assert(seq > 0)
    const { total } = await store.turns.usage({ by: 'day' })
    assert.deepEqual([total.turns, total.costUsd, (await store.trees.get(one))?.cost], [seq, seq, seq])
    assert.equal(count(outsider(folder), 'search_texts'), seq)
  })

  it('of many sessions are summed with an index where an owner is given', async () => {
    const folder = await dataFolder()
    folder.open()
    const plan = outsider(folder).prepare('EXPLAIN QUERY PLAN SELECT * FROM turn_usage WHERE owner = ? AND ended_at >= ?').all('a', 1)
    assert.match(String(plan[0]?.detail), /turn_usage_by_owner \(owner=\? AND ended_at>\?\)/)
  })
})
