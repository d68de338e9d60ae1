import { type Lane, TroupeError } from '../../contracts/index.ts'
import { laneConflict } from '../../core/index.ts'

interface Waiting {
  readonly lane: Lane
  start(): void
}

/**
 * Decides which calls of a step may overlap.
 *
 * 1. At most `most` works run at once.
 * 2. An exclusive work overlaps with nothing, works of one key not with each other; shared works and different keys do overlap.
 * 3. Of two works that may not overlap, the earlier one starts first. So a later one passes a waiting one only
 *    where it conflicts with none that waits before it, and no exclusive work waits for ever.
 * 4. Nothing waits that could run: whoever ends lets in all that fit.
 * 5. A work that fails or throws frees its lane like any other, before whoever awaits it hears of it.
 */
export class Lanes {
  readonly #most: number
  readonly #keys = new Set<string>()
  readonly #waiting: Waiting[] = []
  #running = 0
  #isExclusive = false
  #isAdmitting = false

  constructor(most: number) {
    if (!(most >= 1)) throw new TroupeError('internal', `lanes need room for at least one work, got ${most}`)
    this.#most = most
  }

  /** Runs the work as soon as its lane is free; at once where it is. Must not be awaited from inside another work. */
  run<T>(lane: Lane, work: () => Promise<T> | T): Promise<T> {
    if (this.#running === 0 ? this.#waiting.length === 0 : this.#fits(lane) && this.#passesAll(lane)) return this.#start(lane, work)
    return new Promise<T>((resolve) => {
      this.#waiting.push({ lane, start: () => resolve(this.#start(lane, work)) })
    })
  }

  #start<T>(lane: Lane, work: () => Promise<T> | T): Promise<T> {
    this.#enter(lane)
    let result: Promise<T> | T
    try {
      result = work()
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
    if (this.#waiting.length > 0 && !this.#isAdmitting) this.#admit()
  }

  /** One loop, not one call within the other: a thousand waiting works that end at once would overflow the stack. */
  #admit(): void {
    this.#isAdmitting = true
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) next.start()
    this.#isAdmitting = false
  }

  /**
   * The first waiting work that may run now (3). Only an exclusive one holds up those behind it: a key that waits
   * is running, so whoever has the same key does not fit either, and shared works wait for room alone.
   */
  #takeNext(): Waiting | undefined {
    for (const [index, { lane }] of this.#waiting.entries()) {
      if (this.#fits(lane)) return this.#waiting.splice(index, 1)[0]
      if (lane.kind === 'exclusive' || this.#running >= this.#most) return undefined
    }
    return undefined
  }

  /** Whether what runs leaves room (1, 2). */
  #fits(lane: Lane): boolean {
    if (this.#running === 0) return true
    if (this.#running >= this.#most || this.#isExclusive || lane.kind === 'exclusive') return false
    return lane.kind === 'shared' || !this.#keys.has(lane.key)
  }

  #passesAll(lane: Lane): boolean {
    return !this.#waiting.some((waiting) => laneConflict(lane, waiting.lane))
  }
}
