import { type Store, TroupeError } from '../../contracts/index.ts'
import type { StorePlace } from './store-place.ts'

/** Reports an unusable data folder as a configuration error, but not a full disk. */
export async function openPlace({ folder, database }: StorePlace): Promise<Store> {
  const { openStore } = await import('../../stores/index.ts')
  if (database) return openStore(database.url, database)
  try {
    return await openStore(`sqlite:${folder}`)
  } catch (error) {
    if (!(error instanceof TroupeError) || isOutOfSpace(error.cause)) throw error
    throw new TroupeError('config_invalid', error.message, { remedy: error.remedy ?? 'Use another folder with --data-dir.', cause: error })
  }
}

/** Does something with the store of a place, which is created if it is missing. */
export async function withStore<Result>(place: StorePlace, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openPlace(place)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** By the error code of the system, or of SQLite: `SQLITE_IOERR` or `SQLITE_FULL`. */
function isOutOfSpace(cause: unknown): boolean {
  const { code, errcode } = (cause ?? {}) as { readonly code?: unknown; readonly errcode?: unknown }
  if (typeof errcode === 'number') return [10, 13].includes(errcode & 0xff)
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(code))
}
