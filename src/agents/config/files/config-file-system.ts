import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readBounded } from '../../../util/read-bounded.ts'
import { withLock } from './file-lock.ts'
import { makeFolders } from './make-folders.ts'

/** What the configuration needs of a disk. Paths are absolute. */
export interface ConfigFiles {
  /** What stands in a file; `undefined` where there is none. Rejects where there is one that cannot be read. */
  read(path: string): Promise<string | Uint8Array | undefined>
  /**
   * Puts `text` in the place of `before` (`undefined`: there is no file yet), as a whole or not at all. False where
   * something else stands there by now: of two that start from the same text, one at the most is told that it was written.
   */
  replace(path: string, before: string | undefined, text: string): Promise<boolean>
}

const largest = 4 * 1024 * 1024

/** The disk. What is written can be read by its owner alone. */
export const nodeConfigFiles: ConfigFiles = { read, replace }

async function read(path: string): Promise<Uint8Array | undefined> {
  const found = readBounded(fs, path, largest)
  switch (found.kind) {
    case 'read':
      return found.bytes
    case 'missing':
      return undefined
    case 'folder':
    case 'no file':
      throw new Error('it is not a file')
    case 'too large':
      throw new Error(found.why)
    case 'unreadable':
      throw found.error
    default:
      return found satisfies never
  }
}

/**
 * Compared and put in place while no other process does so: of two that start from the same text one is told that it has
 * changed. Written aside and forced to the disk before: whoever reads sees the old file or the new one.
 */
async function replace(path: string, before: string | undefined, text: string): Promise<boolean> {
  await makeFolders(dirname(path), { mode: 0o700 })
  return withLock(path, async () => {
    const there = await read(path)
    if ((there === undefined ? undefined : new TextDecoder('utf-8', { ignoreBOM: true }).decode(there)) !== before) return false
    await put(path, text)
    return true
  })
}

async function put(path: string, text: string): Promise<void> {
  const aside = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(aside, 'wx', 0o600)
    try {
      await file.writeFile(text, 'utf8')
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(aside, path)
  } finally {
    await rm(aside, { force: true })
  }
}
