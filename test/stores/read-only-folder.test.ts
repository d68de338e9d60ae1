import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { appended, batch, claimed, events, one } from '../../src/testing/store-cases/sample-tree.ts'
import { dataFolder } from '../fixtures/data-folder.ts'

const program = `
  const { sqliteStore } = await import(process.argv[1])
  const store = sqliteStore({ path: process.argv[2], access: 'read', surroundings: { isAlive: () => false } })
  const [entry] = await store.trees.list()
  const read = await store.journal.read(entry.treeId, 0)
  const write = await store.inbox.add(entry.treeId, 'c', { kind: 'cancel', mode: 'stop', by: 'me' }).catch(({ code, remedy }) => ({ code, remedy }))
  const blob = await store.blobs.get(entry.treeId, process.argv[3])
  await store.close()
  process.stdout.write(JSON.stringify({ entry, read, write, blob }))
`

/** A process of a user who may not write there: nobody may refuse anything to root. */
async function asReader(args: readonly string[]): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const isRoot = process.getuid?.() === 0
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', TMPDIR: '/tmp' },
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text) => (stdout += text))
  child.stderr.on('data', (text) => (stderr += text))
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

it.runIf(process.platform !== 'win32')(
  'what is in a log that was not checkpointed is read in a folder that cannot be written',
  async () => {
    const folder = await dataFolder()
    const store = folder.open()
    const { epoch } = await claimed(store, one)
    await appended(store, batch(one, epoch, { after: 0, count: 3 }))
    const blob = await store.blobs.put(one, 'large')
    // As a crash leaves it: the log is there, and all of the journal is in it.
    const path = await mkdtemp(join(tmpdir(), 'troupe-read-only-'))
    onTestFinished(async () => {
      await chmod(path, 0o700)
      await rm(path, { recursive: true })
    })
    await cp(folder.path, path, { recursive: true })
    for (const name of await readdir(path, { recursive: true }))
      await chmod(join(path, name), name.includes('.db') || name.endsWith(blob) ? 0o444 : 0o555)
    await chmod(path, 0o555)
    const before = await readdir(path)
    expect(before).toContain('troupe.db-wal')
    const reader = await asReader([new URL('../../dist/stores/sqlite/index.js', import.meta.url).href, path, blob])
    expect(reader.code, reader.stderr).toBe(0)
    const found = JSON.parse(reader.stdout)
    expect(found).toEqual({
      entry: { ...(await store.trees.get(one)) },
      read: events(one, 1, 3),
      write: { code: 'store_failed', remedy: 'Make the data folder and its files writable, then try again.' },
      blob: 'large',
    })
    expect(await readdir(path)).toEqual(before)
  },
)
