import type { LastStepReason, Reservation } from '../../contracts/index.ts'
import type { OpenTurn, SessionState } from '../state.ts'
import { requestChars } from '../state-changes.ts'
import { allAccounts, type Headroom, tightestAccount, workedMs } from './accounts.ts'
import { grantOutput, lastAnswerTokens, minAnswerTokens, reservationOf, type WantedReply, wantedOutput } from './output-grant.ts'

// What a session may still spend. A reserve for the last answer is held back from the start, so that a turn
// which runs out can still say what it found.

/** A request that would be granted less waits for reservations of others to settle. */
const minGrantTokens = 8_192
const lastAnswerMs = 30_000
/** What a last step is told beside all that is there already. */
const noticeChars = 128
/** So many refusals of the same call, and the model is made to answer. */
const maxRepeats = 3
/** The part of a window that a request may take before the history is made shorter. */
const maxWindowShare = 0.8

export type Allowance =
  /** `callTokens`: a reply with calls may have so much output, where that is less than a text may have. */
  | { readonly kind: 'step'; readonly reservation: Reservation; readonly callTokens?: number }
  /** Only the reserve is left: answer now. */
  | { readonly kind: 'last'; readonly reason: LastStepReason; readonly reservation: Reservation }
  /** Others hold what it needs, and may give some of it back. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'none'; readonly reason: LastStepReason }

export interface NextStep {
  /** Steps that the turn has taken. */
  readonly steps: number
  readonly model: string | undefined
  readonly headroom: Headroom
}

/** What the next step may be. Pure: time is the time of the last event. */
export function allowance(state: SessionState, turn: OpenTurn, { steps, model = '', headroom }: NextStep): Allowance {
  const accounts = allAccounts(state, turn, { headroom, now: state.at })
  const timeLeft = tightestAccount(accounts, 'time')?.left
  // Beyond the steps that are allowed there is one more, for an answer without tools.
  if (steps > state.agent.limits.maxToolTurns) return { kind: 'none', reason: 'steps' }
  if (timeLeft !== undefined && timeLeft <= 0) return { kind: 'none', reason: 'time' }
  const input = maxInputTokens(state)
  const known = { agents: state.agent.parameters.maxOutputTokens, models: state.maxOutputs[model], window: state.windows[model] }
  const reply: WantedReply = { input, want: wantedOutput(input, known), price: state.prices[model] }
  let forced = turn.last ?? lastStepReason(state, turn, { steps, timeLeft })
  if (forced === undefined) {
    if (accounts.length === 0) return { kind: 'step', reservation: reservationOf(reply, { output: reply.want }) }
    const isOnly = isOnlyStep(state, turn)
    const grant = grantOutput(accounts, reply, { floor: minGrantTokens, answers: isOnly ? 1 : 2 })
    if (grant.mustWait) return { kind: 'wait' }
    if (!grant.limit || (isOnly && grant.output >= minAnswerTokens)) return { kind: 'step', reservation: reservationOf(reply, grant) }
    if (grant.output >= minAnswerTokens) {
      // No other step reads a text, so nothing is held back for reading it.
      const text = grantOutput(accounts, reply, { floor: minGrantTokens, answers: 'text' })
      return { kind: 'step', reservation: reservationOf(reply, text), callTokens: grant.output }
    }
    forced = grant.limit
  }
  const last = grantOutput(accounts, reply, { floor: lastAnswerTokens, answers: 1 })
  if (last.mustWait) return { kind: 'wait' }
  if (last.limit && last.output < minAnswerTokens) return { kind: 'none', reason: last.limit }
  return { kind: 'last', reason: forced, reservation: reservationOf(reply, last) }
}

/** Where nothing can be called the step is the answer: nothing is held back for another one, unless the answer may be sent back. */
const isOnlyStep = ({ tools, agent }: SessionState, { calls }: OpenTurn): boolean =>
  tools.length === 0 && calls === 0 && agent.output.format !== 'json'

/** Why the coming step has to be the last one, money and tokens aside. */
function lastStepReason(
  state: SessionState,
  turn: OpenTurn,
  { steps, timeLeft }: { readonly steps: number; readonly timeLeft: number | undefined },
): LastStepReason | undefined {
  const { maxToolTurns, maxCalls } = state.agent.limits
  if (turn.cancel === 'stop') return 'stopped'
  if (turn.repeats >= maxRepeats) return 'repeats'
  if (timeLeft !== undefined && timeLeft <= timeReserve(turn, timeLeft, state.at)) return 'time'
  if (steps === maxToolTurns) return 'steps'
  // Those that were refused because there were too many are among them.
  return maxCalls !== undefined && turn.calls > maxCalls ? 'calls' : undefined
}

const estimatedInput = (state: SessionState): number => Math.ceil(requestChars(state) / state.charsPerToken)

/** Where a limit is to hold: what is new may be denser than what was counted so far. */
const maxInputTokens = (state: SessionState): number => Math.ceil((requestChars(state) + noticeChars) / Math.min(4, state.charsPerToken))

/** Whether a request would leave a model too little of its window. */
export const isWindowFull = (state: SessionState, model: string): boolean =>
  estimatedInput(state) > (state.windows[model] ?? Number.POSITIVE_INFINITY) * maxWindowShare

/** What is known of a window that a request turned out to be too long for. No model has less than two thousand tokens. */
export const learnedWindow = (state: SessionState, model: string): number =>
  Math.min(Math.max(2_000, estimatedInput(state)), state.windows[model] ?? Number.POSITIVE_INFINITY)

/** What it takes to read everything once more and answer. */
export const lastAnswerReservation = (state: SessionState): Reservation => ({ input: maxInputTokens(state), output: lastAnswerTokens })

/** The part of the turn's time in which only the last answer is given. `left`: whoever bounds it. Whole: a fraction is never over. */
export const timeReserve = (turn: OpenTurn, left: number, now: number): number =>
  Math.ceil(Math.min(lastAnswerMs, Math.max(0, workedMs(turn, now) + left) / 5))
