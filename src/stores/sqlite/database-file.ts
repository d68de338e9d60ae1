import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { errorCode } from '../../util/error-code.ts'

/**
 * Creates a private folder with its parents, durably. Node's own recursive form never ends where the system reports a missing
 * parent for a folder that it refuses, as below /proc.
 */
export function createFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) createFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process has created it, and may not have synced yet.
    if (errorCode(error) !== 'EEXIST') throw error
  }
  syncFolder(parent)
}

/** A new or renamed file is durable only after its folder was synced. */
function syncFolder(path: string): void {
  // Windows cannot open a folder, and writes its entries through.
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * SQLite gives its side files the mode of the database, so a private one has to exist before it is opened. One that exists is not
 * touched: to close it would release the locks of another connection of this process.
 */
export function createFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

// SQLite cannot read a write-ahead log in a folder that it cannot write, and `immutable` ignores the log and thus the last
// commits. So database and log are copied to a temporary folder, and the log is recovered there.

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

/** A copy of a database and its log, in a new folder. The caller removes it. */
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

/** A log that only grew during the copy is valid up to some commit. After a checkpoint or a new log the copy is repeated. */
function copied(from: string, to: string): boolean {
  const before = stateOf(from)
  for (const suffix of ['-wal', '']) {
    rmSync(`${to}${suffix}`, { force: true })
    if (!existsSync(`${from}${suffix}`)) continue
    copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
    // The copy has the mode of the original.
    chmodSync(`${to}${suffix}`, 0o600)
  }
  return stateOf(from) === before
}

/** When the database was written last, and the header of the log, which differs in each new log. */
function stateOf(file: string): string {
  const { size, mtimeNs } = statSync(file, { bigint: true })
  const header = existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`).subarray(0, 32).toString('hex') : ''
  return `${size} ${mtimeNs} ${header}`
}
