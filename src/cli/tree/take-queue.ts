import type { QueueEvent } from '../../contracts/index.ts'
import { lastTurn, type SessionNodes } from './nodes.ts'

/** Takes in who stands in line for a queue: a call, or an agent that is about to ask its model. */
export function takeQueue(session: SessionNodes, { type, itemId, queue, since }: QueueEvent): void {
  const waiting = itemId === undefined ? lastTurn(session) : session.calls.get(itemId)
  if (type === 'interaction.queue.joined') {
    if (waiting) waiting.inLine = { queue, since }
  } else delete waiting?.inLine
}
