import type { ActiveSession } from '../session/active-session.ts'
import { queueTimeout, waitInQueueForTime } from '../session/wait-in-queue.ts'

/**
 * Waits until a request that uses a shared budget ends, the turn is cancelled, or its time is over. Holds no reservation and
 * no queue slot meanwhile. The loop decides again afterwards.
 */
export async function defer(session: ActiveSession): Promise<void> {
  session.slots?.leave()
  void session.flush()
  const isLast = session.turn.last !== undefined || session.timeLeft()?.usable === 0
  const entered = await waitInQueueForTime(session, session.ports.tree.budgetQueue(session), { isLast })
  if (entered === 'late')
    session.note({ type: 'interaction.diagnostic', diagnostic: { ...queueTimeout, remedy: 'Raise timeBudget or the shared budget.' } })
}
