import { TroupeError } from '../../contracts/index.ts'

export function closedError(): TroupeError {
  return new TroupeError('store_failed', 'the store was closed', { remedy: 'open a new store, and close it after its last user' })
}
