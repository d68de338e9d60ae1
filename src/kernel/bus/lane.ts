// What one subscriber gets.
//
// 1. One event at a time.
// 2. `deliver` runs again after each `wake`, also after one that comes while it runs.
// 3. Everything that is published while an event is handled has that event as its cause.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { BusEvent, Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { showDuration } from '../../util/parse-units.ts'
import type { Subscriber } from '../kernel-types.ts'

const handlerTimeoutMs = 60_000

const current = new AsyncLocalStorage<BusEvent | undefined>()
/** The event that is being handled here. */
export const currentEvent = (): BusEvent | undefined => current.getStore()
/** Runs something as a consequence of an event. */
export const asConsequence = <Result>(event: BusEvent | undefined, work: () => Result): Result => current.run(event, work)

export interface LaneOptions {
  readonly id: string
  readonly clock: Clock
  /** Does not reject. */
  readonly deliver: (lane: Lane) => Promise<void>
  readonly isOpen: () => boolean
}

export class Lane {
  readonly id: string
  /** Events that are not durable. */
  readonly inMemory: BusEvent[] = []
  readonly #options: LaneOptions
  readonly #subscribers = new Set<Subscriber>()
  #handling: BusEvent | undefined
  #isWoken = false
  #work: Promise<void> | undefined

  constructor(options: LaneOptions) {
    this.id = options.id
    this.#options = options
  }

  get handling(): BusEvent | undefined {
    return this.#handling
  }

  /** Resolves when nothing is handled. */
  get idle(): Promise<void> {
    return this.#work ?? Promise.resolve()
  }

  add(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber)
    this.wake()
    return () => void this.#subscribers.delete(subscriber)
  }

  takes(name: string): boolean {
    return this.#subscribersOf(name).length > 0
  }

  wake(): void {
    this.#isWoken = true
    // The event that is handled by the caller is no cause of what this subscriber gets.
    if (this.#options.isOpen()) this.#work ??= asConsequence(undefined, () => this.#deliver())
  }

  async #deliver(): Promise<void> {
    while (this.#isWoken && this.#options.isOpen()) {
      this.#isWoken = false
      await this.#options.deliver(this)
    }
    this.#work = undefined
  }

  /** The reason of a failure. */
  async handle(event: BusEvent): Promise<string | undefined> {
    this.#handling = event
    try {
      for (const subscriber of this.#subscribersOf(event.name))
        await this.#withinTime(() => asConsequence(event, () => subscriber.handle(structuredClone(event))))
      return undefined
    } catch (error) {
      return messageOf(error)
    } finally {
      this.#handling = undefined
    }
  }

  #subscribersOf(name: string): readonly Subscriber[] {
    return [...this.#subscribers].filter((each) => each.name === name)
  }

  async #withinTime(work: () => unknown): Promise<void> {
    let cancel = (): void => {}
    const timeout = new Promise<never>((_, reject) => {
      const late = (): void => reject(new Error(`no answer within ${showDuration(handlerTimeoutMs)}`))
      cancel = this.#options.clock.after(handlerTimeoutMs, late)
    })
    try {
      await Promise.race([Promise.resolve().then(work), timeout])
    } finally {
      cancel()
    }
  }
}
