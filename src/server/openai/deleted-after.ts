import type { SessionService } from '../../contracts/index.ts'
import { HttpError } from '../http/index.ts'

/** For `store: false`: removes the session when its answer ends, however it ends. One that waits for a person is kept. */
export async function* deletedAfter<Item>(answer: AsyncIterable<Item>, remove: () => Promise<void>): AsyncGenerator<Item> {
  let isWaiting = false
  try {
    yield* answer
  } catch (error) {
    isWaiting = error instanceof HttpError && error.kind === 'approval_required'
    throw error
  } finally {
    if (!isWaiting) await remove()
  }
}

/** One that waits for its client is kept: it would be gone before the results come. */
export async function deleteEnded(sessions: SessionService, sessionId: string): Promise<void> {
  const calls = (await sessions.get(sessionId)) ? await sessions.clientCalls(sessionId) : []
  if (calls.length === 0) await sessions.delete(sessionId)
}
