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
import type { OpenSession } from './open-session.ts'
import type { ResourceUse } from './resource-use.ts'

// What a session may spend is bounded by each of its ancestors, less whatever is at work below that one.

export function headroomOf(open: OpenSession): Headroom {
  let headroom: Account[] | undefined
  for (let at = open.parent; at; at = at.parent) {
    if (!at.session || !isLimited(at.session.state.agent.limits)) continue
    headroom ??= []
    headroom.push(...accountsForChildren(at.session, at.descendants))
  }
  return headroom ?? unlimited
}

/** Somebody above has limits that hold for whoever is below, too. */
export function isBoundFromAbove(open: OpenSession): boolean {
  for (let at = open.parent; at; at = at.parent) if (at.session && isLimited(at.session.state.agent.limits)) return true
  return false
}

/** Somebody in this line pays attention to money. */
export function isCostBound(open: OpenSession): boolean {
  for (let at: OpenSession | undefined = open; at; at = at.parent) if (at.session?.state.agent.limits.maxCostUsd !== undefined) return true
  return false
}

/** What the limits of a session leave to those below it: less what they have taken, and what it needs itself for a last answer. */
function accountsForChildren({ state, turn, now }: ActiveSession, below: ResourceUse): readonly Account[] {
  const reserve = answerReserve(state)
  const sharers = Math.max(1, below.openTurns)
  return ownAccounts(state, turn, now).map((account) => {
    const { key, left } = account
    switch (key) {
      case 'maxTokens':
      case 'maxSessionTokens':
        return { ...account, left: left - below.tokens - reserve.tokens, inFlight: below.inFlight, sharers }
      case 'maxCostUsd':
        return { ...account, left: left - below.costUsd - reserve.costUsd, inFlight: below.inFlight, sharers }
      case 'timeBudget':
        return { ...account, left: left - timeReserve(turn, left, now) }
      default:
        return key satisfies never
    }
  })
}

/** What a parent needs for its last answer, at the price of the dearest model. */
function answerReserve(state: SessionState): { readonly tokens: number; readonly costUsd: number } {
  const { input, output } = lastAnswerReservation(state)
  const costs = Object.values(state.prices).map((price) => input * price.input + output * price.output)
  return { tokens: input + output, costUsd: Math.max(0, ...costs) }
}
