import type { Store } from '../../contracts/index.ts'
import type { FileBlobs } from './file-blobs.ts'
import { whileBusy } from './retry-busy.ts'
import { isBusy, storeError } from './sqlite-errors.ts'
import type { StoreParts } from './sqlite-journal.ts'
import type { SqliteSettings } from './sqlite-options.ts'
import { restart } from './store-files.ts'

/** A lock that is held longer is reported. */
const patienceMs = 1_000

export function storeCheck(
  { connection, queue }: StoreParts,
  blobs: FileBlobs,
  { surroundings }: SqliteSettings,
): NonNullable<Store['check']> {
  async function tryWrite(): Promise<void> {
    const value = surroundings.now()
    await whileBusy(() => connection.transaction(({ records }) => records.put('store-check', { key: 'last', value })), patienceMs)
    await blobs.tryWrite()
  }
  const explained = (error: unknown): readonly string[] => {
    // Without the path: everybody may see it.
    const { message, remedy } = storeError(error, 'write to the store', isBusy(error) ? connection.lockHolder() : undefined)
    return [`${message} ${remedy}`]
  }
  return async ({ writes = false } = {}) => {
    try {
      const problem = connection.files.findProblem()
      if (problem !== undefined) return [`${problem} ${restart}`]
      // Reported once, although the next write may succeed: what failed has to be continued.
      const failed = queue.takeFailure()
      if (failed !== undefined) return explained(failed)
      if (writes || queue.waitedMs > patienceMs) await tryWrite()
      return []
    } catch (error) {
      return explained((error as Error).cause ?? error)
    }
  }
}
