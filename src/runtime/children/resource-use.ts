import type { SessionState } from '../../core/index.ts'

/** What was taken or is set aside: it counts against everybody above. */
export interface ResourceUse {
  readonly tokens: number
  readonly costUsd: number
  /** Children that were started, and theirs. */
  readonly children: number
  /** Sessions with a request in flight, and others whose turn is open. */
  readonly inFlight: number
  readonly openTurns: number
}

export const noUse: ResourceUse = { tokens: 0, costUsd: 0, children: 0, inFlight: 0, openTurns: 0 }

export const addUse = (a: ResourceUse, b: ResourceUse): ResourceUse => ({
  tokens: a.tokens + b.tokens,
  costUsd: a.costUsd + b.costUsd,
  children: a.children + b.children,
  inFlight: a.inFlight + b.inFlight,
  openTurns: a.openTurns + b.openTurns,
})

export const subtractUse = (a: ResourceUse, b: ResourceUse): ResourceUse => ({
  tokens: a.tokens - b.tokens,
  costUsd: a.costUsd - b.costUsd,
  children: a.children - b.children,
  inFlight: a.inFlight - b.inFlight,
  openTurns: a.openTurns - b.openTurns,
})

export const isSameUse = (a: ResourceUse, b: ResourceUse): boolean =>
  a.tokens === b.tokens && a.costUsd === b.costUsd && a.children === b.children && a.inFlight === b.inFlight && a.openTurns === b.openTurns

/**
 * What a session has in its own account: its children that have ended are part of it, those at work are not. `isDriven`: whether a
 * request that is on record as begun is in flight, or was lost with the driver before.
 */
export function sessionUse({ turn }: SessionState, isDriven: boolean): ResourceUse {
  if (turn.kind === 'none') return noUse
  const { paidUsd, children } = turn
  const { usage } = turn.kind === 'open' ? turn.spent : turn.totals
  const tokens = usage.input + usage.output
  if (turn.kind === 'ended') return { tokens, costUsd: paidUsd, children, inFlight: 0, openTurns: 0 }
  if (turn.step.kind !== 'asking') return { tokens, costUsd: paidUsd, children, inFlight: 0, openTurns: 1 }
  const { input, output, costUsd = 0 } = turn.step.reservation
  const counted = isDriven ? { inFlight: 1, openTurns: 0 } : { inFlight: 0, openTurns: 1 }
  return { tokens: tokens + input + output, costUsd: paidUsd + costUsd, children, ...counted }
}
