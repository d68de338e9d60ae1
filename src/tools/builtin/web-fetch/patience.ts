import type { Clock, ToolFailure } from '../../../contracts/index.ts'

export interface PatienceOptions {
  readonly clock: Pick<Clock, 'after'>
  /** From the first request to the last byte. */
  readonly totalMs: number
  /** Longest silence. */
  readonly idleMs: number
}

export const systemTimer: Pick<Clock, 'after'> = {
  after(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** How long a fetch may take, all in all and between two signs of life. */
export class Patience {
  /** Aborted when either is over, or when the call is. */
  readonly signal: AbortSignal
  readonly #options: PatienceOptions
  readonly #over = new AbortController()
  readonly #cancelTotal: () => void
  #cancelIdle: () => void
  /** What ran out. */
  #expired: ToolFailure | undefined

  constructor(call: AbortSignal, options: PatienceOptions) {
    this.#options = options
    this.signal = AbortSignal.any([call, this.#over.signal])
    const { clock, totalMs } = options
    this.#cancelTotal = clock.after(totalMs, () => this.#expire(`The page was not there after ${totalMs / 1_000} seconds.`))
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
    return clock.after(idleMs, () => this.#expire(`The server said nothing for ${idleMs / 1_000} seconds.`))
  }

  #expire(message: string): void {
    this.#expired ??= { class: 'timeout', message, remedy: 'Try again later, or look for the same elsewhere.' }
    this.#over.abort()
  }
}
