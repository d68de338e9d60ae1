/** The used part of `node:fs`: this folder does not import it. */
export interface FileSystem extends ReadSync {
  readonly constants: { readonly O_RDONLY: number; readonly O_NONBLOCK?: number; readonly O_NOCTTY?: number }
  statSync(path: string): FileFacts
  openSync(path: string, flags: number): number
  fstatSync(file: number): FileFacts
  closeSync(file: number): void
}

export interface FileFacts {
  readonly size: number
  isFile(): boolean
  isDirectory(): boolean
}

/** A whole file, or why it was not read. */
type BoundedFile =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'folder' | 'no file' | 'too large'; readonly why: string }
  | { readonly kind: 'missing' | 'unreadable'; readonly error: unknown }

/** Reads an untrusted file: at most about `maxBytes` bytes, whatever size it reports, and never blocks on a pipe or device. */
export function readBounded(fs: FileSystem, path: string, maxBytes: number): BoundedFile {
  try {
    // Opening a device may have effects.
    const before = refusalOf(fs.statSync(path), maxBytes)
    return before ?? readOpened(fs, path, maxBytes)
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    return { kind: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable', error }
  }
}

function readOpened(fs: FileSystem, path: string, maxBytes: number): BoundedFile {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0 } = fs.constants
  const file = fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
  try {
    // The file may have been replaced.
    const facts = fs.fstatSync(file)
    const refusal = refusalOf(facts, maxBytes)
    if (refusal) return refusal
    const bytes = readOpenFile(fs, file, { maxBytes, expectedBytes: facts.size })
    return bytes.length > maxBytes
      ? { kind: 'too large', why: `it has more than ${maxBytes} bytes, which is the maximum` }
      : { kind: 'read', bytes }
  } finally {
    fs.closeSync(file)
  }
}

function refusalOf(facts: FileFacts, maxBytes: number): BoundedFile | undefined {
  if (facts.isDirectory()) return { kind: 'folder', why: 'it is a folder' }
  if (!facts.isFile()) return { kind: 'no file', why: 'it is not a regular file' }
  return facts.size > maxBytes ? { kind: 'too large', why: `it has ${facts.size} bytes; the maximum is ${maxBytes}` } : undefined
}

/** The used part of `node:fs`: this folder does not import it. */
export interface ReadSync {
  readSync(file: number, bytes: Uint8Array, offset: number, length: number, position: null): number
}

/** Some system files can only be read in whole pages. */
const page = 4_096
const wholePages = (length: number): number => Math.ceil(length / page) * page

/** Reads at most one page beyond `maxBytes`. Virtual files report size 0 and may be endless: `expectedBytes` is only a hint. */
export function readOpenFile(
  fs: ReadSync,
  file: number,
  { maxBytes, expectedBytes }: { readonly maxBytes: number; readonly expectedBytes: number },
): Uint8Array {
  let bytes = new Uint8Array(wholePages(Math.min(maxBytes, expectedBytes) + 1))
  let filled = 0
  for (;;) {
    const read = fs.readSync(file, bytes, filled, bytes.length - filled, null)
    filled += read
    if (read === 0 || filled > maxBytes) return bytes.subarray(0, filled)
    if (filled === bytes.length) {
      const larger = new Uint8Array(Math.min(wholePages(maxBytes + 1), bytes.length * 2))
      larger.set(bytes)
      bytes = larger
    }
  }
}
