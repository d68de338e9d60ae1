import type { Clock, MaybePromise } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { messageOf } from '../../util/message-of.ts'

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
  // Deadlines do not keep the process alive.
  const release = keepAlive()
  await withinTime(() => Promise.all(work), { clock, ms: maxEndMs }).catch(() => {})
  release()
}

interface Limits {
  readonly clock: Pick<Clock, 'after'>
  readonly ms: number
  readonly signal?: AbortSignal
}

interface Deadline extends Limits {
  readonly late?: Error
}

/** Rejects if the work fails, is late, or the signal aborts. */
export async function withinTime<Result>(work: () => MaybePromise<Result>, { clock, ms, signal, late: reason }: Deadline): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => reject(reason ?? new Error(`no answer within ${ms / 1_000} s`)))
  const abort = (): void => reject(new Error('it was ended'))
  signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([(async () => work())(), late])
  } finally {
    cancel()
    signal?.removeEventListener('abort', abort)
  }
}

/** Ends early when the signal aborts. */
export async function pause({ clock, ms, signal }: Limits): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal?.aborted) return
  const cancel = clock.after(ms, resolve)
  const abort = (): void => resolve()
  signal?.addEventListener('abort', abort)
  await promise
  cancel()
  signal?.removeEventListener('abort', abort)
}
