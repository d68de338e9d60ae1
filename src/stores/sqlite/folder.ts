import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a private folder with its parents, at an absolute path; when this returns, they outlive a power cut.
 * Node's own recursive form never ends where the system refuses a folder as if its parent were missing, as
 * below /proc.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process was faster; it may not have come to the sync yet.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  syncFolder(parent)
}

/** An entry of a folder (a new or renamed file) is durable only when the folder itself is. */
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

/** SQLite gives its side files the mode of the database, so that one has to exist, private, before it is opened. */
export function makeFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}
