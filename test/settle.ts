import { setImmediate as macrotask } from 'node:timers/promises'
import type { FakeClock } from '../src/testing/index.ts'

// A fake clock must not run on while something is being loaded for the first time.
await Promise.all([
  import('../src/tools/schema/compile-schema.ts'),
  import('../src/steps/loop/lazy-steps.ts'),
  import('../src/steps/model/lazy-additions.ts'),
])

/** Turns the clock whenever nothing else can happen, until the promise is settled. For runs on a memory store. */
export async function settle<T>(work: Promise<T>, clock: FakeClock, stepMs = 1_000): Promise<T> {
  let done = false
  const watched = work.finally(() => {
    done = true
  })
  watched.catch(() => {})
  // On a busy machine a file that is loaded for the first time takes many turns.
  const patience = performance.now() + 30_000
  for (let turns = 0; !done; turns++) {
    await macrotask()
    await macrotask()
    if (done) break
    if (turns > 10_000 && performance.now() > patience) throw new Error(`nothing happens any more; ${clock.pending} timers are set`)
    clock.advance(stepMs)
  }
  return watched
}
