import type { Clock } from '../../contracts/index.ts'

/** `concurrent`: at the same time. `perMinute`: starts within any minute. */
export interface QueueLimits {
  readonly concurrent?: number
  readonly perMinute?: number
}

interface Waiting {
  /** The order of arrival, over all queues. */
  readonly ticket: number
}

const minuteMs = 60_000

/** One named limit: taken slots, starts within the last minute, and the waiting line. */
export class Queue<W extends Waiting = Waiting> {
  readonly name: string
  /** A call may wait for other slots while it has its own; a model request never does. */
  readonly usedBy: 'calls' | 'models'
  readonly #concurrent: number
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #starts: number[] = []
  #line: W[] = []
  #taken = 0
  #cancelTimer: (() => void) | undefined

  constructor(
    { concurrent = Number.POSITIVE_INFINITY, perMinute = Number.POSITIVE_INFINITY }: QueueLimits,
    { name, clock, usedBy }: { readonly name: string; readonly clock: Clock; readonly usedBy: 'calls' | 'models' },
  ) {
    this.name = name
    this.#concurrent = concurrent
    this.#perMinute = perMinute
    this.#clock = clock
    this.usedBy = usedBy
  }

  get line(): readonly W[] {
    return this.#line
  }

  get hasFreeSlot(): boolean {
    return this.#taken < this.#concurrent
  }

  /** Only starts use up `perMinute`; work that continues does not. */
  hasRoom(isStart: boolean): boolean {
    return this.hasFreeSlot && (!isStart || this.#msUntilStart() <= 0)
  }

  take(isStart: boolean): void {
    this.#taken++
    if (isStart && this.#perMinute !== Number.POSITIVE_INFINITY) this.#starts.push(this.#clock.monotonic())
  }

  release(): void {
    this.#taken--
  }

  /** Ordered by arrival, also if it waited for another queue before. */
  join(waiting: W): void {
    const place = this.#line.findLastIndex(({ ticket }) => ticket < waiting.ticket) + 1
    this.#line.splice(place, 0, waiting)
  }

  remove(waiting: W): void {
    this.#line = this.#line.filter((other) => other !== waiting)
    if (this.#line.length === 0) this.#stopTimer()
  }

  /** Calls `wake` when `perMinute` allows the next start, if the first in line waits for nothing else. */
  scheduleWake(wake: () => void): void {
    this.#stopTimer()
    if (this.#line.length > 0 && this.hasFreeSlot) this.#cancelTimer = this.#clock.after(this.#msUntilStart(), wake)
  }

  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #msUntilStart(): number {
    if (this.#starts.length < this.#perMinute) return 0
    const now = this.#clock.monotonic()
    while (this.#starts[0] !== undefined && this.#starts[0] + minuteMs <= now) this.#starts.shift()
    const [oldest] = this.#starts
    return oldest === undefined || this.#starts.length < this.#perMinute ? 0 : oldest + minuteMs - now
  }
}
