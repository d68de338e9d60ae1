/**
 * Many deadlines on few timers. Almost every deadline is cancelled long before it is due, and a timer for each would cost more
 * than the call that it guards.
 *
 * 1. Deadlines of one duration are due in the order in which they were set, so each duration needs one timer.
 * 2. An unused duration costs nothing once its timer has fired. Odd durations, which are rarely shared, have their own timers.
 * 3. No deadline keeps the process alive.
 * 4. An infinite deadline has no timer.
 */
export class Deadlines {
  readonly #queues = new Map<number, DeadlineQueue>()

  after(ms: number, fire: () => void): () => void {
    if (ms === Number.POSITIVE_INFINITY) return noop
    if (ms % 50 !== 0) {
      const timer = setTimeout(fire, Math.min(ms, maxTimerMs)).unref()
      return () => clearTimeout(timer)
    }
    let queue = this.#queues.get(ms)
    if (!queue) {
      queue = new DeadlineQueue(ms, () => this.#queues.delete(ms))
      this.#queues.set(ms, queue)
    }
    return queue.add(fire)
  }
}

const noop = (): void => {}

interface Deadline {
  readonly due: number
  fire: (() => void) | undefined
  previous: Deadline | undefined
  after: Deadline | undefined
}

/** Node fires longer timers immediately. */
const maxTimerMs = 2_147_483_647

class DeadlineQueue {
  readonly #ms: number
  readonly #empty: () => void
  #first: Deadline | undefined
  #last: Deadline | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number, empty: () => void) {
    this.#ms = ms
    this.#empty = empty
  }

  add(fire: () => void): () => void {
    const deadline: Deadline = { due: performance.now() + this.#ms, fire, previous: this.#last, after: undefined }
    if (this.#last) this.#last.after = deadline
    else this.#first = deadline
    this.#last = deadline
    if (!this.#timer) this.#wait(this.#ms)
    return () => this.#remove(deadline)
  }

  #remove(deadline: Deadline): void {
    if (!deadline.fire) return
    deadline.fire = undefined
    if (deadline.previous) deadline.previous.after = deadline.after
    else this.#first = deadline.after
    if (deadline.after) deadline.after.previous = deadline.previous
    else this.#last = deadline.previous
  }

  /** One timer serves the whole queue. It may wake too early, because its deadline was cancelled; then it waits again. */
  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#wake(), Math.min(ms, maxTimerMs)).unref()
  }

  #wake(): void {
    this.#timer = undefined
    const now = performance.now()
    while (this.#first && this.#first.due <= now) {
      const { fire } = this.#first
      this.#remove(this.#first)
      fire?.()
    }
    if (this.#first) {
      if (!this.#timer) this.#wait(Math.ceil(this.#first.due - now))
    } else this.#empty()
  }
}
