import { type ReadSync, readOpenFile } from './read-open.ts'

/** What of `node:fs` is used: helpers know no host. */
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

/** The whole of a file, or why there is none. */
export type BoundedFile =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'folder' | 'no file' }
  | { readonly kind: 'too large'; readonly why: string }
  | { readonly kind: 'missing' | 'unreadable'; readonly error: unknown }

/**
 * Reads a file that anybody may have put there. Hardly more than `maxBytes` bytes, whatever size it says that it has: what
 * the system makes up while it is read says 0 and may have no end. Never waits: not for a pipe, nor for a device.
 */
export function readBounded(fs: FileSystem, path: string, maxBytes: number): BoundedFile {
  try {
    // To open a device may do something by itself.
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
    // Another file may stand there by now.
    const facts = fs.fstatSync(file)
    const refusal = refusalOf(facts, maxBytes)
    if (refusal) return refusal
    const bytes = readOpenFile(fs, file, { maxBytes, expectedBytes: facts.size })
    return bytes.length > maxBytes
      ? { kind: 'too large', why: `it has more than ${maxBytes} bytes, which is the most` }
      : { kind: 'read', bytes }
  } finally {
    fs.closeSync(file)
  }
}

function refusalOf(facts: FileFacts, maxBytes: number): BoundedFile | undefined {
  if (facts.isDirectory()) return { kind: 'folder' }
  if (!facts.isFile()) return { kind: 'no file' }
  return facts.size > maxBytes ? { kind: 'too large', why: `it has ${facts.size} bytes, and ${maxBytes} is the most` } : undefined
}
