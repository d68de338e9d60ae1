import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie is dead, too: somebody else has to bury it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 20_000
  while (!condition()) {
    if (Date.now() > end) expect.unreachable('it never came true')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The numbers that a program has written down, one on each line. */
export const pidsIn = (file: string): readonly number[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(Number) : []
