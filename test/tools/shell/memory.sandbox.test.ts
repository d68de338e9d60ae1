import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { noSandboxHere } from '../../sandbox-here.ts'
import { path } from '../sandbox/ground.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-memory-'))
  for (const name of ['workspace', 'home']) mkdirSync(join(base, name))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

// In a process of its own: what others leave behind for the collector is not counted.
it.skipIf(process.platform === 'win32')('a command that prints 200 MB costs at most 64 MB', async () => {
  const subject = join(import.meta.dirname, 'memory-subject.mjs')
  const [root, home] = [join(base, 'workspace'), join(base, 'home')]
  const input = JSON.stringify({ root, home, path, isConfined: noSandboxHere === undefined })
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', subject, input])
  const { output, addedMb, shown } = JSON.parse(stdout) as { output: { truncatedBytes: number }; addedMb: number; shown: number }
  expect(output).toMatchObject({ exitCode: 0, truncatedBytes: expect.any(Number) })
  // All was read to the end, and little was kept or shown.
  expect(output.truncatedBytes).toBeGreaterThan(198_000_000)
  expect(shown).toBeLessThan(1_300_000)
  expect(addedMb).toBeLessThan(64)
})
