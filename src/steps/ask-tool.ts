import type { MaybePromise } from '../contracts/index.ts'
import { unlessInterrupted } from '../util/interrupt.ts'
import { isThenable } from '../util/is-thenable.ts'
import type { ActiveSession } from './active-session.ts'

/** Tools' small questions must not end or hold up a session: where one throws or is interrupted, the careful answer is taken. */
export function askTool<T>(session: ActiveSession, question: () => MaybePromise<T>, otherwise: T): MaybePromise<T> {
  try {
    const answer = question()
    if (!isThenable(answer)) return answer
    return unlessInterrupted(session.interrupt, Promise.resolve(answer)).catch(() => otherwise)
  } catch {
    return otherwise
  }
}
