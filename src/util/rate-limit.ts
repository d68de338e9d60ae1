import type { Clock } from '../contracts/index.ts'

/** Lets through so many events a second; the others are dropped. */
export function rateLimit(perSecond: number, clock: Clock): () => boolean {
  let start = clock.monotonic()
  let count = 0
  return () => {
    const now = clock.monotonic()
    if (now - start >= 1_000) {
      start = now
      count = 0
    }
    return ++count <= perSecond
  }
}
