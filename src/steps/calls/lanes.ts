import { type Lane, TroupeError } from '../../contracts/index.ts'
import { laneConflict } from '../../core/index.ts'

interface Waiting {
  readonly lane: Lane
  start(): void
}

/**
 * Decides which calls of a step may overlap.
 *
 * 1. At most `max` tasks run at the same time.
 * 2. An exclusive task overlaps with nothing; tasks with the same key do not overlap; all others do.
 * 3. Of two conflicting tasks the earlier one starts first. A later task passes a waiting one only if it conflicts with
 *    no waiting task before it, so no exclusive task waits forever.
 * 4. A task that could run does not wait: the end of a task starts all that fit.
 * 5. A task that fails or throws frees its lane before its promise settles.
 */
export class Lanes {
  readonly #max: number
  readonly #keys = new Set<string>()
  readonly #waiting: Waiting[] = []
  #running = 0
  #isExclusive = false
  #isStarting = false

  constructor(max: number) {
    if (!(max >= 1)) throw new TroupeError('internal', `lanes need room for at least one task, got ${max}`)
    this.#max = max
  }

  /** Runs the task as soon as its lane is free. Must not be awaited from inside another task. */
  run<T>(lane: Lane, task: () => Promise<T> | T): Promise<T> {
    if (this.#running === 0 ? this.#waiting.length === 0 : this.#fits(lane) && this.#passesAll(lane)) return this.#start(lane, task)
    return new Promise<T>((resolve) => {
      this.#waiting.push({ lane, start: () => resolve(this.#start(lane, task)) })
    })
  }

  #start<T>(lane: Lane, task: () => Promise<T> | T): Promise<T> {
    this.#enter(lane)
    let result: Promise<T> | T
    try {
      result = task()
    } catch (error) {
      this.#leave(lane)
      return Promise.reject(error)
    }
    if (result instanceof Promise) {
      return result.then(
        (value) => {
          this.#leave(lane)
          return value
        },
        (error: unknown) => {
          this.#leave(lane)
          throw error
        },
      )
    }
    this.#leave(lane)
    return Promise.resolve(result)
  }

  #enter(lane: Lane): void {
    this.#running++
    if (lane.kind === 'exclusive') this.#isExclusive = true
    else if (lane.kind === 'key') this.#keys.add(lane.key)
  }

  #leave(lane: Lane): void {
    this.#running--
    if (lane.kind === 'exclusive') this.#isExclusive = false
    else if (lane.kind === 'key') this.#keys.delete(lane.key)
    if (this.#waiting.length > 0 && !this.#isStarting) this.#startReady()
  }

  /** A loop, not recursion: a thousand waiting tasks would overflow the stack. */
  #startReady(): void {
    this.#isStarting = true
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) next.start()
    this.#isStarting = false
  }

  /** The first waiting task that may run now (3). Only an exclusive one blocks those behind it; `#fits` covers the rest. */
  #takeNext(): Waiting | undefined {
    for (const [index, { lane }] of this.#waiting.entries()) {
      if (this.#fits(lane)) return this.#waiting.splice(index, 1)[0]
      if (lane.kind === 'exclusive' || this.#running >= this.#max) return undefined
    }
    return undefined
  }

  /** Whether the running tasks allow it (1, 2). */
  #fits(lane: Lane): boolean {
    if (this.#running === 0) return true
    if (this.#running >= this.#max || this.#isExclusive || lane.kind === 'exclusive') return false
    return lane.kind !== 'key' || !this.#keys.has(lane.key)
  }

  #passesAll(lane: Lane): boolean {
    return !this.#waiting.some((waiting) => laneConflict(lane, waiting.lane))
  }
}
