import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Why a file cannot be read. `refused` has the code of the system. */
export type Unreadable =
  | { readonly kind: 'missing' }
  | { readonly kind: 'folder' }
  /** A device or a pipe, which may never end. */
  | { readonly kind: 'special' }
  | { readonly kind: 'refused'; readonly code: string; readonly cause: unknown }

type FileRead = { readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly why: Unreadable }

/** More than any file that we read may have: whoever parses it tells its own limit. */
const enough = 4 * 1024 * 1024

/** A pipe without a writer would keep us waiting already when it is opened. Windows has no such flag, and no such pipes. */
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Reads a regular file, of a huge one as much as shows that it is too large. */
export function readRegularFile(path: string): FileRead {
  let file: number | undefined
  try {
    file = openSync(path, openFlags)
    const found = fstatSync(file)
    if (found.isDirectory()) return { ok: false, why: { kind: 'folder' } }
    if (!found.isFile()) return { ok: false, why: { kind: 'special' } }
    return { ok: true, bytes: readUpTo(file, Math.min(found.size, enough)) }
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    return { ok: false, why: code === 'ENOENT' ? { kind: 'missing' } : { kind: 'refused', code, cause } }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readUpTo(file: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let filled = 0
  while (filled < size) {
    const count = readSync(file, bytes, filled, size - filled, filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** In words, behind the path. */
export function unreadableText(why: Unreadable): string {
  switch (why.kind) {
    case 'missing':
      return 'There is no such file.'
    case 'folder':
      return 'It is a folder.'
    case 'special':
      return 'It is not a regular file.'
    case 'refused':
      return `It cannot be read (${why.code}).`
    default:
      return why satisfies never
  }
}
