import { timeReserve } from '../core/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import type { ActiveSession } from './active-session.ts'
import type { Hold } from './queues.ts'

/** Stands in line until there is room, the turn is interrupted, or the time is over that it has for anything but its last answer. */
export async function enterInTime(
  session: ActiveSession,
  hold: Hold,
  { isLast }: { readonly isLast: boolean },
): Promise<'in' | 'interrupted' | 'late'> {
  const { timeLeft, clock } = session
  const patience = new Interrupt(session.interrupt)
  // A timer may be early by a fraction: the time is to be over when it is looked at.
  const ms = timeLeft === undefined ? undefined : Math.max(0, Math.ceil(timeLeft - (isLast ? 0 : timeReserve(session.state))) + 1)
  const cancelTimer = ms === undefined ? undefined : clock.after(ms, () => patience.fire('late'))
  const isIn = await hold.enter(patience)
  cancelTimer?.()
  patience.close()
  return isIn ? 'in' : patience.reason === 'late' ? 'late' : 'interrupted'
}
