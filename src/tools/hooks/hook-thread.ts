import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { killMarked, newMark } from '../sandbox/process-tree.ts'
import type { HookPlace } from './hook-answer.ts'
import type { FromWorker, HookQuestion, ToWorker, WorkerSetup } from './hook-worker.ts'
import { cancelledError, graceMs, lastLine, markVariable, mostOutputBytes, printedTooMuch } from './run-program.ts'

// One thread that answers for a module.
//
// 1. Every question settles once: with its answer, with an error of the module, or when it is cancelled.
// 2. A cancelled question is the last one for this thread. The module gets a signal and a grace period;
//    then the thread ends, as soon as no other question is open.
// 3. When it ends, every open question fails, and the processes that it started are killed as far as they are found.
// 4. It keeps the process alive only while a question is open. When the process exits, the thread ends, even if it
//    waits for a program that never ends.

type ThreadOptions = Omit<WorkerSetup, 'mostOutputBytes'> & Pick<HookPlace, 'environment' | 'clock'>

export type LoadFault =
  | { readonly kind: 'not_loaded'; readonly message: string }
  | { readonly kind: 'lacks'; readonly names: readonly string[] }

const megabytes = 512
const running = new Set<HookThread>()
let isExitWatched = false

export class HookThread {
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #mark = newMark(markVariable)
  readonly #loaded = Promise.withResolvers<LoadFault | undefined>()
  readonly #open = new Map<number, PromiseWithResolvers<string | undefined>>()
  #state: 'serving' | 'leaving' | 'overdue' | 'gone' = 'serving'
  #asked = 0
  #complaints = ''

  constructor({ module, sha256, names, environment, clock }: ThreadOptions) {
    this.#clock = clock
    // The worker is next to this file, as source or compiled.
    const file = new URL(`./hook-worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
    const workerData: WorkerSetup = { module, sha256, names, mostOutputBytes }
    this.#worker = new Worker(file, {
      workerData,
      argv: [],
      execArgv: [],
      env: { ...environment, ...this.#mark.environment },
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: megabytes },
    })
    this.#worker.on('message', (message: FromWorker) => this.#understand(message))
    this.#worker.on('messageerror', (error) => this.end(error))
    this.#worker.on('error', (error: unknown) => this.end(new Error(`it crashed: ${messageOf(error)}`)))
    this.#worker.on('exit', (code) => this.end(new Error(`it exited with code ${code}${lastLine(this.#complaints)}`)))
    running.add(this)
    endThreadsOnExit()
  }

  get isServing(): boolean {
    return this.#state === 'serving'
  }

  /** Why it cannot answer. A thread that ends early has not loaded. */
  async load(timeoutMs: number): Promise<LoadFault | undefined> {
    const cancel = this.#clock.after(timeoutMs, () => this.end(new Error(`it did not load within ${timeoutMs} ms`)))
    try {
      return await this.#loaded.promise
    } finally {
      cancel()
      this.#rest()
    }
  }

  /** Asks the function of that name. */
  async ask(name: string, question: HookQuestion, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) throw cancelledError()
    const id = this.#asked++
    const answered = Promise.withResolvers<string | undefined>()
    const giveUp = (): void => {
      answered.reject(cancelledError())
      this.#leave(id)
    }
    this.#open.set(id, answered)
    signal.addEventListener('abort', giveUp, { once: true })
    this.#worker.ref()
    this.#worker.postMessage({ kind: 'ask', id, name, ...question } satisfies ToWorker)
    try {
      return await answered.promise
    } finally {
      signal.removeEventListener('abort', giveUp)
      this.#open.delete(id)
      this.#rest()
    }
  }

  end(reason: Error): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    running.delete(this)
    this.#loaded.resolve({ kind: 'not_loaded', message: reason.message })
    for (const { reject } of this.#open.values()) reject(reason)
    // A thread that waits for a program ends only after it, so this is not awaited.
    void this.#worker.terminate().catch(() => {})
    this.#worker.unref()
    killMarked(this.#mark)
  }

  /** A module can send any message through the parent port. */
  #understand(message: FromWorker): void {
    try {
      this.#hear(message)
    } catch {
      this.end(new Error('it sent an invalid message'))
    }
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'loaded':
        this.#loaded.resolve(undefined)
        break
      case 'not_loaded':
      case 'lacks':
        this.#loaded.resolve(message)
        this.end(new Error(`it ${faultText(message)}`))
        break
      case 'answered':
        this.#open.get(message.id)?.resolve(message.answer)
        break
      case 'failed':
        this.#open.get(message.id)?.reject(new Error(message.message))
        break
      case 'complained':
        this.#complaints = `${this.#complaints}${message.text}`.slice(-mostOutputBytes)
        break
      case 'printed_too_much':
        this.end(printedTooMuch())
        break
      default:
        message satisfies never
    }
  }

  #leave(id: number): void {
    this.#worker.postMessage({ kind: 'give_up', id } satisfies ToWorker)
    if (this.#state !== 'serving') return
    this.#state = 'leaving'
    this.#clock.after(graceMs, () => {
      if (this.#state === 'leaving') this.#state = 'overdue'
      this.#rest()
    })
  }

  #rest(): void {
    if (this.#open.size > 0 || this.#state === 'gone') return
    this.#complaints = ''
    if (this.#state === 'overdue') this.end(cancelledError())
    else this.#worker.unref()
  }
}

export const faultText = (fault: LoadFault): string =>
  fault.kind === 'lacks' ? `exports no function ${fault.names.join(', ')}` : `cannot be loaded: ${fault.message.replace(byUs, '')}`

/** Node names the importing file, which is ours. */
const byUs = / imported from \S*hook-worker\S*/

/** Otherwise the process would wait for threads that wait for a program. */
function endThreadsOnExit(): void {
  if (isExitWatched) return
  isExitWatched = true
  process.once('exit', () => {
    for (const thread of running) thread.end(cancelledError())
  })
}
