import {
  type Account,
  type Headroom,
  isLimited,
  lastAnswerReservation,
  ownAccounts,
  type SessionState,
  timeReserve,
  unlimited,
} from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { OpenSession, ResourceUse } from './open-sessions.ts'

/** What the ancestors of a session leave it: their limits, less what their open descendants have spent or reserved. */
export function headroomOf(open: OpenSession): Headroom {
  let headroom: Account[] | undefined
  for (let at = open.parent; at; at = at.parent) {
    if (!at.session || !isLimited(at.session.state.agent.limits)) continue
    headroom ??= []
    headroom.push(...accountsForChildren(at.session, at.descendants))
  }
  return headroom ?? unlimited
}

/** Whether an ancestor has limits. */
export function isBoundFromAbove(open: OpenSession): boolean {
  for (let at = open.parent; at; at = at.parent) if (at.session && isLimited(at.session.state.agent.limits)) return true
  return false
}

/** Whether the session or an ancestor has a cost limit. */
export function isCostBound(open: OpenSession): boolean {
  for (let at: OpenSession | undefined = open; at; at = at.parent) if (at.session?.state.agent.limits.maxCostUsd !== undefined) return true
  return false
}

/** What a session leaves to its descendants: its accounts, less what they use and what it needs for its last answer. */
function accountsForChildren({ state, turn, now }: ActiveSession, descendants: ResourceUse): readonly Account[] {
  const reserve = answerReserve(state)
  const sharers = Math.max(1, descendants.openTurns)
  return ownAccounts(state, turn, now).map((account) => {
    const { left, resource } = account
    switch (resource) {
      case 'tokens':
        return { ...account, left: left - descendants.tokens - reserve.tokens, inFlight: descendants.inFlight, sharers }
      case 'cost':
        return { ...account, left: left - descendants.costUsd - reserve.costUsd, inFlight: descendants.inFlight, sharers }
      case 'time':
        return { ...account, left: left - timeReserve(turn, left, now) }
      default:
        return resource satisfies never
    }
  })
}

/** What a parent needs for its last answer, at the price of its most expensive model. */
function answerReserve(state: SessionState): { readonly tokens: number; readonly costUsd: number } {
  const { input, output } = lastAnswerReservation(state)
  const costs = Object.values(state.prices).map((price) => input * price.input + output * price.output)
  return { tokens: input + output, costUsd: Math.max(0, ...costs) }
}
