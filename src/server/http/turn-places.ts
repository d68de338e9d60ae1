import type { Clock } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'

// How many turns requests may run together.
//
// 1. A request holds one place in each of its groups (server, headend, agent, token) from `enter` until its release.
// 2. Requests that do not fit wait in order of arrival; one that does not fit does not block others behind it.
// 3. A request that waits too long, or finds the queue full, is refused with Retry-After. One whose client leaves, leaves the queue.

export interface PlaceLimits {
  readonly total: number
  readonly perHeadend: number
  readonly perAgent: number
  readonly perToken: number
  /** Requests that may wait. */
  readonly queue: number
  readonly queueMs: number
}

export const defaultPlaces: PlaceLimits = { total: 256, perHeadend: 256, perAgent: 128, perToken: 128, queue: 512, queueMs: 30_000 }

interface PlaceRequest {
  readonly headend: string
  readonly agent: string
  readonly owner: string
  readonly signal: AbortSignal
}

interface Waiting {
  readonly groups: readonly Group[]
  enter(): void
}
interface Group {
  readonly name: string
  readonly limit: number
}

export class TurnPlaces {
  readonly #limits: PlaceLimits
  readonly #clock: Pick<Clock, 'after'>
  readonly #running = new Map<string, number>()
  #waiting: Waiting[] = []
  #onEmpty: (() => void) | undefined

  constructor(limits: PlaceLimits, clock: Pick<Clock, 'after'>) {
    this.#limits = limits
    this.#clock = clock
  }

  get running(): number {
    return this.#running.get('server') ?? 0
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves when no turn runs, or after `ms`; then with `false`. */
  async empty(ms: number): Promise<boolean> {
    if (this.running === 0) return true
    const ended = Promise.withResolvers<boolean>()
    this.#onEmpty = () => ended.resolve(true)
    const cancel = this.#clock.after(ms, () => ended.resolve(false))
    return ended.promise.finally(cancel)
  }

  /** Resolves with a function that frees the place. It can be called several times. */
  async enter(request: PlaceRequest): Promise<() => void> {
    const groups = this.#groupsOf(request)
    if (!this.#fits(groups)) await this.#wait(groups, request.signal)
    else this.#take(groups)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      for (const { name } of groups) this.#add(name, -1)
      this.#wake()
      if (this.running === 0) this.#onEmpty?.()
    }
  }

  #groupsOf({ headend, agent, owner }: PlaceRequest): readonly Group[] {
    const { total, perHeadend, perAgent, perToken } = this.#limits
    return [
      { name: 'server', limit: total },
      { name: `headend ${headend}`, limit: perHeadend },
      { name: `agent ${agent}`, limit: perAgent },
      { name: `owner ${owner}`, limit: perToken },
    ]
  }

  #fits(groups: readonly Group[]): boolean {
    return groups.every(({ name, limit }) => (this.#running.get(name) ?? 0) < limit)
  }

  #take(groups: readonly Group[]): void {
    for (const { name } of groups) this.#add(name, 1)
  }

  #add(name: string, change: number): void {
    const count = (this.#running.get(name) ?? 0) + change
    if (count === 0) this.#running.delete(name)
    else this.#running.set(name, count)
  }

  #wait(groups: readonly Group[], signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#limits.queue) throw busy('The queue is full.')
    return new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        stop()
        reject(error)
      }
      const abandoned = (): void => leave(new HttpError('unavailable', 'The client has left.'))
      const cancelTimer = this.#clock.after(this.#limits.queueMs, () => leave(busy('The request waited too long.')))
      const stop = (): void => {
        cancelTimer()
        signal.removeEventListener('abort', abandoned)
      }
      const waiting: Waiting = {
        groups,
        enter: () => {
          stop()
          this.#take(groups)
          resolve()
        },
      }
      signal.addEventListener('abort', abandoned)
      this.#waiting.push(waiting)
      if (signal.aborted) abandoned()
    })
  }

  #wake(): void {
    if (this.#waiting.length === 0) return
    const left: Waiting[] = []
    for (const waiting of this.#waiting) {
      if (this.#fits(waiting.groups)) waiting.enter()
      else left.push(waiting)
    }
    this.#waiting = left
  }
}

const busy = (why: string): HttpError =>
  new HttpError('overloaded', `Too many turns are running. ${why}`, { remedy: 'Try again later.', retryAfterSeconds: 5 })
