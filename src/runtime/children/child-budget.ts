import {
  type Account,
  type Headroom,
  isLimited,
  lastAnswer,
  ownAccounts,
  type SessionState,
  timeReserve,
  unbounded,
} from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { Branch } from './open-session.ts'
import type { Use } from './resource-use.ts'

// What a session may spend is bounded by each of its ancestors, less whatever is at work below that one.

export function roomOf(branch: Branch): Headroom {
  let room: Account[] | undefined
  for (let at = branch.above; at; at = at.above) {
    if (!at.session || !isLimited(at.session.state.agent.limits)) continue
    room ??= []
    room.push(...within(at.session, at.below))
  }
  return room ?? unbounded
}

/** Somebody above has limits that hold for whoever is below, too. */
export function isBoundFromAbove(branch: Branch): boolean {
  for (let at = branch.above; at; at = at.above) if (at.session && isLimited(at.session.state.agent.limits)) return true
  return false
}

/** Somebody in this line pays attention to money. */
export function isCostBound(branch: Branch): boolean {
  for (let at: Branch | undefined = branch; at; at = at.above) if (at.session?.state.agent.limits.maxCostUsd !== undefined) return true
  return false
}

/** What the limits of a session leave to those below it: less what they have taken, and what it needs itself for a last answer. */
function within({ state, turn, now }: ActiveSession, below: Use): readonly Account[] {
  const reserve = answerReserve(state)
  const sharers = Math.max(1, below.open)
  return ownAccounts(state, turn, now).map((account) => {
    const { key, left } = account
    switch (key) {
      case 'maxTokens':
      case 'maxSessionTokens':
        return { ...account, left: left - below.tokens - reserve.tokens, inFlight: below.asking, sharers }
      case 'maxCostUsd':
        return { ...account, left: left - below.costUsd - reserve.costUsd, inFlight: below.asking, sharers }
      case 'timeBudget':
        return { ...account, left: left - timeReserve(turn, left, now) }
      default:
        return key satisfies never
    }
  })
}

/** What a parent needs for its last answer, at the price of the dearest model. */
function answerReserve(state: SessionState): { readonly tokens: number; readonly costUsd: number } {
  const { input, output } = lastAnswer(state)
  const costs = Object.values(state.prices).map((price) => input * price.input + output * price.output)
  return { tokens: input + output, costUsd: Math.max(0, ...costs) }
}
