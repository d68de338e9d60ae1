import type { RemainingBudget } from '../contracts/index.ts'
import { type OpenTurn, remainingTime, remainingTokens, type SessionState } from '../core/index.ts'

/** What a tool is told about what is left. */
export function remaining(state: SessionState, turn: OpenTurn, now: number): RemainingBudget {
  const { limits } = state.agent
  const tokens = remainingTokens(state, turn)
  const timeMs = remainingTime(state, turn, now)
  return {
    steps: Math.max(0, limits.maxToolTurns - turn.steps),
    ...(tokens !== undefined && { tokens: Math.max(0, tokens) }),
    ...(limits.maxCalls !== undefined && { calls: Math.max(0, limits.maxCalls - turn.calls) }),
    ...(timeMs !== undefined && { timeMs: Math.max(0, timeMs) }),
  }
}
