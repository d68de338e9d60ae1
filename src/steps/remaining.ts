import type { RemainingBudget } from '../contracts/index.ts'
import { remainingTokens } from '../core/index.ts'
import type { ActiveSession } from './active-session.ts'

/** What a tool is told about what is left. */
export function remaining({ state, turn }: ActiveSession, timeLeft: number | undefined): RemainingBudget {
  const { limits } = state.agent
  const tokens = remainingTokens(state, turn)
  const left: { -readonly [Key in keyof RemainingBudget]: RemainingBudget[Key] } = { steps: Math.max(0, limits.maxToolTurns - turn.steps) }
  if (tokens !== undefined) left.tokens = Math.max(0, tokens)
  if (limits.maxCalls !== undefined) left.calls = Math.max(0, limits.maxCalls - turn.calls)
  if (timeLeft !== undefined) left.timeMs = Math.max(0, timeLeft)
  return left
}
