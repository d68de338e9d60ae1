import type { StreamEvent } from '../../contracts/index.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'

/** A slow reader loses live events beyond this; durable events are kept. */
const maxQueued = 8_192

interface Queued {
  readonly event: StreamEvent
  next: Queued | undefined
}

type Waiting = (result: IteratorResult<StreamEvent>) => void

/** The event queue of one reader. The driver writes it whether or not anybody reads. */
export class Subscription implements AsyncIterableIterator<StreamEvent> {
  #first: Queued | undefined
  #last: Queued | undefined
  #length = 0
  #closed = false
  /** The first pending `next()`, and further ones. */
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

/** Passes the events of one tree to all subscribers. */
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
