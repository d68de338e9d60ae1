// 1. The first request to end aborts the signal and is recorded.
// 2. Another one within `echoMs` is the same request; a later one ends the process immediately. Ctrl-C while a run is
//    being released ends it immediately: the run is resumable either way. A closed output never does.
// 3. While a command prints its result, further requests are ignored until the grace period is over, so that the
//    caller gets the document.
// 4. The listener stays: a signal while the process ends must not change the exit code.

import type { Problem } from '../../contracts/index.ts'
import { exitCodes } from './exit-codes.ts'
import type { EndRequest, Host } from './process-host.ts'

/** Time to end after an interrupt, longer than that of calls and children. The process must exit within two seconds. */
export const graceMs = 1800
/** npm and other launchers forward a Ctrl-C that the terminal also sends to this process. Both are one request. */
const echoMs = 50

/** Requests to end, by the user or the system, from the start of a command. */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #stopListening: () => void
  #request: EndRequest | undefined
  #toleratedMs = echoMs

  constructor(host: Pick<Host, 'onInterrupt' | 'exit'>, monotonic = (): number => performance.now()) {
    let first = 0
    this.#stopListening = host.onInterrupt((request) => {
      const now = monotonic()
      if (this.#request === undefined) {
        first = now
        this.#request = request
        this.#controller.abort()
      } else if (this.#isUrgent(request, now - first)) host.exit(exitCodes[this.#request].code)
    })
  }

  /** Aborted by the first request. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The first request, if there was one. */
  get request(): EndRequest | undefined {
    return this.#request
  }

  /** Awaits work before the run. Rejects with `InterruptedError` as soon as the command is asked to end. */
  async before<Result>(work: Promise<Result>): Promise<Result> {
    const { signal } = this
    const interrupted = Promise.withResolvers<never>()
    const leave = (): void =>
      interrupted.reject(new InterruptedError('The command was stopped before the run started.', undefined, this.#request))
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
    try {
      // First, so that an earlier interrupt wins over finished work.
      return await Promise.race([interrupted.promise, work])
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Call this when the run has ended and its result is printed. */
  reporting(): void {
    if (this.signal.aborted) this.#toleratedMs = graceMs
  }

  /** The command handles further requests itself. */
  handOver(): void {
    this.#stopListening()
  }

  #isUrgent(request: EndRequest, sinceFirst: number): boolean {
    if (request === 'pipe') return false
    const isReleasing = this.#request !== 'interrupted' && this.#toleratedMs === echoMs
    return sinceFirst > this.#toleratedMs || (request === 'interrupted' && isReleasing)
  }
}

/** The command was asked to end and there is no outcome. `code`: who asked. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly code: EndRequest
  readonly remedy: string | undefined
  readonly problems: readonly Problem[] = []

  constructor(message: string, remedy?: string, code: EndRequest = 'interrupted') {
    super(message)
    this.remedy = remedy
    this.code = code
  }
}
