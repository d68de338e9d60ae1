import type { ActiveSession } from '../session/active-session.ts'

const tooLate = {
  code: 'children_late',
  severity: 'warning',
  message: 'The time budget ran out while spawned children worked. They are closed.',
  remedy: 'Raise timeBudget, or give them smaller tasks.',
} as const

/** Waits until a spawned child has ended, the turn is cancelled or steered, or its time is over. Holds no queue slot meanwhile. */
export async function rest(session: ActiveSession): Promise<void> {
  session.slots?.leave()
  await session.flush()
  if (session.decide().kind !== 'rest') return
  const left = session.timeLeft()
  let isLate = false
  // A timer may fire a fraction early. The time must be over when the loop checks it.
  const cancelTimer =
    left?.usable !== undefined &&
    session.clock.after(Math.ceil(left.usable) + 1, () => {
      isLate = true
      session.wake()
    })
  await session.ports.tree.rest(session)
  if (cancelTimer) cancelTimer()
  if (isLate && !session.isReleased) session.note({ type: 'interaction.diagnostic', diagnostic: tooLate })
}
