import type { LastStepReason, Reservation, TokenPrice } from '../contracts/index.ts'
import { requestChars } from './changes.ts'
import type { OpenTurn, SessionState } from './state.ts'

// What a session may still spend. A reserve for the last answer is held back from the start, so that a turn
// which runs out can still say what it found.

/** Output that an attempt may produce where the agent sets no cap of its own. */
const outputTokens = 4_096
const lastAnswerTokens = 1_024
/** Less than this is no answer. */
const leastAnswerTokens = 64
const lastAnswerMs = 30_000
/** What a last step is told beside all that is there already. */
const noticeChars = 128
/** So many refusals of the same call, and the model is made to answer. */
const mostRepeats = 3
/** The part of a window that a request may take before the history is made shorter. */
const fullest = 0.8

export type Allowance =
  | { readonly kind: 'step'; readonly reservation: Reservation }
  /** Only the reserve is left: answer now. */
  | { readonly kind: 'last'; readonly reason: LastStepReason; readonly reservation: Reservation }
  | { readonly kind: 'none'; readonly reason: LastStepReason }

/** What the ancestors of a session leave to it, beside its own limits. */
export interface Headroom {
  readonly tokens?: number
  readonly costUsd?: number
  readonly timeMs?: number
}
export const unbounded: Headroom = {}

export interface Wanted {
  /** Steps that the turn has taken. */
  readonly steps: number
  readonly model: string | undefined
  readonly headroom: Headroom
}

/** What the next step may be. Pure: time is the time of the last event. */
export function allowance(state: SessionState, turn: OpenTurn, wanted: Wanted): Allowance {
  const { maxToolTurns, maxCalls } = state.agent.limits
  const { steps, headroom } = wanted
  const timeLeft = least(remainingTime(state, turn, state.at), headroom.timeMs)
  if (steps >= maxToolTurns) return { kind: 'none', reason: 'steps' }
  if (timeLeft !== undefined && timeLeft <= 0) return { kind: 'none', reason: 'time' }
  const affordable = affordableStep(state, turn, wanted)
  if (affordable.kind !== 'step')
    return turn.last !== undefined && affordable.kind === 'last' ? { ...affordable, reason: turn.last } : affordable
  const { reservation } = affordable
  const last = (reason: LastStepReason): Allowance => ({ kind: 'last', reason, reservation })
  if (turn.last !== undefined) return last(turn.last)
  if (turn.cancel === 'stop') return last('stopped')
  if (turn.repeats >= mostRepeats) return last('repeats')
  if (timeLeft !== undefined && timeLeft <= timeReserve(turn, timeLeft, state.at)) return last('time')
  // A model that has no tools may still call some; it is made to answer like any other.
  const mayCall = state.tools.length > 0 || turn.calls > 0
  if (mayCall && steps === maxToolTurns - 1) return last('steps')
  if (mayCall && maxCalls !== undefined && turn.calls >= maxCalls) return last('calls')
  return affordable
}

const estimatedInput = (state: SessionState): number => Math.ceil(requestChars(state) / state.charsPerToken)

/** Where a limit is to hold: what is new may be denser than what was counted so far. */
const mostInput = (state: SessionState): number => Math.ceil((requestChars(state) + noticeChars) / Math.min(4, state.charsPerToken))

/** Whether a request would leave a model too little of its window. */
export const isCrowded = (state: SessionState, model: string): boolean =>
  estimatedInput(state) > (state.windows[model] ?? Number.POSITIVE_INFINITY) * fullest

/** What is known of a window that a request turned out to be too long for. No model has less than two thousand tokens. */
export const learntWindow = (state: SessionState, model: string): number =>
  Math.min(Math.max(2_000, estimatedInput(state)), state.windows[model] ?? Number.POSITIVE_INFINITY)

/** What it takes to read everything once more and answer. */
export const lastAnswer = (state: SessionState): Reservation => ({ input: mostInput(state), output: lastAnswerTokens })

/** Milliseconds of work that the turn has taken. */
const worked = ({ startedAt, idleMs, waiting }: OpenTurn, now: number): number =>
  now - startedAt - idleMs - (waiting.kind === 'no' ? 0 : Math.max(0, now - waiting.since))

/** Milliseconds of work that the turn still has by its own limit, or `undefined` where it has none. */
export function remainingTime({ agent: { limits } }: SessionState, turn: OpenTurn, now: number): number | undefined {
  return limits.timeBudget === undefined ? undefined : limits.timeBudget - worked(turn, now)
}

/** The part of the turn's time in which only the last answer is given. `left`: whoever bounds it. Whole: a fraction is never over. */
export const timeReserve = (turn: OpenTurn, left: number, now: number): number =>
  Math.ceil(Math.min(lastAnswerMs, Math.max(0, worked(turn, now) + left) / 5))

/** Tokens that the turn still has, or `undefined` where it has no limit. */
export function remainingTokens(state: SessionState, turn: OpenTurn): number | undefined {
  const { maxTokens, maxSessionTokens } = state.agent.limits
  const ofTurn = maxTokens === undefined ? undefined : maxTokens - turn.spent.usage.input - turn.spent.usage.output
  const ofSession = maxSessionTokens === undefined ? undefined : maxSessionTokens - state.spent.usage.input - state.spent.usage.output
  return least(ofTurn, ofSession)
}

/** Money that the turn still has, or `undefined` where it has no limit. */
export function remainingCost(state: SessionState, turn: OpenTurn): number | undefined {
  const { maxCostUsd } = state.agent.limits
  return maxCostUsd === undefined ? undefined : maxCostUsd - turn.paidUsd
}

/** How much output a purse pays for: in a step that leaves the last answer possible, and in the last one. */
interface Purse {
  readonly reason: 'tokens' | 'cost'
  readonly normal: number
  readonly last: number
}

/**
 * A normal step is allowed while, after it, the history could be read once more for the last answer.
 * Its output is capped by what is left, so that an attempt cannot overspend by talking.
 */
function affordableStep(state: SessionState, turn: OpenTurn, { model, headroom }: Wanted): Allowance {
  const input = mostInput(state)
  const wanted = state.agent.parameters.maxOutputTokens ?? outputTokens
  const price = model === undefined ? undefined : state.prices[model]
  const reserve = (output: number): Reservation =>
    price ? { input, output, costUsd: input * price.input + output * price.output } : { input, output }

  const tokens = least(remainingTokens(state, turn), headroom.tokens)
  const cost = price && least(remainingCost(state, turn), headroom.costUsd)
  if (tokens === undefined && cost === undefined) return { kind: 'step', reservation: reserve(wanted) }
  const ofTokens = tokens === undefined ? bottomless : purse('tokens', tokens, { input, price: { input: 1, output: 1 } })
  const ofCost = price && cost !== undefined ? purse('cost', cost, { input, price }) : bottomless
  const { last, reason } = ofCost.last < ofTokens.last ? ofCost : ofTokens
  if (last < leastAnswerTokens) return { kind: 'none', reason }
  const tighter = ofCost.normal < ofTokens.normal ? ofCost : ofTokens
  const output = Math.min(wanted, tighter.normal)
  if (output >= leastAnswerTokens) return { kind: 'step', reservation: reserve(output) }
  return { kind: 'last', reason: tighter.reason, reservation: reserve(Math.min(wanted, last)) }
}

const bottomless: Purse = { reason: 'tokens', normal: Number.POSITIVE_INFINITY, last: Number.POSITIVE_INFINITY }

function purse(reason: Purse['reason'], left: number, { input, price }: { readonly input: number; readonly price: TokenPrice }): Purse {
  const reading = input * price.input
  const buys = (sum: number): number => (price.output > 0 ? Math.floor(sum / price.output) : sum >= 0 ? Number.MAX_SAFE_INTEGER : 0)
  return { reason, normal: buys((left - 2 * reading - lastAnswerTokens * price.output) / 2), last: buys(left - reading) }
}

export const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
