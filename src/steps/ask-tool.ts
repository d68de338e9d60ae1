import type { MaybePromise } from '../contracts/index.ts'
import { Interrupt, unlessInterrupted } from '../util/interrupt.ts'
import { isThenable } from '../util/is-thenable.ts'
import type { ActiveSession } from './active-session.ts'

/** Longer than a tool needs to look up what it is asked; one that takes longer has lost its answer. */
const patienceMs = 60_000

/** Tools' small questions must not end or hold up a session: where one throws, is interrupted or does not come back, the careful answer is taken. */
export function askTool<T>(session: ActiveSession, question: () => MaybePromise<T>, otherwise: T): MaybePromise<T> {
  try {
    const answer = question()
    return isThenable(answer) ? inTime(session, Promise.resolve(answer)).catch(() => otherwise) : answer
  } catch {
    return otherwise
  }
}

/** Whatever answers may never do so: then, or when the turn is interrupted, this throws. */
export async function inTime<T>(session: ActiveSession, answer: Promise<T>): Promise<T> {
  const patience = new Interrupt(session.interrupt)
  const cancel = session.clock.after(patienceMs, () => patience.fire('timeout'))
  try {
    return await unlessInterrupted(patience, answer)
  } finally {
    cancel()
    patience.close()
  }
}
