import type { Clock } from '../../contracts/index.ts'

/** At most so many at once, and so many begun within any minute. */
export interface QueueLimits {
  readonly concurrent?: number
  readonly perMinute?: number
}

/** Somebody in line. */
export interface Waiting {
  /** The order of arrival, over all lines. */
  readonly ticket: number
}

const minuteMs = 60_000

/** One named limit: how many slots are taken, what was begun within the last minute, and who waits here. */
export class Queue<W extends Waiting = Waiting> {
  readonly name: string
  /** Who bears its name. A call may have to wait for others while it has its slot; a model never does. */
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

  /** Whether one more may go; whoever goes on with what was begun before is not counted by the minute again. */
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

  /** In the order of arrival, also for one that has waited elsewhere before. */
  join(waiting: W): void {
    const place = this.#line.findLastIndex(({ ticket }) => ticket < waiting.ticket) + 1
    this.#line.splice(place, 0, waiting)
  }

  remove(waiting: W): void {
    this.#line = this.#line.filter((other) => other !== waiting)
    if (this.#line.length === 0) this.#stopTimer()
  }

  /** Calls back when the minute lets the next one begin, where that is all that the first in line waits for. */
  scheduleWake(wake: () => void): void {
    this.#stopTimer()
    // Whoever is in line where there is a slot waits for the minute alone.
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
