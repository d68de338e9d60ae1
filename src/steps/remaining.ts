import type { RemainingBudget } from '../contracts/index.ts'
import { type OpenTurn, remainingTime, remainingTokens, type SessionState } from '../core/index.ts'

/** What a tool is told about what is left. */
export function remaining(state: SessionState, turn: OpenTurn, now: number): RemainingBudget {
  const { limits } = state.agent
  const tokens = remainingTokens(state, turn)
  const timeMs = remainingTime(state, turn, now)
  const left: { -readonly [Key in keyof RemainingBudget]: RemainingBudget[Key] } = { steps: Math.max(0, limits.maxToolTurns - turn.steps) }
  if (tokens !== undefined) left.tokens = Math.max(0, tokens)
  if (limits.maxCalls !== undefined) left.calls = Math.max(0, limits.maxCalls - turn.calls)
  if (timeMs !== undefined) left.timeMs = Math.max(0, timeMs)
  return left
}
