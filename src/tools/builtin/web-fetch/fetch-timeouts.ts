import type { Clock, ToolFailure } from '../../../contracts/index.ts'

interface FetchTimeoutOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly totalMs: number
  readonly idleMs: number
}

export const systemClock: Pick<Clock, 'after'> = {
  after(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** Total and idle timeout of a fetch. */
export class FetchTimeouts {
  /** Aborted by either timeout, or with the call. */
  readonly signal: AbortSignal
  failure: ToolFailure | undefined
  readonly #options: FetchTimeoutOptions
  readonly #over = new AbortController()
  readonly #cancelTotal: () => void
  #cancelIdle: () => void

  constructor(call: AbortSignal, options: FetchTimeoutOptions) {
    this.#options = options
    this.signal = AbortSignal.any([call, this.#over.signal])
    const { clock, totalMs } = options
    this.#cancelTotal = clock.after(totalMs, () => this.#expire(`The page did not arrive within ${totalMs / 1_000} seconds.`))
    this.#cancelIdle = this.#startIdle()
  }

  readonly renew = (): void => {
    this.#cancelIdle()
    this.#cancelIdle = this.#startIdle()
  }

  end(): void {
    this.#cancelTotal()
    this.#cancelIdle()
  }

  #startIdle(): () => void {
    const { clock, idleMs } = this.#options
    return clock.after(idleMs, () => this.#expire(`The server sent nothing for ${idleMs / 1_000} seconds.`))
  }

  #expire(message: string): void {
    this.failure ??= { class: 'timeout', message, remedy: 'Try again later, or use another source.' }
    this.#over.abort()
  }
}
