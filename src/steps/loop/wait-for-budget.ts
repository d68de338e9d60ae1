import { queueTimeout, waitInQueueForTime } from '../queues/enter-in-time.ts'
import type { ActiveSession } from './active-session.ts'

/**
 * Waits until a request that holds some of a shared budget has ended, the turn is cancelled, or its time is over. Nothing is
 * held meanwhile, neither a reservation nor a slot of a queue. The loop decides again afterwards.
 */
export async function defer(session: ActiveSession): Promise<void> {
  session.slots?.leave()
  // What has happened so far is not to be lost meanwhile.
  void session.flush()
  const isLast = session.turn.last !== undefined || session.timeLeft()?.usable === 0
  const entered = await waitInQueueForTime(session, session.ports.tree.budgetQueue(session), { isLast })
  if (entered === 'late') session.note({ type: 'interaction.diagnostic', diagnostic: { ...queueTimeout, remedy } })
}

const remedy = 'Raise timeBudget, or the budget that the requests share.'
