import type { Place, Workspace } from '../../../workspace/index.ts'
import type { SearchPattern } from './pattern.ts'
import { type FilePiece, piecesOf } from './pieces.ts'
import type { FoundLine, Piece } from './search-piece.ts'
import { Searcher } from './searcher.ts'

export interface PlacesSearch {
  readonly pattern: SearchPattern
  readonly context: number
  readonly mostHits: number
  readonly patienceMs: number
  readonly signal: AbortSignal
}

/** Lines of one file, or of a piece of it, with at least one hit. */
export interface FoundIn {
  readonly place: Place
  readonly lines: readonly FoundLine[]
  readonly hits: number
}

export interface SearchFigures {
  files: number
  binary: number
  unreadable: number
  /** The end of the files, of the hits that are wanted, or of the bytes that are searched at once. */
  end: 'all' | 'hits' | 'bytes'
}

const opensAtOnce = 8
const batchBytes = 2 * 1024 * 1024
const batchPieces = 64
const mostBytes = 1024 ** 3

type MatchPiece = Extract<FilePiece, { readonly kind: 'piece' }>

/** Files in order, a few of them opened at a time, matched in batches by a thread. Returns how it ended. */
export async function* searchPlaces(
  workspace: Workspace,
  places: AsyncIterable<Place>,
  search: PlacesSearch,
): AsyncGenerator<FoundIn, SearchFigures> {
  const figures: SearchFigures = { files: 0, binary: 0, unreadable: 0, end: 'all' }
  const searcher = new Searcher(search)
  let [left, bytes] = [search.mostHits, 0]
  try {
    for await (const batch of batches(pieces(workspace, places, search.signal), figures)) {
      const sent: Piece[] = batch.map((piece) => ({ bytes: piece.bytes, isFirst: piece.isFirst }))
      for (const piece of batch) bytes += piece.bytes.length
      const results = await searcher.search(sent, left)
      for (const [index, { found, hits }] of results.entries()) {
        const place = batch[index]?.place
        if (hits === 0 || place === undefined) continue
        left -= hits
        yield { place, lines: found, hits }
      }
      if (left > 0 && bytes < mostBytes) continue
      figures.end = left > 0 ? 'bytes' : 'hits'
      break
    }
    return figures
  } finally {
    await searcher.close()
  }
}

async function* batches(pieces: AsyncIterable<FilePiece>, figures: SearchFigures): AsyncGenerator<readonly MatchPiece[]> {
  let batch: MatchPiece[] = []
  let bytes = 0
  for await (const piece of pieces) {
    if (piece.kind === 'skipped') {
      figures[piece.why]++
      continue
    }
    if (piece.isFirst) figures.files++
    batch.push(piece)
    bytes += piece.bytes.length
    if (bytes < batchBytes && batch.length < batchPieces) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** The pieces of all files, in order. */
async function* pieces(workspace: Workspace, places: AsyncIterable<Place>, signal: AbortSignal): AsyncGenerator<FilePiece> {
  let group: Place[] = []
  for await (const place of places) {
    group.push(place)
    if (group.length < opensAtOnce) continue
    yield* together(workspace, group, signal)
    group = []
  }
  yield* together(workspace, group, signal)
}

/** Opens some files at once, for opening takes longer than reading, and gives their pieces one file after the other. */
async function* together(workspace: Workspace, group: readonly Place[], signal: AbortSignal): AsyncGenerator<FilePiece> {
  const readers = group.map((place) => piecesOf(workspace, place, signal))
  try {
    const firsts = await Promise.all(readers.map((reader) => reader.next()))
    for (const [index, first] of firsts.entries()) {
      if (first.done) continue
      yield first.value
      const reader = readers[index]
      if (reader) yield* reader
    }
  } finally {
    // Whoever stops early leaves files open otherwise.
    for (const reader of readers) await reader.return(undefined)
  }
}
