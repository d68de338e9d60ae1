import type { Clock, MaybePromise } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'

/** For one call of a channel. */
const deadlineMs = 10_000
const firstDelayMs = 1_000
const mostDelayMs = 60_000
/** About five minutes. */
const reportedAttempt = 10
/** About an hour. A message that the channel never takes must not hold up those behind it. */
const mostAttempts = 60

interface Delivery {
  readonly clock: Clock
  /** Aborted when the channel is removed. */
  readonly signal: AbortSignal
  report(message: string): void
}

/** `true`: delivered. `false`: given up. `undefined`: the channel was removed first. A call that was late may have worked: messages have ids. */
export async function deliver(send: () => MaybePromise<void>, { clock, signal, report }: Delivery): Promise<boolean | undefined> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await withDeadline(send, { clock, signal })
      return true
    } catch (error) {
      if (signal.aborted) return undefined
      if (attempt === mostAttempts) {
        report(`A message was given up after ${attempt} attempts: ${messageOf(error)}`)
        return false
      }
      if (attempt === reportedAttempt) report(`A message cannot be delivered, and is tried again: ${messageOf(error)}`)
      await pause(Math.min(mostDelayMs, firstDelayMs * 2 ** (attempt - 1)), { clock, signal })
    }
  }
  return undefined
}

type Waiting = Pick<Delivery, 'clock' | 'signal'>

/** Rejects if the work fails, is late, or the signal aborts. */
export async function withDeadline(work: () => MaybePromise<void>, { clock, signal }: Waiting): Promise<void> {
  const ended = Promise.withResolvers<void>()
  const cancel = clock.after(deadlineMs, () => ended.reject(new Error(`the channel did not answer within ${deadlineMs / 1_000} s`)))
  const leave = (): void => ended.reject(new Error('the channel was removed'))
  signal.addEventListener('abort', leave)
  try {
    await Promise.race([(async () => work())(), ended.promise])
  } finally {
    cancel()
    signal.removeEventListener('abort', leave)
  }
}

/** Ends early when the signal aborts. */
export async function pause(ms: number, { clock, signal }: Waiting): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (!signal.aborted) await promise
  cancel()
}
