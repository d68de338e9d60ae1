import type { InteractionEvent, QueueEvent, StreamEvent } from '../../contracts/index.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'
import { OpenTexts } from './open-texts.ts'

/** A slow reader loses live events beyond this; durable events are kept. */
const maxLive = 8_192

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
  /** It was closed because its reader is too slow: the reader continues with the journal. */
  isBehind = false
  readonly #live: boolean
  readonly #max: number
  /** The first pending `next()`, and further ones. */
  #waiting: Waiting | undefined
  readonly #more: Waiting[] = []
  readonly #park = (resolve: Waiting): void => {
    if (this.#waiting) this.#more.push(resolve)
    else this.#waiting = resolve
  }
  readonly #unsubscribe: (subscription: Subscription) => void

  constructor({ live = true, maxQueued = Number.POSITIVE_INFINITY }: SubscribeOptions, unsubscribe: (subscription: Subscription) => void) {
    this.#live = live
    this.#max = maxQueued
    this.#unsubscribe = unsubscribe
    keepHiddenClass('subscription', this)
  }

  push(event: StreamEvent): void {
    if (!this.#live && !('seq' in event)) return
    const waiting = this.#waiting
    if (waiting) {
      this.#waiting = this.#more.length > 0 ? this.#more.shift() : undefined
      waiting({ value: event, done: false })
      return
    }
    if (this.#length >= this.#max) {
      this.isBehind = true
      void this.return()
      return
    }
    if (this.#length >= maxLive && !('seq' in event)) return
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

interface SubscribeOptions {
  /** The last durable event that the reader has. Default: the last one that was published. */
  readonly after?: number
  /** Whether it gets live events. Default true. */
  readonly live?: boolean
  /** For a reader that can read the journal: with more events in its queue, the subscription is closed. */
  readonly maxQueued?: number
}

interface Joining {
  readonly after: number
  readonly subscription: Subscription
}

/**
 * Passes the events of one tree to all subscribers.
 *
 * 1. A reader joins when the last event that it has is published: it gets the texts of open items as they are at that point, and then
 *    everything that follows, without a gap or a repetition.
 */
export class Feed {
  readonly #texts = new OpenTexts()
  #subscriptions: readonly Subscription[] = []
  #joining: readonly Joining[] = []
  /** The last durable event. */
  #last: InteractionEvent | undefined
  #isClosed = false

  /** The number of the last durable event that was published here; 0 if there is none. */
  get seq(): number {
    return this.#last?.seq ?? 0
  }

  subscribe(options: SubscribeOptions = {}): Subscription {
    const { after = this.seq } = options
    const subscription = new Subscription(options, (leaving) => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== leaving)
      this.#joining = this.#joining.filter((each) => each.subscription !== leaving)
    })
    if (this.#isClosed) subscription.close()
    else if (after > this.seq) this.#joining = [...this.#joining, { after, subscription }]
    else this.#join(subscription)
    return subscription
  }

  publish(event: StreamEvent): void {
    if (event.type === 'interaction.item.delta') this.#texts.add(event)
    else if (isDurable(event)) {
      if (this.#joining.length > 0) this.#joinUpTo(event.seq - 1)
      this.#last = event
      if (!this.#texts.isEmpty) this.#texts.end(event)
    }
    for (const subscription of this.#subscriptions) subscription.push(event)
    if (this.#joining.length > 0) this.#joinUpTo(this.seq)
  }

  close(): void {
    this.#isClosed = true
    for (const subscription of this.#subscriptions) subscription.close()
    for (const { subscription } of this.#joining) subscription.close()
    this.#subscriptions = []
    this.#joining = []
  }

  #joinUpTo(seq: number): void {
    const [there, missing] = [this.#joining.filter(({ after }) => after <= seq), this.#joining.filter(({ after }) => after > seq)]
    this.#joining = missing
    for (const { subscription } of there) this.#join(subscription)
  }

  #join(subscription: Subscription): void {
    for (const piece of this.#texts.pieces()) subscription.push(piece)
    this.#subscriptions = [...this.#subscriptions, subscription]
  }
}

/** Not `'seq' in event`: it is slow for objects of many shapes, and every event comes by here. */
const isDurable = (event: InteractionEvent | QueueEvent): event is InteractionEvent =>
  event.type !== 'interaction.queue.joined' && event.type !== 'interaction.queue.left'
