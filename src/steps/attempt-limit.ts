import { type AskAction, timeReserve } from '../core/index.ts'
import type { ActiveSession } from './active-session.ts'

export interface AttemptLimit {
  readonly ms: number
  readonly reason: 'timeout' | 'budget'
}

/** How long an attempt may take. A step that is not the last leaves the reserve for the last one untouched. */
export function attemptLimit(session: ActiveSession, { last }: AskAction): AttemptLimit {
  const { llmTimeout } = session.state.agent.limits
  // The step began just now.
  const timeLeft = session.timeLeftAt(session.state.at)
  const reserve = last === undefined ? timeReserve(session.state) : 0
  const usable = timeLeft === undefined ? Number.POSITIVE_INFINITY : Math.max(0, timeLeft - reserve)
  return usable < llmTimeout ? { ms: usable, reason: 'budget' } : { ms: llmTimeout, reason: 'timeout' }
}
