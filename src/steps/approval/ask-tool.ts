import type { MaybePromise } from '../../contracts/index.ts'
import { Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import type { ActiveSession } from '../loop/active-session.ts'

/** Longer than a tool needs to look up what it is asked; one that takes longer has lost its answer. */
const patienceMs = 60_000

/**
 * Tools' small questions must not end or hold up a session: where one throws, takes longer than there is time, or does not
 * come back before the turn is to stop, the careful answer is taken.
 */
export function askTool<T>(session: ActiveSession, question: () => MaybePromise<T>, otherwise: T): MaybePromise<T> {
  try {
    const answer = question()
    if (!isThenable(answer)) return answer
    const ms = Math.min(patienceMs, session.timeLeft()?.usable ?? patienceMs)
    return inTime(session, Promise.resolve(answer), { ms, interrupt: stopOf(session) }).catch(() => otherwise)
  } catch {
    return otherwise
  }
}

/** Whatever answers may never do so: then, or when the turn is interrupted, this throws. */
export async function inTime<T>(
  session: ActiveSession,
  answer: Promise<T>,
  { ms, interrupt }: { readonly ms: number; readonly interrupt: Interrupt } = { ms: patienceMs, interrupt: session.interrupt },
): Promise<T> {
  const patience = new Interrupt(interrupt)
  const cancel = session.clock.after(ms, () => patience.fire('timeout'))
  try {
    return await unlessInterrupted(patience, answer)
  } finally {
    cancel()
    patience.close()
  }
}

/** By the interrupt of each turn: one for all that is asked in it. */
const stops = new WeakMap<Interrupt, Interrupt>()

/** Fires when the turn is to end, also where it is to end with a last answer. */
function stopOf(session: ActiveSession): Interrupt {
  const { interrupt } = session
  const known = stops.get(interrupt)
  if (known) return known
  const stop = new Interrupt(interrupt)
  stops.set(interrupt, stop)
  void fireWhenStopped(session, stop)
  return stop
}

async function fireWhenStopped(session: ActiveSession, stop: Interrupt): Promise<void> {
  const { interrupt } = session
  const goesOn = (): boolean => session.interrupt === interrupt && session.state.turn.kind === 'open'
  while (goesOn() && session.turn.cancel === 'no') await session.woken()
  if (goesOn()) stop.fire('stop')
}
