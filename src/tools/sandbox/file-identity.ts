// Which file or folder is at a path. A command that is running may replace any part of a path in its workspace by a symbolic
// link at any moment, so a path is opened once without following links, and the open file is asked.
import * as fs from 'node:fs'
import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { errorCode } from '../../util/error-code.ts'
import { readOpenFile } from '../../util/read-bounded.ts'

/** Another file, folder or link is at a path than a moment ago. A second attempt may succeed. */
export class ReplacedError extends Error {
  constructor(path: string) {
    super(`${path} (replaced while the sandbox was built)`)
  }
}

/** O_PATH: opens a file without reading it, so that no permission is needed. Node does not list it. */
const onlyPath = 0o10000000

/** The identity of what is at a path without links; nothing where the path has a link now, or leads nowhere. */
export function identityAt(path: string): string | undefined {
  try {
    if (process.platform !== 'linux') return realpathSync(path) === path ? identityOf(lstatSync(path, { bigint: true })) : undefined
    const opened = openSync(path, onlyPath | constants.O_NOFOLLOW)
    try {
      const stat = fstatSync(opened, { bigint: true })
      return stat.isSymbolicLink() || readlinkSync(`/proc/self/fd/${opened}`) !== path ? undefined : identityOf(stat)
    } finally {
      closeSync(opened)
    }
  } catch {
    return undefined
  }
}

/** Differs for a file that was created later under the same name, and with the same number. */
export const identityOf = ({ dev, ino, birthtimeNs }: Pick<fs.BigIntStats, 'dev' | 'ino' | 'birthtimeNs'>): string =>
  `${dev}:${ino}:${birthtimeNs}`

const largestText = 1024 * 1024

/** The text of a regular file of a usual size. O_NONBLOCK: a named pipe without a writer would block. */
export function textOf(file: string): string | undefined {
  let opened: number | undefined
  try {
    opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = fstatSync(opened)
    if (!stat.isFile() || stat.size > largestText) return undefined
    const bytes = readOpenFile(fs, opened, { maxBytes: largestText, expectedBytes: stat.size })
    return bytes.length > largestText ? undefined : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/** A path that cannot be read is absent. */
export function kindOf(path: string): 'absent' | 'folder' | 'file' | 'link' {
  const stat = statOf(path)
  if (!stat) return 'absent'
  if (stat.isSymbolicLink()) return 'link'
  return stat.isDirectory() ? 'folder' : 'file'
}

/** A folder of this user that cannot be searched. Commands can change its mode, but nothing in it is found before. */
export function isLocked(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return false
  } catch {
    return isOwnFolder(folder)
  }
}

export function isOwnFolder(path: string): boolean {
  const stat = statOf(path)
  return stat?.isDirectory() === true && stat.uid === process.getuid?.()
}

/** A folder on the way cannot be searched. */
export const isDenied = (error: unknown): boolean => errorCode(error) === 'EACCES'

function statOf(path: string): fs.Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
