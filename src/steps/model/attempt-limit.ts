import type { ModelFailure, ModelRequest, ReplyLimit } from '../../contracts/index.ts'
import { type AskAction, lostReplyText } from '../../core/index.ts'
import type { ActiveSession } from '../session/active-session.ts'

/** Maximum time of the attempt, and its source. */
export interface AttemptLimit {
  readonly ms: number
  readonly reason: 'replyTimeout' | 'budget'
}

/** A step leaves the time reserve to the last step. Without tools it is the last step itself. */
export function attemptLimit(session: ActiveSession, { last }: AskAction, { tools }: ModelRequest): AttemptLimit {
  const { replyTimeout } = session.state.agent.limits
  const left = session.timeLeft(session.state.at)
  if (!left) return { ms: replyTimeout, reason: 'replyTimeout' }
  const ms = last === undefined && tools.length > 0 ? left.usable : Math.max(0, left.ms)
  return ms < replyTimeout ? { ms, reason: 'budget' } : { ms: replyTimeout, reason: 'replyTimeout' }
}

const expired: { readonly [Limit in ReplyLimit]: string } = {
  llmTimeout: 'The model sent no output within',
  idleTimeout: 'The model stopped sending output for',
  replyTimeout: 'The model did not finish its reply within',
}

/** The failure of an interrupted attempt. */
export function interruption({ state }: ActiveSession, reason: string | undefined): ModelFailure {
  switch (reason) {
    case 'llmTimeout':
    case 'idleTimeout':
    case 'replyTimeout': {
      const message = `${expired[reason]} ${state.agent.limits[reason]} ms.`
      return { class: 'timeout', limit: reason, message, remedy: `Raise ${reason}.` }
    }
    case 'budget':
      return { class: 'budget', message: 'The time budget of the turn ran out while the model was answering.' }
    case 'released':
      return { class: 'lost', message: lostReplyText }
    default:
      return { class: 'cancelled', message: 'The turn was interrupted.' }
  }
}
