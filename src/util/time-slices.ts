import type { Clock } from '../contracts/index.ts'

const sliceMs = 8

/**
 * Work that many do at the same time, in promises that follow each other without a pause: the event loop would get no turn. A caller of
 * `turn` after `sliceMs` of such work waits for the next turn.
 */
export class TimeSlices {
  readonly #clock: Pick<Clock, 'monotonic'>
  #since: number | undefined
  #next = Promise.withResolvers<void>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** `undefined`: there is time left. */
  turn(): Promise<void> | undefined {
    if (this.#since === undefined) {
      this.#since = this.#clock.monotonic()
      setImmediate(() => this.#begin())
    }
    return this.#clock.monotonic() - this.#since < sliceMs ? undefined : this.#next.promise
  }

  #begin(): void {
    this.#since = undefined
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }
}
