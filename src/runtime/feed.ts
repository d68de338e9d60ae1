import type { StreamEvent } from '../contracts/index.ts'
import { keepShape } from '../util/keep-shape.ts'

/** Beyond this a reader that lags loses live events; they are provisional, and durable ones stay. */
const mostQueued = 8_192

/** One reader's queue of events: written by the driver whether or not anybody reads. */
export class Subscription implements AsyncIterableIterator<StreamEvent> {
  #queue: StreamEvent[] = []
  #head = 0
  #closed = false
  readonly #waiting: ((result: IteratorResult<StreamEvent>) => void)[] = []
  readonly #park = (resolve: (result: IteratorResult<StreamEvent>) => void): void => {
    this.#waiting.push(resolve)
  }
  readonly #leave: (subscription: Subscription) => void

  constructor(leave: (subscription: Subscription) => void) {
    this.#leave = leave
    keepShape('subscription', this)
  }

  push(event: StreamEvent): void {
    const waiting = this.#waiting.shift()
    if (waiting) {
      waiting({ value: event, done: false })
      return
    }
    if (!('seq' in event) && this.#queue.length - this.#head >= mostQueued) return
    this.#queue.push(event)
  }

  close(): void {
    this.#closed = true
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true })
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const event = this.#queue[this.#head]
    if (event) {
      if (++this.#head === this.#queue.length) {
        this.#queue = []
        this.#head = 0
      }
      return Promise.resolve({ value: event, done: false })
    }
    if (this.#closed) return Promise.resolve({ value: undefined, done: true })
    return new Promise(this.#park)
  }

  return(): Promise<IteratorResult<StreamEvent>> {
    this.#leave(this)
    this.#queue = []
    this.#head = 0
    this.close()
    return Promise.resolve({ value: undefined, done: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Hands the events of one tree to everyone who listens. */
export class Feed {
  #subscriptions: readonly Subscription[] = []
  #isClosed = false

  subscribe(): Subscription {
    const subscription = new Subscription((leaving) => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== leaving)
    })
    if (this.#isClosed) subscription.close()
    else this.#subscriptions = [...this.#subscriptions, subscription]
    return subscription
  }

  publish(event: StreamEvent): void {
    for (const subscription of this.#subscriptions) subscription.push(event)
  }

  close(): void {
    this.#isClosed = true
    for (const subscription of this.#subscriptions) subscription.close()
    this.#subscriptions = []
  }
}
