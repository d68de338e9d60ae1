import { type SessionService, TroupeError } from '../../contracts/index.ts'
import { HttpError, isFollowed } from '../http/index.ts'

/** How many answers of a session are being sent that delete it. */
const open = new Map<string, number>()

/** For `store: false`: removes the session when its answer ends, however it ends. One that waits for a person is kept. */
export function deletedAfter<Item>(answer: AsyncIterable<Item>, sessionId: string, remove: () => Promise<void>): AsyncGenerator<Item> {
  open.set(sessionId, (open.get(sessionId) ?? 0) + 1)
  return removedAfter(answer, sessionId, remove)
}

async function* removedAfter<Item>(answer: AsyncIterable<Item>, sessionId: string, remove: () => Promise<void>): AsyncGenerator<Item> {
  let isWaiting = false
  try {
    yield* answer
  } catch (error) {
    isWaiting = error instanceof HttpError && error.kind === 'approval_required'
    throw error
  } finally {
    const left = (open.get(sessionId) ?? 1) - 1
    if (left === 0) open.delete(sessionId)
    else open.set(sessionId, left)
    if (!isWaiting) await remove()
  }
}

/** One that waits for its client is kept, as is one whose client may come back, or that another answer reads: it would be gone too soon. */
export async function deleteEnded(sessions: SessionService, sessionId: string): Promise<void> {
  if (open.has(sessionId) || isFollowed(sessionId)) return
  try {
    if ((await sessions.clientCalls(sessionId)).length === 0) await sessions.delete(sessionId)
  } catch (error) {
    // Another answer that ended just now has deleted it.
    if (!(error instanceof TroupeError && error.code === 'session_unknown')) throw error
  }
}
