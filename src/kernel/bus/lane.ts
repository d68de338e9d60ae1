// What one subscriber gets: one event at a time. Everything that is published meanwhile has that event as its cause.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { BusEvent, Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { withinTime } from '../shared/background-work.ts'
import type { Subscriber } from '../shared/kernel-types.ts'

const handlerTimeoutMs = 60_000

const consequenceMs = 5 * 60_000

interface Handling {
  readonly cause: BusEvent
  /** A handler may start what lives on, such as a connection. What that publishes later is no consequence. */
  isOver(): boolean
}
const current = new AsyncLocalStorage<Handling | undefined>()

/** The event that led here. */
export function currentEvent(): BusEvent | undefined {
  const handling = current.getStore()
  return handling?.isOver() ? undefined : handling?.cause
}
export const withoutCause = <Result>(work: () => Result): Result => current.run(undefined, work)

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
  readonly #clock: Clock
  #last: Promise<unknown> = Promise.resolve()

  constructor(id: string, clock: Clock) {
    this.id = id
    this.#clock = clock
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

  /** The reason of a failure. `cause`: of everything that the handlers publish. */
  async handle(event: BusEvent, cause: BusEvent): Promise<string | undefined> {
    const clock = this.#clock
    let endedAt = Number.POSITIVE_INFINITY
    const handling: Handling = { cause, isOver: () => clock.monotonic() - endedAt > consequenceMs }
    this.handling = cause
    try {
      for (const subscriber of this.subscribers)
        if (subscriber.name === event.name)
          await withinTime(() => current.run(handling, () => subscriber.handle(structuredClone(event))), { clock, ms: handlerTimeoutMs })
      return undefined
    } catch (error) {
      return messageOf(error)
    } finally {
      this.handling = undefined
      endedAt = clock.monotonic()
    }
  }
}
