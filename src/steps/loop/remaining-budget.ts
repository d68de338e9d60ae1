import type { RemainingBudget } from '../../contracts/index.ts'
import { allAccounts, tightestAccount } from '../../core/index.ts'
import type { ActiveSession } from './active-session.ts'

/** What the limits of the session and its ancestors leave, for tools. */
export function remainingBudget({ state, turn, headroom }: ActiveSession, timeLeft: number | undefined): RemainingBudget {
  const { limits } = state.agent
  const accounts = allAccounts(state, turn, { headroom, now: state.at })
  const tokens = tightestAccount(accounts, 'tokens')?.left
  const costUsd = tightestAccount(accounts, 'cost')?.left
  const left: { -readonly [Key in keyof RemainingBudget]: RemainingBudget[Key] } = { steps: Math.max(0, limits.maxToolTurns - turn.steps) }
  if (tokens !== undefined) left.tokens = Math.max(0, tokens)
  if (costUsd !== undefined) left.costUsd = Math.max(0, costUsd)
  if (limits.maxCalls !== undefined) left.calls = Math.max(0, limits.maxCalls - turn.calls)
  if (timeLeft !== undefined) left.timeMs = Math.max(0, timeLeft)
  return left
}
