import type { MaybePromise } from '../../contracts/index.ts'
import { Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import type { ActiveSession } from '../session/active-session.ts'

const defaultTimeoutMs = 60_000

/** Asks a tool about a call (approval, view, lane). Returns `fallback` if it throws, times out, or the turn stops. */
export function askTool<T>(session: ActiveSession, question: () => MaybePromise<T>, fallback: T): MaybePromise<T> {
  try {
    const answer = question()
    if (!isThenable(answer)) return answer
    const ms = Math.min(defaultTimeoutMs, session.timeLeft()?.usable ?? defaultTimeoutMs)
    return withTimeout(session, Promise.resolve(answer), { ms, interrupt: stopInterrupt(session) }).catch(() => fallback)
  } catch {
    return fallback
  }
}

/** @throws after `ms`, or when `interrupt` fires. */
export async function withTimeout<T>(
  session: ActiveSession,
  answer: Promise<T>,
  { ms, interrupt }: { readonly ms: number; readonly interrupt: Interrupt } = { ms: defaultTimeoutMs, interrupt: session.interrupt },
): Promise<T> {
  const deadline = new Interrupt(interrupt)
  const cancel = session.clock.after(ms, () => deadline.fire('timeout'))
  try {
    return await unlessInterrupted(deadline, answer)
  } finally {
    cancel()
    deadline.close()
  }
}

/** One for each turn. */
const stops = new WeakMap<Interrupt, Interrupt>()

/** Fires when the turn is interrupted or stopped. */
function stopInterrupt(session: ActiveSession): Interrupt {
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
  while (goesOn() && session.turn.cancel === 'no') await session.nextWake()
  if (goesOn()) stop.fire('stop')
}
