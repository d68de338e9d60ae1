import type { ItemId } from '../../contracts/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import type { WaitTarget } from './queue-slot.ts'
import { waitInQueue } from './wait-in-queue.ts'

/** Stands in line until there is room, the turn is interrupted, or the time is over that it has for anything but its last answer. */
export async function waitInQueueForTime(
  session: ActiveSession,
  line: WaitTarget,
  { isLast, itemId }: { readonly isLast: boolean; readonly itemId?: ItemId },
): Promise<'in' | 'interrupted' | 'late'> {
  const { clock } = session
  const left = session.timeLeft()
  const patience = new Interrupt(session.interrupt)
  const ms = left ? (isLast ? Math.max(0, left.ms) : left.usable) : Number.POSITIVE_INFINITY
  const began = clock.monotonic()
  // A timer may be early by a fraction: the time is to be over when the loop looks at it.
  const cancelTimer = left && clock.after(Math.ceil(ms) + 1, () => patience.fire('late'))
  const isIn = await waitInQueue(session, line, { interrupt: patience, itemId })
  cancelTimer?.()
  patience.close()
  if (patience.reason === 'late' || (isIn && clock.monotonic() - began >= ms)) return 'late'
  return isIn ? 'in' : 'interrupted'
}

export const queueTimeout = {
  code: 'queue_late',
  severity: 'warning',
  message: 'The time budget ran out while a request waited in a queue.',
  remedy: 'Raise timeBudget, or what the queue lets through.',
} as const
