import type { SessionState } from '../../core/index.ts'

/** What was taken or is set aside: it counts against everybody above. */
export interface Use {
  readonly tokens: number
  readonly costUsd: number
  /** Children that were started, and theirs. */
  readonly children: number
  /** Sessions with a request in flight, and others whose turn is open. */
  readonly asking: number
  readonly open: number
}

export const nothing: Use = { tokens: 0, costUsd: 0, children: 0, asking: 0, open: 0 }

export const plus = (a: Use, b: Use): Use => ({
  tokens: a.tokens + b.tokens,
  costUsd: a.costUsd + b.costUsd,
  children: a.children + b.children,
  asking: a.asking + b.asking,
  open: a.open + b.open,
})

export const minus = (a: Use, b: Use): Use => ({
  tokens: a.tokens - b.tokens,
  costUsd: a.costUsd - b.costUsd,
  children: a.children - b.children,
  asking: a.asking - b.asking,
  open: a.open - b.open,
})

export const isSame = (a: Use, b: Use): boolean =>
  a.tokens === b.tokens && a.costUsd === b.costUsd && a.children === b.children && a.asking === b.asking && a.open === b.open

/**
 * What a session has in its own account: its children that have ended are part of it, those at work are not. `isDriven`: whether a
 * request that is on record as begun is in flight, or was lost with the driver before.
 */
export function useOf({ turn }: SessionState, isDriven: boolean): Use {
  if (turn.kind === 'none') return nothing
  const { paidUsd, children } = turn
  const { usage } = turn.kind === 'open' ? turn.spent : turn.totals
  const tokens = usage.input + usage.output
  if (turn.kind === 'ended') return { tokens, costUsd: paidUsd, children, asking: 0, open: 0 }
  if (turn.step.kind !== 'asking') return { tokens, costUsd: paidUsd, children, asking: 0, open: 1 }
  const { input, output, costUsd = 0 } = turn.step.reservation
  const counted = isDriven ? { asking: 1, open: 0 } : { asking: 0, open: 1 }
  return { tokens: tokens + input + output, costUsd: paidUsd + costUsd, children, ...counted }
}
