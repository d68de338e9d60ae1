// What one subscriber gets: one event at a time. Everything that is published meanwhile has that event as its cause.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { BusEvent, Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Subscriber } from '../kernel-types.ts'

const handlerTimeoutMs = 60_000

const current = new AsyncLocalStorage<BusEvent | undefined>()
/** The event that is being handled here. */
export const currentEvent = (): BusEvent | undefined => current.getStore()
/** Runs something as a consequence of an event. */
export const asConsequence = <Result>(event: BusEvent | undefined, work: () => Result): Result => current.run(event, work)

export class Lane {
  readonly id: string
  readonly subscribers = new Set<Subscriber>()
  handling: BusEvent | undefined
  /** A pass over the store is wanted. */
  isWoken = false
  /** The pass that runs. */
  pass: Promise<void> | undefined
  /** Events that are not durable and wait. */
  inMemory = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(id: string) {
    this.id = id
  }

  takes(name: string): boolean {
    return [...this.subscribers].some((each) => each.name === name)
  }

  /** After what was given before. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** The reason of a failure. */
  async handle(event: BusEvent, clock: Clock): Promise<string | undefined> {
    this.handling = event
    try {
      for (const subscriber of this.subscribers)
        if (subscriber.name === event.name)
          await withinTime(() => asConsequence(event, () => subscriber.handle(structuredClone(event))), clock)
      return undefined
    } catch (error) {
      return messageOf(error)
    } finally {
      this.handling = undefined
    }
  }
}

async function withinTime(work: () => unknown, clock: Clock): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(handlerTimeoutMs, () => reject(new Error('no answer within 60 s')))
  await Promise.race([Promise.resolve().then(work), timeout]).finally(cancel)
}
