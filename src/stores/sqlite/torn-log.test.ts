import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataFolder } from '../../../test/fixtures/data-folder.ts'
import { appended, batch, bob, claimed, events, one } from '../../testing/store-cases/sample-tree.ts'
import { seededFraction } from '../../util/hash.ts'
import { sqliteStore } from './index.ts'

const batches = 30
/** A third of the cases in the short form. */
const share = process.env.TROUPE_FULL ? 1 : 1 / 3

/** The log with a part of it missing or changed, as a crash or a bad disk leaves it. */
function damagedLogs(log: Buffer): readonly Buffer[] {
  const position = (key: string): number => Math.floor(seededFraction(key) * log.length)
  const cuts = Array.from({ length: 150 * share }, (_, index) => log.subarray(0, Math.floor((log.length * index) / (150 * share))))
  const flips = Array.from({ length: 90 * share }, (_, index) => {
    const flipped = Buffer.from(log)
    const at = position(`flip ${index}`)
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (index % 8)), at)
    return flipped
  })
  const holes = Array.from({ length: 60 * share }, (_, index) => {
    const at = position(`hole ${index}`)
    return Buffer.from(log).fill(0, at, at + 4096)
  })
  return [...cuts, ...flips, ...holes]
}

it('leaves an exact prefix of whole batches, wherever the log is torn, and continues from there', async () => {
  const folder = await dataFolder()
  const store = folder.open()
  const { epoch } = await claimed(store, one)
  for (let index = 0; index < batches; index += 1) await appended(store, batch(one, epoch, { after: index * 3, count: 3 }))
  const log = await readFile(`${folder.file}-wal`)
  const lengths = new Set<number>()
  const cases = damagedLogs(log)
  for (const [index, damaged] of cases.entries()) {
    const path = join(folder.path, `case-${index}`)
    await mkdir(path)
    await copyFile(folder.file, join(path, 'troupe.db'))
    await writeFile(join(path, 'troupe.db-wal'), damaged)
    const survivor = sqliteStore({ path, surroundings: { isAlive: () => false } })
    const read = await survivor.journal.read(one, 0)
    assert.equal(read.length % 3, 0)
    assert.deepEqual(read, events(one, 1, read.length))
    const next = await claimed(survivor, one, bob)
    assert.equal(next.seq, read.length)
    await appended(survivor, batch(one, next.epoch, { after: next.seq, count: 1 }))
    await survivor.close()
    lengths.add(read.length)
  }
  expect(cases.length).toBe(300 * share)
  // The damage was spread: not always all or nothing was left.
  expect(lengths.size).toBeGreaterThan(15)
})
