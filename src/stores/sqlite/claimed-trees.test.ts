import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as macrotask } from 'node:timers/promises'
import { describe, it, onTestFinished } from 'vitest'
import { dataFolder } from '../../../test/fixtures/data-folder.ts'
import { alice, appended, batch, bob, claimed, one, two } from '../../testing/store-cases/sample-tree.ts'
import { driverTable } from './driver-table.ts'
import { lockHolder } from './lock-holder.ts'
import { settingsOf } from './sqlite-options.ts'

/** No heartbeat but where a test asks for one. */
const silent = { heartbeatMs: 1_000_000 }

interface DriverRow {
  readonly id: string
  readonly pid: number
  readonly seen_at: number
}

function drivers(file: string): () => readonly DriverRow[] {
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  const select = database.prepare('SELECT id, pid, seen_at FROM owners ORDER BY id')
  return () => select.all().map((row) => ({ ...row })) as unknown as readonly DriverRow[]
}

describe('a driver', () => {
  it('that lives is named', async () => {
    const folder = await dataFolder()
    await claimed(folder.open({ surroundings: { pid: 123, host: 'here', isAlive: () => true } }), one)
    const claim = await folder.open({ surroundings: { host: 'here', isAlive: () => true } }).journal.claim(one, bob)
    assert.deepEqual(claim, { ok: false, driver: 'process 123 on here' })
  })

  it('whose process is gone is replaced immediately, and refused from then on', async () => {
    const folder = await dataFolder()
    const gone = folder.open({ surroundings: { pid: 123, host: 'here' }, timing: silent })
    const { epoch } = await claimed(gone, one)
    await claimed(gone, two)
    const asked: number[] = []
    const isAlive = (pid: number): boolean => {
      asked.push(pid)
      return false
    }
    const heir = folder.open({ surroundings: { host: 'here', isAlive }, timing: silent })
    assert.deepEqual(await heir.journal.claim(one, bob), { ok: true, epoch: epoch + 1, seq: 0 })
    assert.deepEqual(asked, [123])
    assert.deepEqual(await gone.journal.append(batch(one, epoch, { after: 0, count: 1 })), { ok: false, refusal: 'epoch' })
    // Nobody has taken the other tree, so that it still is its driver's.
    await appended(gone, batch(two, 1, { after: 0, count: 1 }))
  })

  it('is read without being replaced: a dead process drives nothing, and it may still be the own one', async () => {
    const folder = await dataFolder()
    const surroundings = { pid: 123, host: 'here' }
    const gone = folder.open({ surroundings, timing: silent })
    const { epoch } = await claimed(gone, one)
    const alive = folder.open({ surroundings: { host: 'here', isAlive: () => true }, timing: silent })
    const dead = folder.open({ surroundings: { host: 'here', isAlive: () => false }, timing: silent })
    await appended(gone, { ...batch(one, epoch, { after: 0, count: 1 }), identity: { workspace: '/work' } })
    assert.equal(await alive.trees.driver(one), 'process 123 on here')
    const abandoned = async (store: typeof gone, workspace = '/work') =>
      (await store.trees.abandoned(workspace)).map(({ treeId }) => treeId)
    assert.deepEqual([await abandoned(alive), await abandoned(dead), await abandoned(dead, '/other')], [[], [one], []])
    assert.equal(await dead.trees.driver(one), undefined)
    await appended(gone, batch(one, epoch, { after: 1, count: 1 }))
  })

  it('on another host is not judged by its process id, but by its lease', async () => {
    const folder = await dataFolder()
    let now = 1_000_000
    const surroundings = { now: () => now, isAlive: () => false }
    await claimed(folder.open({ surroundings: { ...surroundings, host: 'there' }, timing: silent }), one)
    const heir = folder.open({ surroundings: { ...surroundings, host: 'here' }, timing: silent })
    now += 15_000
    assert.equal((await heir.journal.claim(one, bob)).ok, false)
    now += 1
    assert.equal((await heir.journal.claim(one, bob)).ok, true)
  })

  it('that is silent past its lease is replaced although its process exists', async () => {
    const folder = await dataFolder()
    let now = 1_000_000
    const options = { surroundings: { now: () => now, isAlive: () => true }, timing: { ...silent, leaseMs: 50 } }
    await claimed(folder.open(options), one)
    const heir = folder.open(options)
    assert.equal((await heir.journal.claim(one, bob)).ok, false)
    now += 51
    assert.equal((await heir.journal.claim(one, bob)).ok, true)
  })

  it('is not kept for ever by a clock that was set back', async () => {
    const folder = await dataFolder()
    let now = 10_000_000
    const options = { surroundings: { now: () => now, isAlive: () => true }, timing: silent }
    await claimed(folder.open(options), one)
    now -= 3_600_000
    assert.equal((await folder.open(options).journal.claim(one, bob)).ok, true)
  })
})

describe('a driver that lives and is silent', () => {
  it('is suspected of holding the file if the system does not report the holder', async () => {
    const folder = await dataFolder()
    let now = 1_000_000
    const surroundings = { now: () => now, pid: 123, host: 'here', isAlive: () => true }
    await claimed(folder.open({ surroundings, timing: silent }), one)
    const database = new DatabaseSync(folder.file)
    onTestFinished(() => database.close())
    const settings = settingsOf({ path: folder.path, surroundings })
    now += 15_000
    assert.deepEqual(driverTable(database, settings).silent(), [])
    now += 5_000
    const holder = lockHolder('/nowhere/troupe.db', () => driverTable(database, settings).silent())
    assert.deepEqual(holder?.name, 'probably process 123, which has been silent for 20 s,')
  })
})

describe('the heartbeat', () => {
  it('renews the lease while there are trees, and stops with the last', async () => {
    const folder = await dataFolder()
    let now = 1_000_000
    const store = folder.open({ surroundings: { now: () => now }, timing: { heartbeatMs: 1 } })
    const { epoch } = await claimed(store, one)
    const rows = drivers(folder.file)
    now += 10_000
    while (rows()[0]?.seen_at !== now) await macrotask()
    const stranger = folder.open({ surroundings: { now: () => now + 10_000, isAlive: () => true } })
    assert.equal((await stranger.journal.claim(one, bob)).ok, false)
    await store.journal.release(one, epoch)
    assert.deepEqual(rows(), [])
  })

  it('does not revive a driver that was replaced', async () => {
    const folder = await dataFolder()
    let now = 1_000_000
    const surroundings = { now: () => now, isAlive: () => true }
    const frozen = folder.open({ surroundings: { ...surroundings, pid: 1 }, timing: { heartbeatMs: 1 } })
    await claimed(frozen, one, alice)
    const beats = folder.open({ surroundings: { ...surroundings, pid: 9 }, timing: { heartbeatMs: 1 } })
    await claimed(beats, two, 'carol' as typeof bob)
    // The same driver id in a new process, which then falls silent: the old process still beats.
    const successor = folder.open({ surroundings: { ...surroundings, pid: 2 }, timing: silent })
    await claimed(successor, one, alice)
    const rows = drivers(folder.file)
    // Timers of one length fire in turn: when the third one has beaten several times, the frozen one has as well.
    for (let round = 0; round < 3; round += 1) {
      now += 20_000
      while (rows().find(({ id }) => id === 'carol')?.seen_at !== now) await macrotask()
    }
    assert.deepEqual(
      rows().map(({ id, pid, seen_at }) => ({ id, pid, seen_at })),
      [
        { id: 'alice', pid: 2, seen_at: 1_000_000 },
        { id: 'carol', pid: 9, seen_at: now },
      ],
    )
    assert.equal((await folder.open({ surroundings }).journal.claim(one, bob)).ok, true)
  })
})

describe('the table of drivers', () => {
  it('holds only drivers that have trees', async () => {
    const folder = await dataFolder()
    const store = folder.open({ surroundings: { pid: 123, host: 'here' }, timing: silent })
    const first = await claimed(store, one)
    await claimed(store, two)
    const rows = drivers(folder.file)
    const ids = (): readonly string[] => rows().map(({ id }) => id)
    await store.journal.release(one, first.epoch)
    assert.deepEqual(ids(), ['alice'])
    const heir = folder.open({ surroundings: { host: 'here', isAlive: () => false }, timing: silent })
    await claimed(heir, two, bob)
    assert.deepEqual(ids(), ['bob'])
    await heir.close()
    assert.deepEqual(ids(), [])
  })
})
