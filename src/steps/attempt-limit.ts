import type { ModelRequest } from '../contracts/index.ts'
import type { AskAction } from '../core/index.ts'
import type { ActiveSession } from './active-session.ts'

export interface AttemptLimit {
  readonly ms: number
  readonly reason: 'timeout' | 'budget'
}

/**
 * How long an attempt may take. A step that is not the last leaves the reserve for the last one untouched; where nothing can be
 * called, there is no other step.
 */
export function attemptLimit(session: ActiveSession, { last }: AskAction, { tools }: ModelRequest): AttemptLimit {
  const { llmTimeout } = session.state.agent.limits
  // The step began just now.
  const left = session.timeLeft(session.state.at)
  if (!left) return { ms: llmTimeout, reason: 'timeout' }
  const ms = last === undefined && tools.length > 0 ? left.usable : Math.max(0, left.ms)
  return ms < llmTimeout ? { ms, reason: 'budget' } : { ms: llmTimeout, reason: 'timeout' }
}
