import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { setImmediate as macrotask } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { dataFolder } from '../../../test/fixtures/data-folder.ts'
import type { Store, TreeId } from '../../contracts/index.ts'
import { appended, batch, bob, claimed, client, event, events, input, one } from '../../testing/store-cases/sample-tree.ts'

const program = fileURLToPath(new URL('../../../test/fixtures/store-driver.ts', import.meta.url))

interface Driver {
  readonly process: ChildProcess
  readonly lines: readonly string[]
  /** Resolves when that many lines have come. */
  said(count: number): Promise<void>
  kill(): Promise<void>
}

function startDriver(path: string, tree: string, mode: 'echo' | 'flood' | 'count' | 'stop'): Driver {
  const child = spawn(process.execPath, [program, path, tree, mode], { stdio: ['ignore', 'pipe', 'ignore'] })
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(line))
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'close')
    child.kill('SIGKILL')
    await gone
  }
  onTestFinished(kill)
  return {
    process: child,
    lines,
    async said(count) {
      while (lines.length < count) await once(reader, 'line')
    },
    kill,
  }
}

/** Reads on until there are that many events. */
async function grown(store: Store, treeId: TreeId, length: number): Promise<void> {
  const done = Promise.withResolvers<void>()
  const look = async (): Promise<void> => {
    if ((await store.journal.read(treeId, 0)).length >= length) done.resolve()
  }
  const stop = store.journal.watch(treeId, () => look().catch(done.reject))
  await look()
  await done.promise
  stop()
}

it('a driver in another process owns its tree, receives and sends messages; its death frees the tree immediately', async () => {
  const folder = await dataFolder()
  const store = folder.open({ timing: { pollMs: 5 } })
  const driver = startDriver(folder.path, one, 'echo')
  await driver.said(1)
  assert.deepEqual(await store.journal.claim(one, bob), { ok: false, driver: `process ${driver.process.pid} on ${hostname()}` })

  for (const name of ['a', 'b', 'c']) await store.inbox.add(one, client(name), input('hello'))
  await grown(store, one, 3)
  const expected = ['a', 'b', 'c'].map((name, index) => event(one, index + 1, { text: `message ${name}` }))
  assert.deepEqual(await store.journal.read(one, 0), expected)

  await driver.kill()
  assert.deepEqual(await store.journal.claim(one, bob), { ok: true, epoch: 2, seq: 3 })
})

it('several processes write to one file concurrently and lose nothing', async () => {
  const folder = await dataFolder()
  const drivers = ['first', 'second'].map((tree) => startDriver(folder.path, tree, 'flood'))
  const store = folder.open()
  const { epoch } = await claimed(store, one)
  for (let after = 0; after < 100; after += 1) await appended(store, batch(one, epoch, { after, count: 1 }))
  for (const driver of drivers) await driver.said(101)
  for (const driver of drivers) await driver.kill()
  assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 100))
  for (const [index, tree] of (['first', 'second'] as TreeId[]).entries()) {
    const acknowledged = drivers[index]!.lines.length - 1
    const { seq } = await claimed(store, tree, bob)
    expect(seq).toBeGreaterThanOrEqual(acknowledged)
    assert.deepEqual(await store.journal.read(tree, 0), events(tree, 1, seq))
  }
})

it('the list of trees is watched over processes', async () => {
  const folder = await dataFolder()
  const store = folder.open({ timing: { pollMs: 5 } })
  const driver = startDriver(folder.path, one, 'echo')
  await driver.said(1)
  const grown = Promise.withResolvers<void>()
  const stop = store.trees.watch(({ treeId, entry }) => {
    if (treeId === one && entry?.seq === 2) grown.resolve()
  })
  for (const name of ['a', 'b']) await store.inbox.add(one, client(name), input('hello'))
  await grown.promise
  stop()
})

it('two processes change one record and lose no change', async () => {
  const folder = await dataFolder()
  const drivers = ['first', 'second'].map((tree) => startDriver(folder.path, tree, 'count'))
  for (const driver of drivers) await driver.said(202)
  const counted = drivers.flatMap(({ lines }) => lines.slice(1, -1))
  assert.deepEqual(new Set(counted), new Set(Array.from({ length: 400 }, (_, index) => `counted ${index + 1}`)))
  assert.deepEqual(await folder.open().records.get('counters', 'shared'), { key: 'shared', value: 400 })
})

it('a process killed while it writes leaves everything that it was answered, and a journal without gaps', async () => {
  const folder = await dataFolder()
  const store = folder.open()
  let seq = 0
  for (let round = 1; round <= 4; round += 1) {
    const driver = startDriver(folder.path, one, 'flood')
    await driver.said(20 * round)
    await driver.kill()
    assert.equal(driver.lines[0], `claimed ${round} ${seq}`)
    const read = await store.journal.read(one, 0)
    expect(read.length).toBeGreaterThanOrEqual(seq + driver.lines.length - 1)
    assert.deepEqual(read, events(one, 1, read.length))
    seq = read.length
  }
})

it.runIf(process.platform === 'linux')('a process that was stopped inside of a commit is named by who waits for it', async () => {
  const folder = await dataFolder()
  const store = folder.open({ timing: { busyTimeoutMs: 20 } })
  await store.trees.list()
  const driver = startDriver(folder.path, one, 'stop')
  const { pid } = driver.process
  await driver.said(2)
  while (!/\) T/.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) await macrotask()
  await assert.rejects(async () => store.journal.claim('another' as TreeId, bob), {
    code: 'store_failed',
    message: `Cannot write to the store in ${folder.file} within 20 ms: process ${pid}, which is stopped, holds its lock.`,
    remedy: `Continue it (kill -CONT ${pid}) or end it (kill -KILL ${pid}), then try again.`,
  })
  // What was committed can be read meanwhile; the end of that process frees the file.
  assert.deepEqual(await store.journal.read(one, 0), [])
  await driver.kill()
  await claimed(store, 'another' as TreeId, bob)
})
