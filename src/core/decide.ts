import {
  type CheckedOutput,
  type ClientId,
  clientNameOf,
  type LastStepReason,
  type Reservation,
  type TurnEnding,
} from '../contracts/index.ts'
import { type Headroom, unlimited } from './budget/accounts.ts'
import { type Allowance, allowance } from './budget/allowance.ts'
import { heldCalls, runnableCalls } from './calls/call-order.ts'
import { canCompact, isWindowFull, mustCompact } from './context/compaction-threshold.ts'
import { type Exclusions, nextModel, noExclusions } from './next-model.ts'
import { type CallList, filterCalls } from './state/call-list.ts'
import {
  type AnsweredStep,
  type Call,
  type Cancel,
  type FailedAttempt,
  nextInput,
  type OpenCall,
  type OpenTurn,
  type PendingInput,
  type ReviewableCall,
  type SessionState,
  type StartedCall,
} from './state/state.ts'
import { takeInputs } from './state/state-changes.ts'

// Decides the next action from the state alone. No clock, no randomness, no ports.

export type Action =
  | { readonly kind: 'begin'; readonly input: PendingInput }
  | AskAction
  /** Check calls up to their recorded intent. */
  | { readonly kind: 'review'; readonly calls: readonly ReviewableCall[] }
  | { readonly kind: 'execute'; readonly calls: readonly StartedCall[] }
  /** End calls that never ran: the turn was cancelled, or has no step left that could read their results. */
  | { readonly kind: 'skip'; readonly calls: readonly (OpenCall | StartedCall)[]; readonly why: Exclude<Cancel, 'no'> | 'steps' }
  /** Shorten the history without a model. */
  | { readonly kind: 'compact' }
  /** Settle what a crashed driver left open. */
  | { readonly kind: 'recover' }
  /** Wait for a person. */
  | { readonly kind: 'wait' }
  /** Wait until a request of another session gives back a part of a shared budget. */
  | { readonly kind: 'defer' }
  /** The turn has an answer. Wait for the spawned children that still work. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'finish'; readonly ending: TurnEnding }
  | { readonly kind: 'idle' }

export interface AskAction {
  readonly kind: 'ask'
  readonly model: string
  readonly attempt: number
  readonly notBefore: number
  readonly reservation: Reservation
  /** Maximum output of a reply with calls, if that is less than the reservation for a text. */
  readonly callTokens?: number
  readonly absorbs: readonly ClientId[]
  /** Asks for a summary that replaces the history. */
  readonly compacts?: true
  /** All models are excluded for now. This one is tried anyway. */
  readonly probes?: true
  readonly last?: LastStepReason
}

interface DecisionContext {
  readonly headroom: Headroom
  readonly exclusions: Exclusions
}

export function decide(state: SessionState, headroom: Headroom = unlimited, exclusions: Exclusions = noExclusions): Action {
  const { turn } = state
  if (turn.kind !== 'open') {
    const input = nextInput(state)
    return input ? { kind: 'begin', input } : { kind: 'idle' }
  }
  switch (turn.step.kind) {
    case 'asking':
      return { kind: 'recover' }
    case 'calling':
      return decideCalls(state, turn, turn.step.calls)
    case 'answered':
      return decideAnswer(state, turn, { answered: turn.step, headroom, exclusions })
    case 'ready':
      return decideStep(state, turn, { failures: turn.step.failures, headroom, exclusions })
    default:
      return turn.step satisfies never
  }
}

function decideCalls({ agent, changes }: SessionState, turn: OpenTurn, calls: CallList<Call>): Action {
  if (calls.some((call) => call.kind === 'started' && call.orphaned)) return { kind: 'recover' }
  if (turn.cancel !== 'no') return decideCancelled(calls, turn.cancel)
  // Requests that already wait for a person stay open, even if the limit was lowered since.
  if (stepsTaken(turn) >= agent.limits.maxToolTurns) {
    const skipped = calls.filter((call): call is RequestedCall => call.kind === 'requested' && !isOfClient(call, changes))
    if (skipped.length > 0) return { kind: 'skip', calls: skipped, why: 'steps' }
  }
  const reviewable = filterCalls(calls, isReviewable)
  if (reviewable.length > 0) return { kind: 'review', calls: reviewable }
  const started = turn.waiting.kind === 'no' ? filterCalls(calls, isStarted) : runnableCalls(calls)
  return started.length > 0 ? { kind: 'execute', calls: started } : { kind: 'wait' }
}

/** Skips what has not begun. What has begun runs to its end. */
function decideCancelled(calls: CallList<Call>, why: Exclude<Cancel, 'no'>): Action {
  const held = heldCalls(calls)
  const skipped = calls.filter((call): call is OpenCall | StartedCall => isOpen(call) || held.has(call))
  return skipped.length > 0 ? { kind: 'skip', calls: skipped, why } : { kind: 'execute', calls: filterCalls(calls, isStarted) }
}

const isOpen = (call: Call): call is OpenCall => call.kind !== 'started' && call.kind !== 'ended'
type RequestedCall = Extract<Call, { kind: 'requested' }>

/** The client has its own loop. */
const isOfClient = ({ part }: RequestedCall, changes: SessionState['changes']): boolean =>
  changes?.clientTools?.some(({ name }) => name === clientNameOf(part.name)) ?? false
const isStarted = (call: Call): call is StartedCall => call.kind === 'started'
const isReviewable = (call: Call): call is ReviewableCall => call.kind === 'requested' || call.kind === 'approved' || call.kind === 'denied'

/** An answer ends the turn, unless steering input arrived and there is a step left for it, apart from the reserve. */
function decideAnswer(
  state: SessionState,
  turn: OpenTurn,
  { answered: { truncated, isFinal, cutBy, output }, headroom, exclusions }: DecisionContext & { readonly answered: AnsweredStep },
): Action {
  if (isFinal) return finish({ status: 'completed' })
  if (output?.ok === false) return decideRejected(state, turn, { output, cutBy, headroom, exclusions })
  const steered = takeInputs(state, steering(state))
  const hasStepLeft = turn.cancel === 'no' && turn.last === undefined && stepsTaken(turn) < state.agent.limits.maxToolTurns
  if (steered !== state && hasStepLeft && nextAllowance(steered, turn, headroom).kind !== 'none')
    return decideStep(state, turn, { failures: [], headroom, exclusions })
  if (turn.last !== undefined) return finish({ status: 'partial', reason: turn.last })
  if (turn.spawned.length > 0 && hasOpenReports(state, turn)) return decideRest(steered, turn, headroom)
  return finish(truncated ? { status: 'partial', reason: cutBy ?? 'tokens' } : { status: 'completed' })
}

/** Whether a spawned child still works, or has reported something that the answer does not know. */
const hasOpenReports = ({ inputs }: SessionState, { spawned }: OpenTurn): boolean =>
  spawned.some(({ isWorking }) => isWorking) || inputs.some(({ child }) => child !== undefined)

/** Waits for spawned children while there is a step left that could read what they report. */
function decideRest(state: SessionState, turn: OpenTurn, headroom: Headroom): Action {
  if (turn.cancel === 'interrupt') return finish({ status: 'interrupted', reason: 'interrupted' })
  if (turn.cancel === 'abort') return finish({ status: 'interrupted', reason: 'denied' })
  const next = nextAllowance(state, turn, headroom)
  return next.kind === 'last' || next.kind === 'none' ? finish({ status: 'partial', reason: next.reason }) : { kind: 'rest' }
}

interface Rejected extends DecisionContext, Pick<AnsweredStep, 'cutBy'> {
  readonly output: Extract<CheckedOutput, { ok: false }>
}

/**
 * Sends an invalid JSON answer back with its problems, after several tries to the next model. This is a retry, not a step; it
 * also follows a last answer if the budget affords it. If a limit forced or cut the answer, or allows no retry, the turn
 * fails because of that limit.
 */
function decideRejected(state: SessionState, turn: OpenTurn, { output, cutBy, headroom, exclusions }: Rejected): Action {
  const hasModel = state.agent.models.some((model) => !turn.dropped.includes(model))
  const next = nextAllowance(state, turn, headroom)
  if ((hasModel && next.kind !== 'none') || turn.cancel === 'interrupt' || turn.cancel === 'abort')
    return decideStep(state, turn, { failures: [], headroom, exclusions })
  const message = `The answer is not the requested JSON: ${output.problems.join('; ')}.`
  const limit = asLimit(turn.last ?? cutBy ?? (hasModel && next.kind === 'none' ? next.reason : undefined))
  if (limit !== undefined) return finish({ status: 'failed', reason: limit, message })
  return finish({ status: 'failed', reason: 'invalid_output', message, remedy: output.remedy })
}

const asLimit = (why: LastStepReason | undefined) => (why === 'stopped' || why === 'repeats' ? undefined : why)

const nextAllowance = (state: SessionState, turn: OpenTurn, headroom: Headroom): Allowance =>
  allowance(state, turn, { steps: stepsTaken(turn), model: state.agent.models[0], headroom })

/** An answer that was sent back is a retry, not a step. Those with calls of the client are counted by its loop. */
const stepsTaken = ({ steps, rejections, clientSteps }: OpenTurn): number => steps - rejections - (clientSteps?.count ?? 0)

function decideStep(
  state: SessionState,
  turn: OpenTurn,
  { failures, headroom, exclusions }: DecisionContext & { readonly failures: readonly FailedAttempt[] },
): Action {
  if (turn.cancel === 'interrupt') return finish({ status: 'interrupted', reason: 'interrupted' })
  if (turn.cancel === 'abort') return finish({ status: 'interrupted', reason: 'denied' })
  if (failures.length > 0 && mustCompact(state, turn, failures.at(-1))) return { kind: 'compact' }
  const next = nextModel({ agent: state.agent, at: state.at, dropped: turn.dropped, probed: turn.probed, failures, exclusions })
  if (!next) return finish(modelFailed(failures, turn))
  const { model, attempt, notBefore } = next
  const absorbs = state.inputs.length === 0 ? noInputs : steering(state)
  const steered = takeInputs(state, absorbs)
  // A retry belongs to the step that failed.
  const steps = failures.length > 0 ? stepsTaken(turn) - 1 : stepsTaken(turn)
  const allowed = allowance(steered, turn, { steps, model, headroom })
  if (allowed.kind === 'none') return finish({ status: 'partial', reason: allowed.reason })
  if (allowed.kind === 'wait') return { kind: 'defer' }
  const plain = { kind: 'ask', model, attempt, notBefore, reservation: allowed.reservation, absorbs } as const
  const limited = 'callTokens' in allowed ? { ...plain, callTokens: allowed.callTokens } : plain
  const ask = next.probes ? { ...limited, probes: next.probes } : limited
  if (isWindowFull(steered, model) && canCompact(state, turn))
    return allowed.kind === 'last' ? { kind: 'compact' } : { ...ask, absorbs: noInputs, compacts: true }
  if (allowed.kind === 'last') return { ...ask, last: allowed.reason }
  return isWindowFull(steered, model) ? { ...ask, last: 'context' } : ask
}

const noInputs: readonly ClientId[] = []

/** If a limit forced an answer and the model gave none, or a budget cut the reply, the reason is that limit, not the model. */
function modelFailed(failures: readonly FailedAttempt[], { last }: OpenTurn): TurnEnding {
  const failure = failures.at(-1)?.failure
  if (!failure) return { status: 'failed', reason: 'model', message: 'The agent has no model.', remedy: 'Set a model for the agent.' }
  const limit = failure.cutBy ?? (failure.noAnswer && asLimit(last))
  return {
    status: 'failed',
    reason: limit ?? 'model',
    message: failures.length > 1 ? `${failures.length} attempts failed; the last: ${failure.message}` : failure.message,
    ...(limit === undefined && failure.remedy !== undefined && { remedy: failure.remedy }),
    failure,
  }
}

const finish = (ending: TurnEnding): Action => ({ kind: 'finish', ending })
const steering = ({ inputs }: SessionState): readonly ClientId[] =>
  inputs.flatMap((input) => (input.mode === 'steer' ? [input.clientId] : []))
