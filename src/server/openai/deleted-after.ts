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
