import type { Ids } from '../contracts/index.ts'

/** `id-1`, `id-2`, …: the same run gives the same ids. */
export function sequentialIds(prefix = 'id'): Ids {
  let last = 0
  return {
    next() {
      last += 1
      return `${prefix}-${last}`
    },
  }
}
