import * as fs from 'node:fs'
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readOpenFile } from '../../util/read-open.ts'
import { inItsFolder } from './in-its-folder.ts'

/** More than that is nobody's. */
const largestSettings = 1024 * 1024

/** A pipe that nobody writes to would be waited for. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * What a file says that a command may put another in the place of at any moment; nothing where it is no file of a usual size, or says
 * what is no text. What was looked at is what is read: a link is never followed, neither as the file nor in the way to it.
 */
export function textOf(file: string): string | undefined {
  try {
    return inItsFolder(file, ({ at }) => textAt(at))
  } catch {
    return undefined
  }
}

function textAt(at: string): string | undefined {
  const opened = openSync(at, flags)
  try {
    const stat = fstatSync(opened)
    if (!stat.isFile() || stat.size > largestSettings) return undefined
    const bytes = readOpenFile(fs, opened, { maxBytes: largestSettings, expectedBytes: stat.size })
    if (bytes.length > largestSettings) return undefined
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } finally {
    closeSync(opened)
  }
}
