import type { FailedAttempt, OpenTurn, SessionState } from '../state/state.ts'
import { requestChars } from '../state/state-changes.ts'

// When the history is compacted.

/** A request that takes a larger share of the context window triggers compaction. */
const maxWindowShare = 0.8
/** After so many poor compactions in a row there are no more: each costs a request. */
const maxQuickCompactions = 4

const estimatedInput = (state: SessionState): number => Math.ceil(requestChars(state) / state.charsPerToken)

export const isWindowFull = (state: SessionState, model: string): boolean =>
  estimatedInput(state) > (state.windows[model] ?? Number.POSITIVE_INFINITY) * maxWindowShare

/** The window of a model after a request was too long for it. At least 2,000 tokens. */
export const learnedWindow = (state: SessionState, model: string): number =>
  Math.min(Math.max(2_000, estimatedInput(state)), state.windows[model] ?? Number.POSITIVE_INFINITY)

/** Whether there is something new to compact, and recent compactions helped. */
export const canCompact = (
  { history, compacted, turns, initialMessages }: SessionState,
  { steps, quickCompactions, goal }: OpenTurn,
): boolean =>
  (steps > 0 || turns > 1 || history.length > initialMessages.length + goal.length) &&
  history.length > compacted.length &&
  quickCompactions < maxQuickCompactions

/** Whether to shorten the history by rule: a provider found it too long, or the model failed to summarise it. */
export function mustCompact(state: SessionState, turn: OpenTurn, failed: FailedAttempt | undefined): boolean {
  if (!failed || failed.isVoid) return false
  if (failed.failure.class === 'context') return canCompact(state, turn) || state.compacted.helped
  return failed.compacts === true && failed.failure.class !== 'lost'
}
