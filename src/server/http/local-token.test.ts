import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { localToken } from './local-token.ts'

const base = mkdtempSync(join(tmpdir(), 'troupe-token-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

test('processes that start together use one token, and leave nothing else behind', async () => {
  const folder = join(base, 'new', 'folder')
  const all = await Promise.all(Array.from({ length: 8 }, () => localToken(folder)))
  expect(new Set(all.map(({ token }) => token)).size).toBe(1)
  expect(all[0]?.token).toMatch(/^trp_local_[\w-]{32}$/)
  expect(readdirSync(folder)).toEqual(['local-token'])
  expect(statSync(join(folder, 'local-token')).mode & 0o777).toBe(0o600)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('a file that others could read is made private; another content is refused', async () => {
  const { path, token } = await localToken(base)
  chmodSync(path, 0o644)
  expect((await localToken(base)).token).toBe(token)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeFileSync(path, 'short')
  await expect(localToken(base)).rejects.toMatchObject({ code: 'config_invalid', remedy: expect.stringContaining('Remove the file') })
})
