import type { LastStepReason, Reservation } from '../../contracts/index.ts'
import type { OpenTurn, SessionState } from '../state/state.ts'
import { requestChars } from '../state/state-changes.ts'
import { allAccounts, type Headroom, tightestAccount, workedMs } from './accounts.ts'
import { grantOutput, lastAnswerTokens, minAnswerTokens, reservationOf, type WantedReply, wantedOutput } from './output-grant.ts'

// What the next step may spend. A reserve for a last answer is held back from the start, so that a turn
// that reaches a limit can still report what it found.

/** A request that would get less waits for reservations of other sessions to settle. */
const minGrantTokens = 8_192
const lastAnswerMs = 30_000
/** Size of the notice for a last step. */
const noticeChars = 128
/** After so many refusals of the same call, the next step is the last. */
const maxRepeats = 3

export type Allowance =
  /** `callTokens`: maximum output of a reply with calls, if that is less than for a text. */
  | { readonly kind: 'step'; readonly reservation: Reservation; readonly callTokens?: number }
  /** Only the reserve is left: answer now. */
  | { readonly kind: 'last'; readonly reason: LastStepReason; readonly reservation: Reservation }
  /** Requests of other sessions hold what it needs, and may give some of it back. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'none'; readonly reason: LastStepReason }

interface NextStep {
  /** Steps that the turn has taken. */
  readonly steps: number
  readonly model: string | undefined
  readonly headroom: Headroom
}

/** Pure: the current time is the time of the last event. */
export function allowance(state: SessionState, turn: OpenTurn, { steps, model = '', headroom }: NextStep): Allowance {
  const accounts = allAccounts(state, turn, { headroom, now: state.at })
  const timeLeft = tightestAccount(accounts, 'time')?.left
  // One step more than allowed, for an answer without tools.
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
      // A text ends the turn: nothing is held back for a step that reads it.
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

/** Without tools the step is the answer, and nothing is held back for another one. A JSON answer may be sent back. */
const isOnlyStep = ({ tools, agent }: SessionState, { calls }: OpenTurn): boolean =>
  tools.length === 0 && calls === 0 && agent.output.format !== 'json'

/** Why the next step must be the last one, apart from cost and tokens. */
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
  // `turn.calls` includes calls that were refused because of this limit.
  return maxCalls !== undefined && turn.calls > maxCalls ? 'calls' : undefined
}

/** An upper bound: new text may have more tokens for its length than the text so far. */
const maxInputTokens = (state: SessionState): number => Math.ceil((requestChars(state) + noticeChars) / Math.min(4, state.charsPerToken))

/** For one more request with the whole history, and its answer. */
export const lastAnswerReservation = (state: SessionState): Reservation => ({ input: maxInputTokens(state), output: lastAnswerTokens })

/** Time at the end of a turn for the last answer: 30 s, at most a fifth. `left`: by the tightest limit. Rounded up, so that it can elapse. */
export const timeReserve = (turn: OpenTurn, left: number, now: number): number =>
  Math.ceil(Math.min(lastAnswerMs, Math.max(0, workedMs(turn, now) + left) / 5))
