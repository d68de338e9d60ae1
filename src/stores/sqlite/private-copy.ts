import { accessSync, chmodSync, constants, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'

/*
 * SQLite cannot read a write-ahead log where it may not write beside it, and with `immutable` it would ignore the log and with
 * it the last commits. So database and log are copied to a folder of our own, and the log is recovered there.
 */

const attempts = 20

/** Whether SQLite can use the database in its place. */
export function isWritable(file: string): boolean {
  try {
    for (const path of [join(file, '..'), file]) accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** A copy of a database and its log, in a new folder. Whoever makes it removes it. */
export function privateCopy(file: string): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-read-'))
  const copy = join(folder, 'troupe.db')
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) if (copied(file, copy)) return { file: copy, remove }
    throw new TroupeError('store_failed', `cannot read ${file}: another process keeps changing it`, { remedy: 'try again' })
  } catch (error) {
    remove()
    throw error
  }
}

/** A log that only grew meanwhile is whole up to some commit; where it began anew, or was moved to the database, nothing fits. */
function copied(from: string, to: string): boolean {
  const before = stateOf(from)
  for (const suffix of ['-wal', '']) {
    rmSync(`${to}${suffix}`, { force: true })
    if (!existsSync(`${from}${suffix}`)) continue
    copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
    // The mode is copied as well.
    chmodSync(`${to}${suffix}`, 0o600)
  }
  return stateOf(from) === before
}

/** When the database was written last, and the header of the log, which is another one in each new log. */
function stateOf(file: string): string {
  const { size, mtimeNs } = statSync(file, { bigint: true })
  const header = existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`).subarray(0, 32).toString('hex') : ''
  return `${size} ${mtimeNs} ${header}`
}
