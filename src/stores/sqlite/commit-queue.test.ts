import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as macrotask } from 'node:timers/promises'
import { describe, it, onTestFinished, vi } from 'vitest'
import { dataFolder } from '../../../test/fixtures/data-folder.ts'
import { type Append, type TreeId, TroupeError } from '../../contracts/index.ts'
import { appended, batch, claimed, client, event, events, input, one, seqs, two } from '../../testing/store-cases/sample-tree.ts'

/** Another connection, which stands for another process. */
function outsider(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  return database
}

/** The longest of many turns of the event loop, in milliseconds. */
async function longestTurn(turns: number): Promise<number> {
  let longest = 0
  for (let turn = 0; turn < turns; turn += 1) {
    const start = performance.now()
    await macrotask()
    longest = Math.max(longest, performance.now() - start)
  }
  return longest
}

class CountingDatabase extends DatabaseSync {
  commits = 0
  failing = false
  override exec(sql: string): void {
    if (sql === 'COMMIT') {
      if (this.failing) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
      this.commits += 1
    }
    super.exec(sql)
  }
}

async function counted() {
  const folder = await dataFolder()
  let database: CountingDatabase | undefined
  const store = folder.open({
    surroundings: {
      openDatabase: (file) => {
        database = new CountingDatabase(file)
        return database
      },
    },
  })
  assert(database)
  return { store, database }
}

describe('commits (1, 2)', () => {
  it('are shared by whatever is ready in one macrotask', async () => {
    const { store, database } = await counted()
    const trees = Array.from({ length: 50 }, (_, index) => `tree-${index}` as TreeId)
    const before = database.commits
    const epochs = await Promise.all(trees.map(async (treeId) => (await claimed(store, treeId)).epoch))
    assert.equal(database.commits, before + 1)
    await Promise.all([
      ...trees.map((treeId, index) => store.journal.append(batch(treeId, epochs[index]!, { after: 0, count: 2 }))),
      ...trees.map((treeId) => store.inbox.add(treeId, client('c'), input('hello'))),
    ])
    assert.equal(database.commits, before + 2)
  })

  it('wait a millisecond for more after a crowded one, and only then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { store, database } = await counted()
    const claim = (name: string) => store.journal.claim(name as TreeId, 'me' as never)
    const before = database.commits
    await Promise.all(Array.from({ length: 8 }, (_, index) => claim(`tree-${index}`)))
    const first = claim('first')
    await macrotask()
    await macrotask()
    const second = claim('second')
    assert.equal(database.commits, before + 1)
    vi.advanceTimersByTime(1)
    await Promise.all([first, second])
    assert.equal(database.commits, before + 2)
    vi.advanceTimersByTime(10)
    await claim('later')
    assert.equal(database.commits, before + 3)
  })

  it('see each other within one macrotask: claim, message, append and release in one go', async () => {
    const store = (await dataFolder()).open()
    const answers = await Promise.all([
      store.journal.claim(one, 'me' as never),
      store.journal.append(batch(one, 1, { after: 0, count: 1 })),
      store.journal.append(batch(one, 1, { after: 1, count: 1 })),
      store.journal.release(one, 1),
      store.journal.append(batch(one, 1, { after: 2, count: 1 })),
    ])
    assert.deepEqual(answers, [{ ok: true, epoch: 1, seq: 0 }, { ok: true }, { ok: true }, undefined, { ok: false, refusal: 'epoch' }])
  })

  it('are split if they are too large, and lose nothing', async () => {
    const store = (await dataFolder()).open()
    const { epoch } = await claimed(store, one)
    const answers = Array.from({ length: 2500 }, (_, after) => store.journal.append(batch(one, epoch, { after, count: 1 })))
    assert((await Promise.all(answers)).every(({ ok }) => ok))
    assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 2500))
  })

  it('serialise each event of a large batch once, into rows that are read one after another', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    let serialised = 0
    const text = 'x'.repeat(100_000)
    const toJSON = (): string => {
      serialised += 1
      return text
    }
    const large = Array.from({ length: 41 }, (_, index) => event(one, index + 1, { text: { toJSON } as never }))
    await appended(store, { treeId: one, epoch, expectedSeq: 0, events: large })
    assert.equal(serialised, 41)
    const stored = large.map(({ seq }) => event(one, seq, { text }))
    assert.deepEqual(await store.journal.read(one, 0), stored)
    const rows = outsider(folder.file).prepare('SELECT seq, last, events FROM journal ORDER BY last').all()
    const pairs = Array.from({ length: 21 }, (_, index) => stored.slice(2 * index, 2 * index + 2))
    const expected = pairs.map((pair) => ({ seq: pair[0]?.seq, last: pair.at(-1)?.seq, events: JSON.stringify(pair) }))
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      expected,
    )
  })
})

describe('a busy file (4)', () => {
  it('is waited for without holding up the process', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    const other = outsider(folder.file)
    other.exec('BEGIN IMMEDIATE')
    let answer: Append | undefined
    const append = Promise.resolve(store.journal.append(batch(one, epoch, { after: 0, count: 2 }))).then((value) => {
      answer = value
    })
    const longest = await longestTurn(5000)
    assert.equal(answer, undefined)
    assert(longest < 2000, `a turn of the event loop took ${longest} ms`)
    // What is committed can be read meanwhile; what comes later waits in line.
    assert.deepEqual(await store.journal.read(one, 0), [])
    const next = store.journal.append(batch(one, epoch, { after: 2, count: 1 }))
    other.exec('COMMIT')
    await append
    assert.deepEqual([answer, await next], [{ ok: true }, { ok: true }])
    assert.deepEqual(await seqs(store, one), [1, 2, 3])
  })

  it('is given up after the time that was set, and used again when it is free', async () => {
    const folder = await dataFolder()
    const store = folder.open({ timing: { busyTimeoutMs: 30 } })
    const { epoch } = await claimed(store, one)
    const other = outsider(folder.file)
    other.exec('BEGIN IMMEDIATE')
    const append = store.journal.append(batch(one, epoch, { after: 0, count: 2 }))
    await assert.rejects(async () => append, {
      code: 'store_failed',
      retry: true,
      message: /within 30 ms/,
      remedy: /^Another process holds/,
    })
    other.exec('ROLLBACK')
    assert.deepEqual(await seqs(store, one), [])
    await appended(store, batch(one, epoch, { after: 0, count: 2 }))
  })

  it('may be busy already when it is opened for the first time', async () => {
    const folder = await dataFolder()
    const other = outsider(folder.file)
    other.exec('BEGIN EXCLUSIVE')
    const store = folder.open()
    const claim = store.journal.claim(one, 'me' as never)
    const list = store.trees.list()
    assert(claim instanceof Promise && list instanceof Promise)
    await longestTurn(100)
    other.exec('ROLLBACK')
    assert.deepEqual(await claim, { ok: true, epoch: 1, seq: 0 })
    assert.deepEqual(await list, [])
  })
})

describe('a failing medium (3)', () => {
  it('when full loses nothing that was acknowledged, and continues when there is space', async () => {
    const folder = await dataFolder()
    let database: DatabaseSync | undefined
    const store = folder.open({
      surroundings: {
        openDatabase: (file) => {
          database = new DatabaseSync(file)
          return database
        },
      },
    })
    assert(database)
    const { epoch } = await claimed(store, one)
    const other = await claimed(store, two)
    database.exec('PRAGMA max_page_count = 60')
    const large = (seq: number) => event(one, seq, { text: 'x'.repeat(20_000) })
    let acknowledged = 0
    let failure: unknown
    while (failure === undefined) {
      const next = { treeId: one, epoch, expectedSeq: acknowledged, events: [large(acknowledged + 1)] }
      // Another tree in the same transaction, which would have fitted.
      const [outcome, neighbour] = await Promise.allSettled([
        store.journal.append(next),
        store.journal.append(batch(two, other.epoch, { after: acknowledged, count: 1 })),
      ])
      assert.equal(outcome.status, neighbour.status)
      if (outcome.status === 'rejected') failure = outcome.reason
      else acknowledged += 1
    }
    assert(failure instanceof TroupeError)
    assert.deepEqual([failure.code, failure.retry, failure.remedy], ['store_failed', true, 'Free some space on the disk, then try again.'])
    assert(failure.cause instanceof Error)
    assert(acknowledged > 5)

    const expected = Array.from({ length: acknowledged + 1 }, (_, index) => large(index + 1))
    assert.deepEqual(await store.journal.read(one, 0), expected.slice(0, acknowledged))
    assert.equal((await seqs(store, two)).length, acknowledged)
    database.exec('PRAGMA max_page_count = 100000')
    await appended(store, { treeId: one, epoch, expectedSeq: acknowledged, events: [large(acknowledged + 1)] })
    await store.close()
    assert.deepEqual(await folder.open().journal.read(one, 0), expected)
  })

  it('at the commit stores nothing of the transaction, fails everybody in it, and is forgotten afterwards', async () => {
    const folder = await dataFolder()
    let database: CountingDatabase | undefined
    const store = folder.open({
      surroundings: {
        openDatabase: (file) => {
          database = new CountingDatabase(file)
          return database
        },
      },
    })
    assert(database)
    const { epoch } = await claimed(store, one)
    database.failing = true
    const outcomes = await Promise.allSettled([
      store.journal.append(batch(one, epoch, { after: 0, count: 2 })),
      store.journal.claim(two, 'me' as never),
      store.inbox.add(two, client('c'), input('hello')),
      store.journal.release(one, epoch),
    ])
    for (const outcome of outcomes) {
      assert(outcome.status === 'rejected')
      assert.equal(outcome.reason.code, 'store_failed')
    }
    database.failing = false
    assert.deepEqual(await store.journal.read(one, 0), [])
    assert.deepEqual(await store.inbox.read(two, 0), [])
    await appended(store, batch(one, epoch, { after: 0, count: 2 }))
    assert.deepEqual(await store.journal.append(batch(two, 1, { after: 0, count: 1 })), { ok: false, refusal: 'missing' })
  })

  it('for one operation does not affect others', async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const trees = ['a', 'b', 'broken', 'c', 'd'] as TreeId[]
    for (const treeId of trees) await claimed(store, treeId)
    // A row where the head says that there is none.
    outsider(folder.file).exec("INSERT INTO journal SELECT key, 1, 1, '[]', NULL FROM trees WHERE id = 'broken'")
    const outcomes = await Promise.allSettled(trees.map((treeId) => store.journal.append(batch(treeId, 1, { after: 0, count: 1 }))))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    for (const treeId of ['a', 'b', 'c', 'd'] as TreeId[]) assert.deepEqual(await seqs(store, treeId), [1])
    await appended(store, batch('a' as TreeId, 1, { after: 1, count: 1 }))
  })
})
