/*
 * 1. The first interrupt aborts the signal; who looks at it later still sees it.
 * 2. A further one within `echoMs` is the same wish; later it ends the process at once.
 * 3. While an interrupted command reports how it ended, further ones have no effect before the grace is over: the
 *    document that somebody waits for is on its way.
 * 4. Nobody stops listening: a signal that comes while the process ends must not change how it ends.
 */
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { InterruptedError } from './interrupted-error.ts'

/** After an interrupt a command has this long to end; the process must be gone within two seconds. */
export const graceMs = 1500
/** A launcher such as npm passes on a Ctrl-C that the terminal has sent us as well: that is one wish, not two. */
const echoMs = 50

/** What persons and the system wish while a command is at work, from its very start. */
export class Interruption {
  readonly #controller = new AbortController()
  #toleratedMs = echoMs

  constructor(host: Pick<Host, 'onInterrupt' | 'exit'>, monotonic = (): number => performance.now()) {
    let first: number | undefined
    host.onInterrupt(() => {
      const now = monotonic()
      if (first === undefined) {
        first = now
        this.#controller.abort()
      } else if (now - first > this.#toleratedMs) host.exit(exitCodes.interrupted.code)
    })
  }

  /** Aborted by the first interrupt. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What has to be done before there is a run; rejects with `InterruptedError` as soon as somebody asks to end. */
  async before<Result>(work: Promise<Result>): Promise<Result> {
    const { signal } = this
    const interrupted = Promise.withResolvers<never>()
    const leave = (): void => interrupted.reject(new InterruptedError('The command was interrupted before the run began.'))
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
}
