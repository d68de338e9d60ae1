import type { Clock } from '../../contracts/index.ts'

// When the page opens its stream again.
//
// 1. A stream that delivered something has worked: the next one follows soon. The page of a gateway has not worked.
// 2. Each further failure doubles the pause.
// 3. A person who comes back, or a network that does, does not wait: the page begins again with the shortest pause.

const firstMs = 250
const maxMs = 1_500

/** Failures in a row. */
export const failuresAfter = (before: number, hasWorked: boolean): number => (hasWorked ? 0 : before + 1)

export const pauseAfter = (failures: number): number => Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1))

interface Waiting {
  readonly clock: Pick<Clock, 'after'>
  /** Calls `back` when a person or the network comes back. Returns a function that ends it. */
  onReturn(back: () => void): () => void
}

/** Ends early when somebody comes back: `returned`. An abort ends it, too. */
export function waitForNext(failures: number, { clock, onReturn }: Waiting, signal: AbortSignal): Promise<'elapsed' | 'returned'> {
  return new Promise((resolve) => {
    const end = (how: 'elapsed' | 'returned') => (): void => {
      cancel()
      leave()
      signal.removeEventListener('abort', aborted)
      resolve(how)
    }
    const aborted = end('elapsed')
    const cancel = clock.after(pauseAfter(failures), aborted)
    const leave = onReturn(end('returned'))
    signal.addEventListener('abort', aborted)
  })
}

export const browserWaiting: Waiting = {
  clock: {
    after(ms, fire) {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
  },
  onReturn(back) {
    const leave = new AbortController()
    const { signal } = leave
    addEventListener('online', back, { signal })
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && back(), { signal })
    return () => leave.abort()
  },
}
