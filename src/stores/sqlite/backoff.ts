import { setTimeout as delay } from 'node:timers/promises'
import { isBusy, storeError } from './failures.ts'

const longestMs = 20

/** How long to leave a busy file alone: ever longer, and uneven, so that processes that met once do not meet again. */
export function backoffMs(attempt: number): number {
  return Math.min(longestMs, 2 ** attempt) * (0.5 + Math.random() / 2)
}

/** Reads almost never meet a lock (another process recovers or closes the file), but then they must not block either. */
export async function whileBusy<Result>(attempt: () => Result, timeoutMs: number): Promise<Result> {
  const since = performance.now()
  for (let count = 0; ; count += 1) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() - since >= timeoutMs) throw storeError(error, 'read the store')
    }
    await delay(backoffMs(count))
  }
}
