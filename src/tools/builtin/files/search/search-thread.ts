import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { FileError } from '../../../workspace/index.ts'
import type { Chunk, ChunkResult } from './search-chunk.ts'
import type { WorkerRequest, WorkerSetup } from './search-worker.ts'

export interface SearchThreadOptions extends WorkerSetup {
  /** How long a batch of pieces may take. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const megabytes = 192

/**
 * A thread that searches pieces of files.
 *
 * 1. One batch at a time: it answers, fails, takes too long or is aborted, and in each case the promise settles.
 * 2. After any end but an answer the thread is gone, and so is it after `close`.
 */
export class SearchThread {
  readonly #worker: Worker
  readonly #timeoutMs: number
  readonly #signal: AbortSignal
  readonly #started: Promise<void>

  constructor({ pattern, context, timeoutMs, signal }: SearchThreadOptions) {
    this.#timeoutMs = timeoutMs
    this.#signal = signal
    // The worker stands beside this file, as a source or compiled like it.
    const file = new URL(`./search-worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
    const workerData: WorkerSetup = { pattern, context }
    this.#worker = new Worker(file, { workerData, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: megabytes } })
    // Listened to while a batch is out; an error in between must not end the process.
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
      // A busy machine may take long to start the thread; that is not the pattern's fault.
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
