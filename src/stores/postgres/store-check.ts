import { type Store, TroupeError } from '../../contracts/index.ts'
import type { AppendQueue } from './append-queue.ts'
import type { Database } from './database.ts'

export function storeCheck(database: Database, queue: AppendQueue): NonNullable<Store['check']> {
  const explained = (error: unknown): readonly string[] => {
    const { message, remedy } = error instanceof TroupeError ? error : new TroupeError('store_failed', String(error))
    return [remedy === undefined ? message : `${message} ${remedy}`]
  }
  return async ({ writes = false } = {}) => {
    try {
      // Reported once, although the next write may succeed: what failed has to be continued.
      const failed = queue.takeFailure()
      if (failed !== undefined) return explained(failed)
      await database.once(writes ? tryWrite : 'SELECT version FROM troupe.meta')
      return []
    } catch (error) {
      return explained(error)
    }
  }
}

const tryWrite = `INSERT INTO troupe.records (namespace, key, json) VALUES ('store-check', 'last', extract(epoch FROM clock_timestamp())::text)
  ON CONFLICT (namespace, key) DO UPDATE SET json = excluded.json`
