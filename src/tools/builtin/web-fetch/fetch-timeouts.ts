import type { Clock, ToolFailure } from '../../../contracts/index.ts'

export interface FetchTimeoutOptions {
  readonly clock: Pick<Clock, 'after'>
  /** From the first request to the last byte. */
  readonly totalMs: number
  /** Longest silence. */
  readonly idleMs: number
}

export const systemClock: Pick<Clock, 'after'> = {
  after(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** How long a fetch may take, all in all and between two signs of life. */
export class FetchTimeouts {
  /** Aborted when either is over, or when the call is. */
  readonly signal: AbortSignal
  readonly #options: FetchTimeoutOptions
  readonly #over = new AbortController()
  readonly #cancelTotal: () => void
  #cancelIdle: () => void
  /** What ran out. */
  #expired: ToolFailure | undefined

  constructor(call: AbortSignal, options: FetchTimeoutOptions) {
    this.#options = options
    this.signal = AbortSignal.any([call, this.#over.signal])
    const { clock, totalMs } = options
    this.#cancelTotal = clock.after(totalMs, () => this.#expire(`The page did not arrive within ${totalMs / 1_000} seconds.`))
    this.#cancelIdle = this.#startIdle()
  }

  get failure(): ToolFailure | undefined {
    return this.#expired
  }

  /** Something has come. */
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
    this.#expired ??= { class: 'timeout', message, remedy: 'Try again later, or use another source.' }
    this.#over.abort()
  }
}
