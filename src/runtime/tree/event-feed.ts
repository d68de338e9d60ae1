import type { StreamEvent } from '../../contracts/index.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'

/** Beyond this a reader that lags loses live events; they are provisional, and durable ones stay. */
const maxQueued = 8_192

interface Queued {
  readonly event: StreamEvent
  next: Queued | undefined
}

type Waiting = (result: IteratorResult<StreamEvent>) => void

/** One reader's queue of events: written by the driver whether or not anybody reads. */
export class Subscription implements AsyncIterableIterator<StreamEvent> {
  #first: Queued | undefined
  #last: Queued | undefined
  #length = 0
  #closed = false
  /** Who waits for the next event, and those who asked before they were given it. */
  #waiting: Waiting | undefined
  readonly #more: Waiting[] = []
  readonly #park = (resolve: Waiting): void => {
    if (this.#waiting) this.#more.push(resolve)
    else this.#waiting = resolve
  }
  readonly #unsubscribe: (subscription: Subscription) => void

  constructor(unsubscribe: (subscription: Subscription) => void) {
    this.#unsubscribe = unsubscribe
    keepHiddenClass('subscription', this)
  }

  push(event: StreamEvent): void {
    const waiting = this.#waiting
    if (waiting) {
      this.#waiting = this.#more.length > 0 ? this.#more.shift() : undefined
      waiting({ value: event, done: false })
      return
    }
    if (this.#length >= maxQueued && !('seq' in event)) return
    const queued: Queued = { event, next: undefined }
    if (this.#last) this.#last.next = queued
    else this.#first = queued
    this.#last = queued
    this.#length++
  }

  close(): void {
    this.#closed = true
    this.#waiting?.({ value: undefined, done: true })
    for (const waiting of this.#more.splice(0)) waiting({ value: undefined, done: true })
    this.#waiting = undefined
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const queued = this.#first
    if (queued) {
      this.#first = queued.next
      if (--this.#length === 0) this.#last = undefined
      return Promise.resolve({ value: queued.event, done: false })
    }
    if (this.#closed) return Promise.resolve({ value: undefined, done: true })
    return new Promise(this.#park)
  }

  return(): Promise<IteratorResult<StreamEvent>> {
    this.#unsubscribe(this)
    this.#first = undefined
    this.#last = undefined
    this.#length = 0
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
