import { type Store, TroupeError } from '../../contracts/index.ts'

/** Reports an unusable data folder as a configuration error, but not a full disk. */
export async function openDataFolder(path: string): Promise<Store> {
  const { openStore } = await import('../../stores/index.ts')
  try {
    return await openStore(`sqlite:${path}`)
  } catch (error) {
    if (!(error instanceof TroupeError) || isOutOfSpace(error.cause)) throw error
    throw new TroupeError('config_invalid', error.message, { remedy: error.remedy ?? 'Use another folder with --data-dir.', cause: error })
  }
}

/** Does something with the store of a data folder, which is created if it is missing. */
export async function withDataFolder<Result>(path: string, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openDataFolder(path)
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
