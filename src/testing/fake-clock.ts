/*
 * 1. Time stands still unless a test moves it.
 * 2. Timers fire in the order of their due time; those due together in the order in which they were set.
 * 3. While a timer fires, the clock shows its due time, so that what it sets counts from there.
 * 4. `jump` moves the wall clock only: no timer hears of it.
 */
import type { Clock } from '../contracts/index.ts'

interface Timer {
  readonly due: number
  readonly fire: () => void
}

/** A clock that a test turns by hand. */
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

  /** Lets `ms` pass and fires what falls due, all before it returns. */
  advance(ms: number): void {
    const end = this.#monotonic + ms
    let fired = true
    while (fired) fired = this.#fireNext(end)
    this.#moveTo(end)
  }

  /** Like `advance`, but lets promises settle before the first timer and after each, so that they can set further ones in time. */
  async elapse(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    await settled()
    while (this.#fireNext(end)) await settled()
    this.#moveTo(end)
    await settled()
  }

  /** Moves the wall clock alone, as when somebody sets it. */
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

/** All microtasks, and what they lead to, run before the next turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
