import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../../util/message-of.ts'

/** The beginning of a file, or why there is none, in words. */
export type RegularFile =
  /** `bytes` are at most what was asked for, `size` is that of the whole. */
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly size: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string }

/** Looks at what was opened, not at what stood there before: a device or a pipe may never end. */
export function readRegularFile(path: string, most: number): RegularFile {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'missing' } : unreadable(error)
  }
  try {
    const found = fstatSync(file)
    if (!found.isFile()) return { kind: 'refused', why: found.isDirectory() ? 'it is a folder' : 'it is not a regular file' }
    return { kind: 'read', bytes: beginning(file, Math.min(most, found.size)), size: found.size }
  } catch (error) {
    return unreadable(error)
  } finally {
    closeSync(file)
  }
}

function beginning(file: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, filled)
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
}

const unreadable = (error: unknown): RegularFile => {
  const { code } = error as NodeJS.ErrnoException
  return { kind: 'refused', why: code === 'ELOOP' ? 'its links lead in a circle' : `it cannot be read (${code ?? messageOf(error)})` }
}
