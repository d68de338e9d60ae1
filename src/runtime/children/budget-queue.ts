import type { ActiveSession, WaitTarget } from '../../steps/index.ts'
import type { OpenSession } from './open-sessions.ts'

interface Waiting {
  readonly ticket: number
  readonly session: ActiveSession
  settle(isIn: boolean): void
}

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
          if (session.decide().kind !== 'defer') return resolve(true)
          open.ticket ??= ++this.#tickets
          const settle = (isIn: boolean): void => {
            this.#waiting = this.#waiting.filter((other) => other !== waiting)
            resolve(isIn)
          }
          const waiting: Waiting = { ticket: open.ticket, session, settle }
          this.#waiting.splice(this.#waiting.findLastIndex(({ ticket }) => ticket < waiting.ticket) + 1, 0, waiting)
          tell?.('budget')
          interrupt.listen(() => settle(false))
          void session.nextWake().then(() => settle(true))
        }),
    }
  }

  /** Call it when a request has ended. */
  wakeReady(): void {
    if (this.#waiting.length === 0) return
    for (const { session, settle } of this.#waiting) if (session.decide().kind !== 'defer') settle(true)
  }
}
