// What one subscriber gets: one event at a time. Everything that is published meanwhile has that event as its cause.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { BusEvent, Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Subscriber } from '../kernel-types.ts'

const handlerTimeoutMs = 60_000

/** A handler may start what lives on, such as a connection. What that publishes later is no consequence. */
const consequenceMs = 5 * 60_000

interface Handling {
  readonly event: BusEvent
  readonly clock: Clock
  /** Monotonic. Absent while it is handled. */
  endedAt?: number
}
const current = new AsyncLocalStorage<Handling | undefined>()

/** The event that led here. */
export function currentEvent(): BusEvent | undefined {
  const handling = current.getStore()
  if (handling?.endedAt === undefined) return handling?.event
  return handling.clock.monotonic() - handling.endedAt <= consequenceMs ? handling.event : undefined
}
export const withoutCause = <Result>(work: () => Result): Result => current.run(undefined, work)
export const asConsequence = <Result>(handling: Handling, work: () => Result): Result => current.run(handling, work)

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
    const handling: Handling = { event, clock }
    this.handling = event
    try {
      for (const subscriber of this.subscribers)
        if (subscriber.name === event.name)
          await withinTime(() => asConsequence(handling, () => subscriber.handle(structuredClone(event))), clock)
      return undefined
    } catch (error) {
      return messageOf(error)
    } finally {
      this.handling = undefined
      handling.endedAt = clock.monotonic()
    }
  }
}

async function withinTime(work: () => unknown, clock: Clock): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(handlerTimeoutMs, () => reject(new Error('no answer within 60 s')))
  await Promise.race([Promise.resolve().then(work), timeout]).finally(cancel)
}
