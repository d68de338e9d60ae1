import { parentPort, workerData } from 'node:worker_threads'
import { type Chunk, type ChunkResult, searchChunk } from './search-chunk.ts'

// Matches in its own thread, which can be ended: a regular expression may take too long.

export interface WorkerSetup {
  readonly pattern: RegExp
  readonly context: number
}

export interface WorkerRequest {
  readonly pieces: readonly Chunk[]
  readonly mostHits: number
}

const { pattern, context } = workerData as WorkerSetup
/** The number of the first line of the next chunk. */
let firstLine = 1

parentPort?.on('message', ({ pieces, mostHits }: WorkerRequest) => {
  const results: ChunkResult[] = []
  let left = mostHits
  for (const { bytes, isFirst } of pieces) {
    if (isFirst) firstLine = 1
    const result = searchChunk(bytes, { firstLine, pattern, context, mostHits: left })
    firstLine += result.lineEnds
    left -= result.hits
    results.push(result)
  }
  parentPort?.postMessage(results)
})
