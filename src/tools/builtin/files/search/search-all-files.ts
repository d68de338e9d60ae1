import type { Workspace, WorkspacePath } from '../../../workspace/index.ts'
import { type FileChunk, readChunks } from './read-chunks.ts'
import type { Chunk, FoundLine } from './search-chunk.ts'
import { SearchThread, type SearchThreadOptions } from './search-thread.ts'

export interface FileSearch extends SearchThreadOptions {
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
  let group: WorkspacePath[] = []
  for await (const place of places) {
    group.push(place)
    if (group.length < opensAtOnce) continue
    yield* together(workspace, group, signal)
    group = []
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
