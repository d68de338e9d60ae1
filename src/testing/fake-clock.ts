// 1. Time changes only when a test advances it.
// 2. Timers fire in the order of their due time; those due together in the order in which they were set.
// 3. While a timer fires, the clock shows its due time: timers that it sets start there.
// 4. `jump` moves the wall clock only and fires no timer.
import type { Clock } from '../contracts/index.ts'

interface Timer {
  readonly due: number
  readonly fire: () => void
}

/**
 * A clock that a test advances.
 *
 * @example
 * const clock = new FakeClock()
 * clock.after(1000, () => console.log('one second'))
 * clock.advance(1000)
 */
export class FakeClock implements Clock {
  #wall: number
  #monotonic = 0
  #timers: readonly Timer[] = []

  constructor(startsAt = Date.UTC(2026, 0, 1)) {
    this.#wall = startsAt
  }

  /** Timers that have neither fired nor been cancelled. */
  get pending(): number {
    return this.#timers.length
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { due: this.#monotonic + Math.max(0, ms), fire }
    const later = this.#timers.findIndex((other) => other.due > timer.due)
    this.#timers = later === -1 ? [...this.#timers, timer] : this.#timers.toSpliced(later, 0, timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Advances the clock and fires all due timers synchronously. */
  advance(ms: number): void {
    const end = this.#monotonic + ms
    let fired = true
    while (fired) fired = this.#fireNext(end)
    this.#moveTo(end)
  }

  /** Like `advance`, but awaits pending promises before and after each timer, so that they can set further timers. */
  async elapse(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    await settled()
    while (this.#fireNext(end)) await settled()
    this.#moveTo(end)
    await settled()
  }

  /** Changes the wall clock alone. */
  jump(ms: number): void {
    this.#wall += ms
  }

  #fireNext(end: number): boolean {
    const [next, ...rest] = this.#timers
    if (next === undefined || next.due > end) return false
    this.#timers = rest
    this.#moveTo(next.due)
    next.fire()
    return true
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
