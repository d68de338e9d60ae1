import type { Clock } from '../contracts/index.ts'
import { keepAlive } from '../util/keep-alive.ts'
import { messageOf } from '../util/message-of.ts'

/** Runs steps that use the store. A store that fails is reported once; the next step tries again. */
export function guardSteps(report: (reason: string) => void): (step: () => Promise<void>) => Promise<void> {
  let isFailing = false
  return async (step) => {
    try {
      await step()
      isFailing = false
    } catch (error) {
      if (!isFailing) report(messageOf(error))
      isFailing = true
    }
  }
}

const maxEndMs = 5_000

/** Waits for work that ends, but not for work that hangs. */
export async function ended(work: Iterable<Promise<void> | undefined>, clock: Clock): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(maxEndMs, resolve)
  // Deadlines do not keep the process alive.
  const release = keepAlive()
  await Promise.race([Promise.all(work), late])
  release()
  cancel()
}
