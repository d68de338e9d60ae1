import type { QueueEvent } from '../contracts/index.ts'
import { lastTurn, markChanged, type SessionNodes } from './nodes.ts'

/** A call, or the next model request of a turn, joins or leaves a queue. */
export function applyQueue(session: SessionNodes, { type, itemId, queue, since }: QueueEvent): void {
  const waiting = itemId === undefined ? lastTurn(session) : session.calls.get(itemId)
  if (type === 'interaction.queue.joined') {
    if (waiting) waiting.inQueue = { queue, since }
  } else delete waiting?.inQueue
  markChanged(session, waiting)
}
