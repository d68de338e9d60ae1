import type { Clock } from '../contracts/index.ts'
import { Interrupt, unlessInterrupted } from './interrupt.ts'

/** How long code of users may take to answer, unless a limit says otherwise. */
export const maxAnswerMs = 60_000

interface Deadline {
  readonly clock: Pick<Clock, 'after'>
  readonly ms: number
  readonly interrupt?: Interrupt | undefined
  /** The message after `ms`. */
  readonly late?: string
}

/** Awaits code of users. Rejects with `Interrupted` when the interrupt fires, and after `ms`: then the reason is `timeout`. */
export async function withDeadline<T>(answer: PromiseLike<T>, { clock, ms, interrupt, late }: Deadline): Promise<T> {
  const deadline = new Interrupt(interrupt)
  const cancel = clock.after(ms, () => deadline.fire('timeout'))
  try {
    return await unlessInterrupted(deadline, Promise.resolve(answer))
  } catch (error) {
    throw late !== undefined && deadline.reason === 'timeout' ? new Error(late) : error
  } finally {
    cancel()
    deadline.close()
  }
}
