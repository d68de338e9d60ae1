import type { LastStepReason, Reservation } from '../contracts/index.ts'
import type { OpenTurn, SessionState } from './state.ts'

// What a session may still spend. A reserve for the last answer is held back from the start, so that a turn
// which runs out can still say what it found.

/** Output that an attempt may produce where the agent sets no cap of its own. */
const outputTokens = 4_096
const lastAnswerTokens = 1_024
/** Less than this is no answer. */
const leastAnswerTokens = 64
const lastAnswerMs = 30_000

export type Allowance =
  | { readonly kind: 'step'; readonly reservation: Reservation }
  /** Only the reserve is left: answer now. */
  | { readonly kind: 'last'; readonly reason: LastStepReason; readonly reservation: Reservation }
  | { readonly kind: 'none'; readonly reason: LastStepReason }

/** What the next step may be, after `steps` of them. Pure: time is the time of the last event. */
export function allowance(state: SessionState, turn: OpenTurn, steps: number): Allowance {
  const { maxToolTurns, maxCalls } = state.agent.limits
  const timeLeft = remainingTime(state, turn, state.at)
  if (steps >= maxToolTurns) return { kind: 'none', reason: 'steps' }
  if (timeLeft !== undefined && timeLeft <= 0) return { kind: 'none', reason: 'time' }
  const tokens = tokenAllowance(state, turn)
  if (tokens.kind !== 'step') return turn.last !== undefined && tokens.kind === 'last' ? { ...tokens, reason: turn.last } : tokens
  const { reservation } = tokens
  const last = (reason: LastStepReason): Allowance => ({ kind: 'last', reason, reservation })
  if (turn.last !== undefined) return last(turn.last)
  if (turn.cancel === 'stop') return last('stopped')
  if (timeLeft !== undefined && timeLeft <= timeReserve(state)) return last('time')
  // A model that has no tools may still call some; it is made to answer like any other.
  const mayCall = state.tools.length > 0 || turn.calls > 0
  if (mayCall && steps === maxToolTurns - 1) return last('steps')
  if (mayCall && maxCalls !== undefined && turn.calls >= maxCalls) return last('calls')
  return tokens
}

function estimatedInput(state: SessionState): number {
  return Math.ceil((state.promptChars + state.historyChars) / state.charsPerToken)
}

/** Milliseconds of work that the turn still has at `now`, or `undefined` where it has no limit. */
export function remainingTime(state: SessionState, turn: OpenTurn, now: number): number | undefined {
  const { timeBudget } = state.agent.limits
  if (timeBudget === undefined) return undefined
  const waiting = turn.waiting.kind === 'no' ? 0 : Math.max(0, now - turn.waiting.since)
  return timeBudget - (now - turn.startedAt - turn.idleMs - waiting)
}

/** The part of the time budget in which only the last answer is given. */
export function timeReserve(state: SessionState): number {
  return Math.min(lastAnswerMs, (state.agent.limits.timeBudget ?? 0) / 5)
}

/** Tokens that the turn still has, or `undefined` where it has no limit. */
export function remainingTokens(state: SessionState, turn: OpenTurn): number | undefined {
  const { maxTokens, maxSessionTokens } = state.agent.limits
  const ofTurn = maxTokens === undefined ? undefined : maxTokens - turn.spent.usage.input - turn.spent.usage.output
  const ofSession = maxSessionTokens === undefined ? undefined : maxSessionTokens - state.spent.usage.input - state.spent.usage.output
  if (ofTurn === undefined) return ofSession
  return ofSession === undefined ? ofTurn : Math.min(ofTurn, ofSession)
}

/**
 * A normal step is allowed while, after it, the history could be read once more for the last answer.
 * Its output is capped by what is left, so that an attempt cannot overspend by talking.
 */
function tokenAllowance(state: SessionState, turn: OpenTurn): Allowance {
  const input = estimatedInput(state)
  const wanted = state.agent.parameters.maxOutputTokens ?? outputTokens
  const left = remainingTokens(state, turn)
  if (left === undefined) return { kind: 'step', reservation: { input, output: wanted } }
  if (left < input + leastAnswerTokens) return { kind: 'none', reason: 'tokens' }
  const afterStep = left - input - (input + lastAnswerTokens)
  const output = Math.min(wanted, Math.floor(afterStep / 2))
  if (output >= leastAnswerTokens) return { kind: 'step', reservation: { input, output } }
  return { kind: 'last', reason: 'tokens', reservation: { input, output: Math.min(wanted, left - input) } }
}
