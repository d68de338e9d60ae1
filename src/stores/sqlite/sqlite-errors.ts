import { TroupeError } from '../../contracts/index.ts'
import type { LockHolder } from './lock-holder.ts'

/** Primary result codes of SQLite. */
const codes = {
  busy: 5,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  protocol: 15,
  notDatabase: 26,
} as const

const held = 'Another process holds the database. Wait for it or end it, then try again.'
const full = 'Free some space on the disk, then try again.'
const failing = 'Check that the disk of the data folder has space and works, then try again.'
const forbidden = 'Make the data folder and its files writable, then try again.'

const remedies: { readonly [code: number | string]: string } = {
  [codes.busy]: held,
  [codes.protocol]: held,
  [codes.readOnly]: forbidden,
  [codes.cantOpen]: forbidden,
  [codes.full]: full,
  [codes.ioError]: failing,
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: failing,
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: forbidden,
}

/** Another process holds a lock. Nothing was done; a retry may work. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === codes.busy || code === codes.protocol
}

/** The file is not a database, or is damaged. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === codes.notDatabase || code === codes.corrupt
}

/** Whether every other operation on the database would have failed as well. */
export function isMediumFailure(error: unknown): boolean {
  if (error instanceof TroupeError) return error.code === 'store_failed'
  const code = sqliteCode(error)
  return code === codes.full || code === codes.ioError || code === codes.readOnly || code === codes.cantOpen || code === codes.noMemory
}

export function storeError(error: unknown, action: string, holder?: LockHolder): TroupeError {
  if (error instanceof TroupeError) return error
  const code = sqliteCode(error)
  const message = error instanceof Error ? error.message : String(error)
  if (isDamage(error)) return damaged(`Cannot ${action}: ${message}.`, error)
  const remedy = remedies[code ?? systemCode(error)] ?? 'Check the folder and its disk, then try again.'
  if (holder)
    return new TroupeError('store_failed', `Cannot ${action}: ${holder.name} holds its lock.`, { remedy: holder.remedy, cause: error })
  return new TroupeError('store_failed', `Cannot ${action}: ${message}.`, { remedy, cause: error })
}

/** The data exists, but this store did not write it like that. */
export function damaged(message: string, cause?: unknown): TroupeError {
  return new TroupeError('store_invalid', message, { remedy: 'Restore the data folder from a backup, or use another folder.', cause })
}

/** The low byte of an extended code is the primary code. */
function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
