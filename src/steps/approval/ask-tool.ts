import type { MaybePromise, Tool, ToolFailure } from '../../contracts/index.ts'
import { Interrupt, Interrupted } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { maxAnswerMs, withDeadline } from '../../util/with-deadline.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { type CallLimit, callLimit } from '../tools/call-limit.ts'

// Before a call runs, its tool is asked: for its approval, view and lane, and to check its arguments. Tools are third-party
// code: an answer is awaited for the time of the call at most, and not after the turn is stopped.

/** `late`: the tool did not answer in time. `ended`: the turn was interrupted, stopped or released. */
export type ToolAnswer<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  | { readonly kind: 'late'; readonly limit: CallLimit }
  | { readonly kind: 'ended' }

type TimedTool = Pick<Tool, 'timeoutMs'>

/** Rejects if the answer does. */
export async function waitForTool<T>(session: ActiveSession, tool: TimedTool, answer: PromiseLike<T>): Promise<ToolAnswer<T>> {
  const limit = answerLimit(session, tool)
  // A timer may fire a fraction early. The time must be over when the loop checks it.
  const ms = limit.by === 'budget' ? limit.ms + 1 : limit.ms
  try {
    return { kind: 'answered', answer: await withDeadline(answer, { clock: session.clock, ms, interrupt: stopInterrupt(session) }) }
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return error.reason === 'timeout' ? { kind: 'late', limit } : { kind: 'ended' }
  }
}

/** That of the call, at most a minute. */
function answerLimit(session: ActiveSession, tool: TimedTool): CallLimit {
  const limit = callLimit(tool, session.state.agent, session.timeLeft()?.usable ?? Number.POSITIVE_INFINITY)
  return limit.ms > maxAnswerMs ? { ms: maxAnswerMs, by: 'tool' } : limit
}

/** A call that did not run because the time budget of its turn ran out. */
export const outOfTime = (meanwhile: string): ToolFailure => ({
  class: 'budget',
  message: `The call was not run: the time budget ran out while ${meanwhile}.`,
  remedy: 'Answer with what you have.',
})

interface ToolQuestion<T> {
  ask(): MaybePromise<T>
  readonly fallback: T
}

/** Asks a tool about a call. Returns `fallback` if it throws, takes too long, or the turn stops. */
export function askTool<T>(session: ActiveSession, tool: TimedTool, { ask, fallback }: ToolQuestion<T>): MaybePromise<T> {
  try {
    const answer = ask()
    if (!isThenable(answer)) return answer
    return waitForTool(session, tool, answer).then(
      (found) => (found.kind === 'answered' ? found.answer : fallback),
      () => fallback,
    )
  } catch {
    return fallback
  }
}

/** Awaits a port of the program. Rejects after a minute, or when the turn is interrupted. */
export const withTimeout = <T>({ clock, interrupt }: ActiveSession, answer: Promise<T>): Promise<T> =>
  withDeadline(answer, { clock, ms: maxAnswerMs, interrupt })

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
