import type { ItemId, QueueEvent } from '../../contracts/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import type { WaitTarget } from './queue-slot.ts'

interface QueueWait {
  readonly interrupt: Interrupt
  /** The call that waits; nothing where the session itself does. */
  readonly itemId?: ItemId | undefined
}

/** Waits in line like `enter`, and shows that somebody does. Whoever need not wait is not shown. */
export async function waitInQueue(session: ActiveSession, line: WaitTarget, { interrupt, itemId }: QueueWait): Promise<boolean> {
  const { seq: _, at: since, ...place } = session.nextEnvelope()
  const turnId = session.turn.id
  const shown: QueueEvent[] = []
  const isIn = await line.enter(interrupt, (queue) => {
    const joined: QueueEvent = { type: 'interaction.queue.joined', ...place, turnId, ...(itemId && { itemId }), queue, since }
    shown.push(joined)
    session.showQueue(joined)
  })
  const last = shown.at(-1)
  if (last) session.showQueue({ ...last, type: 'interaction.queue.left' })
  return isIn
}
