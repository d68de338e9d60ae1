import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readBounded } from '../../../util/read-bounded.ts'
import { withLock } from './file-lock.ts'
import { makeFolders } from './make-folders.ts'

/** The file access of the configuration. Paths are absolute. */
export interface ConfigFileSystem {
  /** `undefined` if the file does not exist. Rejects if it cannot be read. */
  read(path: string): Promise<string | Uint8Array | undefined>
  /**
   * Replaces the content `before` (`undefined`: no file) by `text`, atomically. Returns false if the file has other content
   * by now: of two writers that start from the same content, at most one succeeds.
   */
  replace(path: string, before: string | undefined, text: string): Promise<boolean>
}

const maxBytes = 4 * 1024 * 1024

/** Only the owner can read what it writes. */
export const nodeConfigFileSystem: ConfigFileSystem = { read, replace }

async function read(path: string): Promise<Uint8Array | undefined> {
  const found = readBounded(fs, path, maxBytes)
  if (found.kind === 'read') return found.bytes
  if (found.kind === 'missing') return undefined
  throw 'why' in found ? new Error(found.why) : found.error
}

/** Compares and replaces under a lock. Writes to a temporary file first, so that readers see the old file or the new one. */
async function replace(path: string, before: string | undefined, text: string): Promise<boolean> {
  await makeFolders(dirname(path), { mode: 0o700 })
  return withLock(path, async () => {
    const there = await read(path)
    if ((there === undefined ? undefined : new TextDecoder('utf-8', { ignoreBOM: true }).decode(there)) !== before) return false
    await writeAtomically(path, text)
    return true
  })
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text, 'utf8')
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}
