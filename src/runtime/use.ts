import type { SessionState } from '../core/index.ts'

/** What was taken or is set aside: it counts against everybody above. */
export interface Use {
  readonly tokens: number
  readonly costUsd: number
  /** Children that were started, and theirs. */
  readonly children: number
}

export const nothing: Use = { tokens: 0, costUsd: 0, children: 0 }

export const plus = (a: Use, b: Use): Use => ({
  tokens: a.tokens + b.tokens,
  costUsd: a.costUsd + b.costUsd,
  children: a.children + b.children,
})

export const minus = (a: Use, b: Use): Use => ({
  tokens: a.tokens - b.tokens,
  costUsd: a.costUsd - b.costUsd,
  children: a.children - b.children,
})

export const isSame = (a: Use, b: Use): boolean => a.tokens === b.tokens && a.costUsd === b.costUsd && a.children === b.children

/** What a session has in its own account: its children that have ended are part of it, those at work are not. */
export function useOf({ turn }: SessionState): Use {
  if (turn.kind === 'none') return nothing
  const { paidUsd, children } = turn
  const { usage } = turn.kind === 'open' ? turn.spent : turn.totals
  const taken = { tokens: usage.input + usage.output, costUsd: paidUsd, children }
  if (turn.kind === 'ended' || turn.step.kind !== 'asking') return taken
  const { input, output, costUsd = 0 } = turn.step.reservation
  return { tokens: taken.tokens + input + output, costUsd: paidUsd + costUsd, children }
}
