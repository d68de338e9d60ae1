import type { ItemId, QueueEvent } from '../../contracts/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import type { WaitTarget } from '../queues/queue-slot.ts'
import type { ActiveSession } from './active-session.ts'

interface QueueWait {
  readonly interrupt: Interrupt
  /** The call that waits. Absent if the session itself waits. */
  readonly itemId?: ItemId | undefined
}

/** Waits like `target.enter`, and shows the wait as live events. Shows nothing if there is no wait. */
export async function waitInQueue(session: ActiveSession, target: WaitTarget, { interrupt, itemId }: QueueWait): Promise<boolean> {
  const { seq: _, at: since, ...place } = session.nextEnvelope()
  const turnId = session.turn.id
  const shown: QueueEvent[] = []
  const isIn = await target.enter(interrupt, (queue) => {
    const joined: QueueEvent = { type: 'interaction.queue.joined', ...place, turnId, ...(itemId && { itemId }), queue, since }
    shown.push(joined)
    session.showQueue(joined)
  })
  const last = shown.at(-1)
  if (last) session.showQueue({ ...last, type: 'interaction.queue.left' })
  return isIn
}

/** The same, until the turn is interrupted or its time is over. Only the last step may use the time reserve. */
export async function waitInQueueForTime(
  session: ActiveSession,
  target: WaitTarget,
  { isLast, itemId }: { readonly isLast: boolean; readonly itemId?: ItemId },
): Promise<'in' | 'interrupted' | 'late'> {
  const { clock } = session
  const left = session.timeLeft()
  const deadline = new Interrupt(session.interrupt)
  const ms = left ? (isLast ? Math.max(0, left.ms) : left.usable) : Number.POSITIVE_INFINITY
  const began = clock.monotonic()
  // A timer may fire a fraction early. The time must be over when the loop checks it.
  const cancelTimer = left && clock.after(Math.ceil(ms) + 1, () => deadline.fire('late'))
  const isIn = await waitInQueue(session, target, { interrupt: deadline, itemId })
  cancelTimer?.()
  deadline.close()
  if (deadline.reason === 'late' || (isIn && clock.monotonic() - began >= ms)) return 'late'
  return isIn ? 'in' : 'interrupted'
}

export const queueTimeout = {
  code: 'queue_late',
  severity: 'warning',
  message: 'The time budget ran out while a request waited in a queue.',
  remedy: 'Raise timeBudget or the limits of the queue.',
} as const
