import type { Clock } from '../../contracts/index.ts'

// Clients repeat a request whose connection broke. So a turn with tools of its client is interrupted only a moment after the client has
// left, unless another request follows it by then.

/** Clients that were tried repeat a request within two seconds. */
const pauseMs = 10_000

const departures = new Map<string, () => void>()

/** Interrupts the turn later. */
export function departed(sessionId: string, clock: Pick<Clock, 'after'>, interrupt: () => void): void {
  cameBack(sessionId)
  departures.set(
    sessionId,
    clock.after(pauseMs, () => {
      departures.delete(sessionId)
      interrupt()
    }),
  )
}

/** Another request follows the turn. */
export function cameBack(sessionId: string): void {
  departures.get(sessionId)?.()
  departures.delete(sessionId)
}
