import type { Clock } from '../../contracts/index.ts'

/** A deadline that is paused while the kernel itself works for the call. */
export class WorkingTime {
  readonly #clock: Clock
  readonly #expire: () => void
  #leftMs: number
  #since = 0
  #pauses = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, ms: number, expire: () => void) {
    this.#clock = clock
    this.#leftMs = ms
    this.#expire = expire
    this.#run()
  }

  pause(): void {
    if (this.#pauses++ > 0) return
    this.#leftMs -= this.#clock.monotonic() - this.#since
    this.#cancel?.()
  }

  resume(): void {
    if (--this.#pauses === 0) this.#run()
  }

  end(): void {
    this.#cancel?.()
    this.#pauses = Number.POSITIVE_INFINITY
  }

  #run(): void {
    if (this.#leftMs === Number.POSITIVE_INFINITY) return
    this.#since = this.#clock.monotonic()
    this.#cancel = this.#clock.after(Math.max(0, this.#leftMs), this.#expire)
  }
}
