import type { ActiveSession, WaitTarget } from '../../steps/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { OpenSession } from './open-sessions.ts'

interface Waiting {
  readonly ticket: number
  isReady(): boolean
  settle(isIn: boolean): void
}

/** It is kept while one waits again. */
export type Place = Pick<OpenSession, 'ticket'>

/**
 * Sessions of a tree whose next request waits until requests of other sessions release what they reserved of a shared budget.
 *
 * 1. A waiting session reserves nothing, and waits only while a request is in flight that ends with `wakeReady`: every wait ends.
 * 2. When a request ends, the sessions that can proceed are woken in order of arrival. Each decides again; one that is too late
 *    keeps its place.
 */
export class BudgetQueue {
  #waiting: Waiting[] = []
  #tickets = 0

  placeOf(open: OpenSession, session: ActiveSession): WaitTarget {
    return {
      enter: (interrupt, tell) =>
        new Promise((resolve) => {
          // The request it was to wait for may have ended meanwhile.
          const isReady = (): boolean => session.decide().kind !== 'defer'
          if (isReady()) return resolve(true)
          const settle = this.#add(open, isReady, resolve)
          tell?.('budget')
          interrupt.listen(() => settle(false))
          void session.nextWake().then(() => settle(true))
        }),
    }
  }

  /** For a session that is not created yet. Ends when it is ready, or with the interrupt. */
  enter(place: Place, isReady: () => boolean, interrupt: Interrupt): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = this.#add(place, isReady, resolve)
      interrupt.listen(() => settle(false))
    })
  }

  #add(place: Place, isReady: () => boolean, resolve: (isIn: boolean) => void): Waiting['settle'] {
    place.ticket ??= ++this.#tickets
    const settle = (isIn: boolean): void => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting)
      resolve(isIn)
    }
    const waiting: Waiting = { ticket: place.ticket, isReady, settle }
    this.#waiting.splice(this.#waiting.findLastIndex(({ ticket }) => ticket < waiting.ticket) + 1, 0, waiting)
    return settle
  }

  /** Call it when a request has ended. */
  wakeReady(): void {
    if (this.#waiting.length === 0) return
    for (const { isReady, settle } of this.#waiting) if (isReady()) settle(true)
  }
}
