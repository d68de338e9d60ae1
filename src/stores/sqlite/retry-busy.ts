import { setTimeout as delay } from 'node:timers/promises'
import { isBusy, storeError } from './sqlite-errors.ts'

const maxDelayMs = 20

/** Exponential backoff with jitter, so that processes do not collide again. */
export function backoffMs(attempt: number): number {
  return Math.min(maxDelayMs, 2 ** attempt) * (0.5 + Math.random() / 2)
}

/** Repeats a read while another process recovers or closes the file. It never blocks the process. */
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
