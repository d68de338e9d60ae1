import type { Clock, MaybePromise } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { pause, withinTime } from '../shared/background-work.ts'

/** For one call of a channel. */
export const deadlineMs = 10_000
const firstDelayMs = 1_000
const mostDelayMs = 60_000
/** About five minutes. */
const reportedAttempt = 10
/** About an hour. A message that the channel never takes must not hold up those behind it. Temporary failures do not count. */
const mostAttempts = 60

interface Delivery {
  readonly clock: Clock
  /** Aborted when the channel is removed. */
  readonly signal: AbortSignal
  report(message: string): void
}

/** `true`: delivered. `false`: given up. `undefined`: the channel was removed first. A call that was late may have worked: messages have ids. */
export async function deliverToChannel(send: () => MaybePromise<void>, { clock, signal, report }: Delivery): Promise<boolean | undefined> {
  for (let [attempt, failures] = [1, 0]; !signal.aborted; attempt++) {
    try {
      await withinTime(send, { clock, signal, ms: deadlineMs })
      return true
    } catch (error) {
      if (signal.aborted) return undefined
      if (!isTemporary(error)) failures++
      if (failures === mostAttempts) {
        report(`A message was given up after ${attempt} attempts: ${messageOf(error)}`)
        return false
      }
      if (attempt === reportedAttempt) report(`A message cannot be delivered, and is tried again: ${messageOf(error)}`)
      await pause({ clock, signal, ms: Math.min(mostDelayMs, firstDelayMs * 2 ** (attempt - 1)) })
    }
  }
  return undefined
}

/** See `sendToUser` of `ChannelProvider`. */
const isTemporary = (error: unknown): boolean => error instanceof Error && 'isTemporary' in error && error.isTemporary === true
