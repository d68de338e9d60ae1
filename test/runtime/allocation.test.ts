import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

// In a process of its own, on built code: counts of bytes are stable where times are not.
it('a call of an agent allocates at most 114 KB', () => {
  const subject = join(import.meta.dirname, 'allocation-subject.mjs')
  const bytes = Number(execFileSync(process.execPath, ['--expose-gc', '--max-semi-space-size=64', subject], { encoding: 'utf8' }))
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThan(114_000)
})
