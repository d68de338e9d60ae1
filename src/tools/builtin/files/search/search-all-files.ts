import { FileError, type OpenFile, type Workspace, type WorkspacePath } from '../../../workspace/index.ts'
import { binaryKind, headBytes } from '../file-kind.ts'
import { throwIfAborted } from '../tool-output.ts'
import type { Chunk, FoundLine } from './search-chunk.ts'
import { SearchThread, type SearchThreadOptions } from './search-thread.ts'

interface FileSearch extends SearchThreadOptions {
  readonly mostHits: number
}

/** Lines of a file or chunk with at least one match. */
export interface FileMatches {
  readonly place: WorkspacePath
  readonly lines: readonly FoundLine[]
  readonly hits: number
}

export interface SearchTotals {
  files: number
  binary: number
  unreadable: number
  /** Which limit ended the search: none, matches or bytes. */
  end: 'all' | 'hits' | 'bytes'
}

const opensAtOnce = 8
const batchBytes = 2 * 1024 * 1024
const batchPieces = 64
const mostBytes = 1024 ** 3

type FileChunk =
  | { readonly kind: 'piece'; readonly place: WorkspacePath; readonly bytes: Uint8Array; readonly isFirst: boolean }
  | { readonly kind: 'skipped'; readonly why: 'binary' | 'unreadable' }

type MatchChunk = Extract<FileChunk, { readonly kind: 'piece' }>

/** Searches files in order: opens a few at a time, and matches batches of chunks in a thread. */
export async function* searchAllFiles(
  workspace: Workspace,
  places: AsyncIterable<WorkspacePath>,
  search: FileSearch,
): AsyncGenerator<FileMatches, SearchTotals> {
  const totals: SearchTotals = { files: 0, binary: 0, unreadable: 0, end: 'all' }
  const searcher = new SearchThread(search)
  let [left, bytes] = [search.mostHits, 0]
  try {
    for await (const batch of batches(pieces(workspace, places, search.signal), totals)) {
      const sent: Chunk[] = batch.map((piece) => ({ bytes: piece.bytes, isFirst: piece.isFirst }))
      for (const piece of batch) bytes += piece.bytes.length
      const results = await searcher.search(sent, left)
      for (const [index, { found, hits }] of results.entries()) {
        const place = batch[index]?.place
        if (hits === 0 || place === undefined) continue
        left -= hits
        yield { place, lines: found, hits }
      }
      if (left > 0 && bytes < mostBytes) continue
      totals.end = left > 0 ? 'bytes' : 'hits'
      break
    }
    return totals
  } finally {
    await searcher.close()
  }
}

async function* batches(pieces: AsyncIterable<FileChunk>, totals: SearchTotals): AsyncGenerator<readonly MatchChunk[]> {
  let batch: MatchChunk[] = []
  let bytes = 0
  for await (const piece of pieces) {
    if (piece.kind === 'skipped') {
      totals[piece.why]++
      continue
    }
    if (piece.isFirst) totals.files++
    batch.push(piece)
    bytes += piece.bytes.length
    if (bytes < batchBytes && batch.length < batchPieces) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function* pieces(workspace: Workspace, places: AsyncIterable<WorkspacePath>, signal: AbortSignal): AsyncGenerator<FileChunk> {
  const group: WorkspacePath[] = []
  for await (const place of places) {
    if (group.push(place) === opensAtOnce) yield* together(workspace, group.splice(0), signal)
  }
  yield* together(workspace, group, signal)
}

/** Opens some files together, because opening takes longer than reading, and yields their chunks in order. */
async function* together(workspace: Workspace, group: readonly WorkspacePath[], signal: AbortSignal): AsyncGenerator<FileChunk> {
  const readers = group.map((place) => readChunks(workspace, place, signal))
  try {
    const firsts = await Promise.all(readers.map((reader) => reader.next()))
    for (const [index, first] of firsts.entries()) {
      if (first.done) continue
      yield first.value
      const reader = readers[index]
      if (reader) yield* reader
    }
  } finally {
    // Closes the files if the consumer stops early.
    for (const reader of readers) await reader.return(undefined)
  }
}

const pieceBytes = 1024 * 1024
const leastRead = 4_096
const newline = 10

/** A file in chunks of whole lines; a line that is longer than a chunk is cut. */
async function* readChunks(workspace: Workspace, place: WorkspacePath, signal: AbortSignal): AsyncGenerator<FileChunk> {
  let file: OpenFile
  try {
    file = await workspace.openEntry(place)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    yield { kind: 'skipped', why: 'unreadable' }
    return
  }
  try {
    yield* read(file, signal)
  } finally {
    await file.handle.close()
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
