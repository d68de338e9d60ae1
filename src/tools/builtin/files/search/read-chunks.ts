import { FileError, type OpenFile, type Workspace, type WorkspacePath } from '../../../workspace/index.ts'
import { binaryKind, headBytes } from '../file-kind.ts'
import { throwIfAborted } from '../tool-output.ts'

export type FileChunk =
  | { readonly kind: 'piece'; readonly place: WorkspacePath; readonly bytes: Uint8Array; readonly isFirst: boolean }
  | { readonly kind: 'skipped'; readonly why: 'binary' | 'unreadable' }

const pieceBytes = 1024 * 1024
const leastRead = 4_096
const newline = 10

/** A file in chunks of whole lines; a line that is longer than a chunk is cut. */
export async function* readChunks(workspace: Workspace, place: WorkspacePath, signal: AbortSignal): AsyncGenerator<FileChunk> {
  const file = await openOrSkip(workspace, place)
  if (file === undefined) {
    yield { kind: 'skipped', why: 'unreadable' }
    return
  }
  try {
    yield* read(file, signal)
  } finally {
    await file.handle.close()
  }
}

async function openOrSkip(workspace: Workspace, place: WorkspacePath): Promise<OpenFile | undefined> {
  try {
    return await workspace.openEntry(place)
  } catch (error) {
    if (error instanceof FileError) return undefined
    throw error
  }
}

async function* read({ handle, place, stat }: OpenFile, signal: AbortSignal): AsyncGenerator<FileChunk> {
  let rest: Uint8Array = new Uint8Array(0)
  let isFirst = true
  for (let position = 0; ; ) {
    throwIfAborted(signal)
    // Buffers are transferred to the thread, so each chunk has its own.
    const expected = stat.size > position ? stat.size - position + 1 : leastRead
    const room = Math.max(rest.length + 1, Math.min(pieceBytes, rest.length + expected))
    const buffer = new Uint8Array(room)
    buffer.set(rest)
    const { bytesRead } = await handle.read(buffer, rest.length, room - rest.length, position)
    const filled = buffer.subarray(0, rest.length + bytesRead)
    if (position === 0 && binaryKind(filled.subarray(0, headBytes)) !== undefined) {
      yield { kind: 'skipped', why: 'binary' }
      return
    }
    position += bytesRead
    const isCut = bytesRead === 0 || filled.length >= pieceBytes
    const end = filled.lastIndexOf(newline) + 1 || (isCut ? filled.length : 0)
    rest = filled.slice(end)
    if (end > 0) {
      yield { kind: 'piece', place, bytes: owned(filled.subarray(0, end)), isFirst }
      isFirst = false
    }
    if (bytesRead === 0 && rest.length === 0) return
  }
}

/** The buffer is transferred, so it must not be shared. */
const owned = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice())
