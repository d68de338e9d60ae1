import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { FileError } from '../../../workspace/index.ts'
import type { Chunk, ChunkResult } from './search-chunk.ts'
import type { WorkerRequest, WorkerSetup } from './search-worker.ts'

export interface SearchThreadOptions extends WorkerSetup {
  /** For a batch of chunks. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const megabytes = 192

/**
 * A thread that searches chunks of files.
 *
 * 1. One batch at a time. The promise always settles: with results, an error, a timeout or an abort.
 * 2. The thread ends after anything but results, and after `close`.
 */
export class SearchThread {
  readonly #worker: Worker
  readonly #timeoutMs: number
  readonly #signal: AbortSignal
  readonly #started: Promise<void>

  constructor({ pattern, context, timeoutMs, signal }: SearchThreadOptions) {
    this.#timeoutMs = timeoutMs
    this.#signal = signal
    // The worker is next to this file, as source or compiled.
    const file = new URL(`./search-worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
    const workerData: WorkerSetup = { pattern, context }
    this.#worker = new Worker(file, { workerData, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: megabytes } })
    // An error between two batches must not crash the process.
    this.#worker.on('error', () => {})
    this.#started = new Promise((resolve) => this.#worker.once('online', () => resolve()))
    this.#worker.unref()
  }

  search(pieces: readonly Chunk[], mostHits: number): Promise<readonly ChunkResult[]> {
    const request: WorkerRequest = { pieces, mostHits }
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      let isSettled = false
      const settle = (end: () => void): void => {
        isSettled = true
        clearTimeout(timer)
        this.#worker.off('message', answered).off('error', broke).off('exit', gone)
        this.#signal.removeEventListener('abort', aborted)
        this.#worker.unref()
        end()
      }
      const fail = (fault: FileError): void => settle(() => void this.close().then(() => reject(fault)))
      const answered = (results: readonly ChunkResult[]): void => settle(() => resolve(results))
      const broke = (error: Error): void =>
        fail(new FileError('failed', `The search failed: ${error.message}.`, 'Search fewer files, or use a simpler pattern.'))
      const gone = (): void => fail(new FileError('failed', 'The search failed.', 'Try again.'))
      const aborted = (): void => fail(new FileError('cancelled', 'The search was stopped.'))
      // The timeout starts when the thread runs: a busy machine may start it late.
      void this.#started.then(() => {
        if (!isSettled) timer = setTimeout(() => fail(tooSlow(this.#timeoutMs)), this.#timeoutMs)
      })
      this.#worker.ref()
      this.#worker.on('message', answered).on('error', broke).on('exit', gone)
      this.#signal.addEventListener('abort', aborted)
      if (this.#signal.aborted) aborted()
      else
        this.#worker.postMessage(
          request,
          pieces.map(({ bytes }) => bytes.buffer as ArrayBuffer),
        )
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

const tooSlow = (ms: number): FileError =>
  new FileError(
    'invalid_input',
    `The pattern takes too long: more than ${ms / 1000} s for some files.`,
    'Use a simpler pattern, without nested repetition.',
  )
