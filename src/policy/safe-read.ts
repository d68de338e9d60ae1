// Reads a file without a race. Between resolving a path and opening it, a command may replace the file by a link. So the path of the
// open file is checked, and only the open file is read.

import { errorCode } from '../util/error-code.ts'
import { isInside } from '../util/is-inside.ts'
import { type ReadSync, readOpenFile } from '../util/read-bounded.ts'
import { secretNames } from './protected-paths.ts'

/** The used parts of `node:fs`: this folder does not import it. */
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
  /** A real path: nothing outside of it is read. Default: the file may be anywhere. */
  readonly root?: string | undefined
  /** Real paths of private files and folders. Key files are never read. */
  readonly hidden?: readonly string[] | undefined
  readonly maxBytes: number
}

/** The start of a file, or why it was not read. */
export type SafeReadResult =
  /** `size` is that of the whole file, `real` the path of the open file. */
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly size: number; readonly real: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'withheld'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }

export function safeRead(files: SafeReadFileSystem, path: string, bounds: SafeReadBounds): SafeReadResult {
  let file: number | undefined
  try {
    const expected = files.realpathSync(path)
    // Opening a device may have effects: refused paths are not opened.
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
    return { kind: 'refused', why: code === 'ELOOP' ? 'its symbolic links form a cycle' : `it cannot be read (${code ?? message})` }
  } finally {
    if (file !== undefined) files.closeSync(file)
  }
}

const replacedMeanwhile: SafeReadResult = { kind: 'refused', why: 'it was replaced while it was read' }

const keyFileWithheld: SafeReadResult = { kind: 'withheld', why: 'it contains keys, which no tool may read' }
const isKeyFile = (path: string): boolean => secretNames.includes(path.slice(path.lastIndexOf('/') + 1).toLowerCase())

function refusalOf(real: string, { root, hidden = [] }: SafeReadBounds): SafeReadResult | undefined {
  if (root !== undefined && !isInside(root, real)) return { kind: 'outside' }
  if (isKeyFile(real)) return keyFileWithheld
  const path = real.toLowerCase()
  if (!hidden.some((folder) => isInside(folder.toLowerCase(), path))) return undefined
  return { kind: 'withheld', why: 'it is in a private folder of this program' }
}

/** `undefined` if the path is a link now: a real path has none. */
function openWithoutLinks(files: SafeReadFileSystem, path: string, flags: number): number | undefined {
  try {
    return files.openSync(path, flags)
  } catch (error) {
    if (errorCode(error) === 'ELOOP') return undefined
    throw error
  }
}

/** How Linux marks the path of a deleted file. */
const isGone = / \(deleted\)$/

/** The path of an open file; `undefined` if it is unknown. */
function realPathOf(files: SafeReadFileSystem, file: number, { path, expected }: { path: string; expected: string }): string | undefined {
  let real: string
  try {
    real = files.readlinkSync(`/proc/self/fd/${file}`)
  } catch {
    return compareIdentity(files, file, { path, expected })
  }
  return isGone.test(real) ? undefined : real
}

/** Without `/proc`, as on macOS: the path must lead to the open file, before and after. */
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
