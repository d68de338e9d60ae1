import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from './index.ts'

it('opens a store in memory', async () => {
  const store = await openStore('memory:')
  expect(await store.trees.list()).toEqual([])
  await store.close()
})

it('opens a store in a folder, however its path is written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-open-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const store = await openStore(`sqlite:${join(folder, 'a: b?#%20')}`)
  expect(await store.trees.list()).toEqual([])
  await store.close()
})

it.each([
  ['redis://localhost', 'Unknown store `redis:`.'],
  ['constructor:', 'Unknown store `constructor:`.'],
  ['/var/lib/troupe', 'The URL of the store has no scheme.'],
  ['', 'The URL of the store has no scheme.'],
])('refuses %j and names what works', async (url, message) => {
  await expect(openStore(url)).rejects.toMatchObject({
    code: 'config_invalid',
    message,
    remedy: 'Use `sqlite:<folder>`, `postgres://<user>@<host>/<database>` or `memory:`.',
  })
})
