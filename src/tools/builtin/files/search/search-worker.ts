import { parentPort, workerData } from 'node:worker_threads'
import type { SearchPattern } from './pattern.ts'
import { type Piece, type PieceResult, searchPiece } from './search-piece.ts'

// Matches in a thread of its own, which can be ended: a regular expression may take longer than anybody waits.

export interface WorkerSetup {
  readonly pattern: SearchPattern
  readonly context: number
}

export interface WorkerRequest {
  readonly pieces: readonly Piece[]
  readonly mostHits: number
}

const { pattern, context } = workerData as WorkerSetup
/** Of the next piece: a file may come in several. */
let firstLine = 1
const compiled = new RegExp(pattern.source, pattern.flags)

parentPort?.on('message', ({ pieces, mostHits }: WorkerRequest) => {
  const results: PieceResult[] = []
  let left = mostHits
  for (const { bytes, isFirst } of pieces) {
    if (isFirst) firstLine = 1
    const result = searchPiece(bytes, { firstLine, pattern: compiled, context, mostHits: left })
    firstLine += result.lineEnds
    left -= result.hits
    results.push(result)
  }
  parentPort?.postMessage(results)
})
