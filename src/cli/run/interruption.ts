/*
 * 1. The first request to end aborts the signal; who looks at it later still sees it, and who asked.
 * 2. A further one within `echoMs` is the same request; later it ends the process immediately. Ctrl-C while a run is being released
 *    ends it immediately: the run is resumable either way. Lost outputs never end it.
 * 3. While a command reports how it ended, further requests have no effect before the grace is over: the document that
 *    somebody waits for is on its way.
 * 4. Nobody stops listening: a signal that comes while the process ends must not change how it ends.
 */
import { exitCodes } from '../host/exit-codes.ts'
import type { EndRequest, Host } from '../host/process-host.ts'
import { InterruptedError } from './interrupted-error.ts'

/** After an interrupt a command has this long to end; the process must be gone within two seconds. */
export const graceMs = 1500
/** A launcher such as npm passes on a Ctrl-C that the terminal has sent us as well: that is one request, not two. */
const echoMs = 50

/** What persons and the system ask for while a command is at work, from its very start. */
export class Interruption {
  readonly #controller = new AbortController()
  #request: EndRequest | undefined
  #toleratedMs = echoMs

  constructor(host: Pick<Host, 'onInterrupt' | 'exit'>, monotonic = (): number => performance.now()) {
    let first = 0
    host.onInterrupt((request) => {
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

  /** What has to be done before there is a run; rejects with `InterruptedError` as soon as somebody asks to end. */
  async before<Result>(work: Promise<Result>): Promise<Result> {
    const { signal } = this
    const interrupted = Promise.withResolvers<never>()
    const leave = (): void =>
      interrupted.reject(new InterruptedError('The command was stopped before the run began.', undefined, this.#request))
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
    try {
      // An interrupt that is there already goes before work that is done.
      return await Promise.race([interrupted.promise, work])
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** The run is over; what comes now is its report. */
  reporting(): void {
    if (this.signal.aborted) this.#toleratedMs = graceMs
  }

  #isUrgent(request: EndRequest, sinceFirst: number): boolean {
    if (request === 'pipe') return false
    const isReleasing = this.#request !== 'interrupted' && this.#toleratedMs === echoMs
    return sinceFirst > this.#toleratedMs || (request === 'interrupted' && isReleasing)
  }
}
