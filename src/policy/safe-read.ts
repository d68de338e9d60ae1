/*
 * Reads a file in one look. Who asks where a path leads, and opens it afterwards, looks twice: a command may put a link there in
 * between. So what was opened is asked where it is, and only that is read.
 */

import { isInside } from '../util/is-inside.ts'
import { type ReadSync, readOpenFile } from '../util/read-open.ts'
import { secretNames } from './protected-paths.ts'

/** What is needed of `node:fs`, given by whoever may use it. */
export interface SafeReadFileSystem extends ReadSync {
  readonly constants: { readonly [Flag in 'O_RDONLY' | 'O_NOFOLLOW' | 'O_NONBLOCK' | 'O_NOCTTY']: number }
  realpathSync(path: string): string
  readlinkSync(path: string): string
  openSync(path: string, flags: number): number
  closeSync(file: number): void
  fstatSync(file: number, options: { readonly bigint: true }): FileFacts
  statSync(path: string, options: { readonly bigint: true }): Identity
}

interface Identity {
  readonly dev: bigint
  readonly ino: bigint
}

interface FileFacts extends Identity {
  readonly size: bigint
  isFile(): boolean
  isDirectory(): boolean
}

export interface SafeReadBounds {
  /** A real path: nothing outside of it is read. Absent where the file may be anywhere. */
  readonly root?: string | undefined
  /** Real paths of files and folders that nobody sees. Those with keys are never read. */
  readonly hidden?: readonly string[] | undefined
  /** Bytes from its beginning. */
  readonly maxBytes: number
}

/** The beginning of a file, or why there is none, in words. */
export type SafeReadResult =
  /** `bytes` are at most what was asked for, `size` is that of the whole, `real` is where it was when it was open. */
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly size: number; readonly real: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'withheld'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }

export function safeRead(files: SafeReadFileSystem, path: string, bounds: SafeReadBounds): SafeReadResult {
  let file: number | undefined
  try {
    const expected = files.realpathSync(path)
    // To open a device may do something already: what is not wanted is not opened where that is known.
    const unwanted = refusalOf(expected, bounds) ?? (isKeyFile(path) ? keyFileWithheld : undefined)
    if (unwanted) return unwanted
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = files.constants
    file = openWithoutLinks(files, expected, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    const real = file === undefined ? undefined : realPathOf(files, file, { path, expected })
    return file === undefined || real === undefined
      ? replacedMeanwhile
      : (refusalOf(real, bounds) ?? readStart(files, file, { real, maxBytes: bounds.maxBytes }))
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    return { kind: 'refused', why: code === 'ELOOP' ? 'its links lead in a circle' : `it cannot be read (${code ?? message})` }
  } finally {
    if (file !== undefined) files.closeSync(file)
  }
}

const replacedMeanwhile: SafeReadResult = { kind: 'refused', why: 'it was exchanged while it was looked at' }

const keyFileWithheld: SafeReadResult = { kind: 'withheld', why: 'it holds keys, which no tool reads' }
const isKeyFile = (path: string): boolean => secretNames.includes(path.slice(path.lastIndexOf('/') + 1).toLowerCase())

function refusalOf(real: string, { root, hidden = [] }: SafeReadBounds): SafeReadResult | undefined {
  if (root !== undefined && !isInside(root, real)) return { kind: 'outside' }
  if (isKeyFile(real)) return keyFileWithheld
  const path = real.toLowerCase()
  if (!hidden.some((folder) => isInside(folder.toLowerCase(), path))) return undefined
  return { kind: 'withheld', why: 'it lies where this program keeps what nobody sees' }
}

/** Nothing where a link stands there now: a real path has none. */
function openWithoutLinks(files: SafeReadFileSystem, path: string, flags: number): number | undefined {
  try {
    return files.openSync(path, flags)
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ELOOP') return undefined
    throw error
  }
}

/** How Linux marks the path of what has none any more. */
const isGone = / \(deleted\)$/

/** Where an open file really is; nothing where that cannot be told. */
function realPathOf(files: SafeReadFileSystem, file: number, { path, expected }: { path: string; expected: string }): string | undefined {
  let real: string
  try {
    real = files.readlinkSync(`/proc/self/fd/${file}`)
  } catch {
    return compareIdentity(files, file, { path, expected })
  }
  return isGone.test(real) ? undefined : real
}

/** Without `/proc`, as on macOS: what the path leads to before and after has to be the same, and what is open. */
function compareIdentity(
  files: SafeReadFileSystem,
  file: number,
  { path, expected }: { path: string; expected: string },
): string | undefined {
  const [opened, there] = [files.fstatSync(file, { bigint: true }), files.statSync(expected, { bigint: true })]
  const isSame = opened.dev === there.dev && opened.ino === there.ino && files.realpathSync(path) === expected
  return isSame ? expected : undefined
}

/** A device or a pipe may never end. */
function readStart(files: SafeReadFileSystem, file: number, { real, maxBytes }: { real: string; maxBytes: number }): SafeReadResult {
  const found = files.fstatSync(file, { bigint: true })
  if (!found.isFile()) return { kind: 'refused', why: found.isDirectory() ? 'it is a folder' : 'it is not a regular file' }
  const bytes = readOpenFile(files, file, { maxBytes, expectedBytes: Number(found.size) })
  return { kind: 'read', bytes: bytes.subarray(0, maxBytes), size: Math.max(Number(found.size), bytes.length), real }
}
