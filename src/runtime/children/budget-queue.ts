import type { ActiveSession, WaitTarget } from '../../steps/index.ts'
import type { OpenSession } from './open-session.ts'

interface Waiting {
  readonly ticket: number
  readonly session: ActiveSession
  settle(isIn: boolean): void
}

/**
 * Sessions of a tree whose next request waits for what requests of others hold of a shared budget.
 *
 * 1. Who waits holds nothing, and waits only while a request is in flight whose end is looked at here: so every wait ends.
 * 2. Whenever a request has ended, those who can go on are woken in the order of arrival. Each decides again; one that came
 *    too late keeps its place.
 */
export class BudgetQueue {
  #waiting: Waiting[] = []
  #tickets = 0

  /** The place of one session in the line. */
  placeOf(open: OpenSession, session: ActiveSession): WaitTarget {
    return {
      enter: (interrupt, tell) =>
        new Promise((resolve) => {
          // What it was to wait for may have ended meanwhile.
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

  /** To be called when a request has ended. */
  wakeReady(): void {
    if (this.#waiting.length === 0) return
    for (const { session, settle } of this.#waiting) if (session.decide().kind !== 'defer') settle(true)
  }
}
