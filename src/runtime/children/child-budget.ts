import { addUsd, subtractUsd } from '../../contracts/index.ts'
import {
  type AgentAccount,
  type Headroom,
  isLimited,
  lastAnswerReservation,
  ownAccounts,
  priceOf,
  type SessionState,
  timeReserve,
  unlimited,
} from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { OpenSession, ResourceUse } from '../budgets/open-sessions.ts'

/**
 * What the ancestors of a session leave it: their limits, less what their open descendants have spent or reserved. A session that
 * works beside its spawned children shares its own limits with them.
 */
export function headroomOf(open: OpenSession): Headroom {
  let headroom: AgentAccount[] | undefined
  const { session, descendants } = open
  const turn = session?.state.turn
  if (session && turn?.kind === 'open' && turn.spawned.length > 0 && isLimited(session.state.agent.limits))
    headroom = accountsBesideChildren(session, descendants)
  for (let at = open.parent; at; at = at.parent) {
    if (!at.session || !isLimited(at.session.state.agent.limits)) continue
    headroom ??= []
    headroom.push(...accountsForChildren(at.session, at.descendants))
  }
  return headroom ?? unlimited
}

function accountsBesideChildren(
  { state, turn, now }: ActiveSession,
  { tokens, costUsd, inFlight, openTurns }: ResourceUse,
): AgentAccount[] {
  return ownAccounts(state, turn, now).flatMap((account) => {
    const { resource } = account
    const left = resource === 'tokens' ? account.left - tokens : subtractUsd(account.left, costUsd)
    return resource === 'time' ? [] : [{ ...account, left, inFlight, sharers: 1 + openTurns }]
  })
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
function accountsForChildren({ state, turn, now }: ActiveSession, descendants: ResourceUse): readonly AgentAccount[] {
  const reserve = answerReserve(state)
  const sharers = Math.max(1, descendants.openTurns)
  // A parent asks its model while children work only if it spawned them.
  const own = turn.step.kind === 'asking' ? turn.step.reservation : undefined
  const tokens = descendants.tokens + reserve.tokens + (own ? own.input + own.output : 0)
  const costUsd = addUsd(addUsd(descendants.costUsd, reserve.costUsd), own?.costUsd ?? 0)
  const inFlight = descendants.inFlight + (own ? 1 : 0)
  return ownAccounts(state, turn, now).map((account) => {
    const { left, resource } = account
    switch (resource) {
      case 'tokens':
        return { ...account, left: left - tokens, inFlight, sharers }
      case 'cost':
        return { ...account, left: subtractUsd(left, costUsd), inFlight, sharers }
      case 'time':
        return { ...account, left: left - timeReserve(turn, left, now) }
      default:
        return resource satisfies never
    }
  })
}

/** What all ancestors of a session need for their last answers. */
export function answersAbove(open: OpenSession | undefined): AnswerReserve {
  let sum = noReserve
  for (let at = open?.parent; at; at = at.parent) {
    if (!at.session) continue
    const { tokens, costUsd } = answerReserve(at.session.state)
    sum = { tokens: sum.tokens + tokens, costUsd: addUsd(sum.costUsd, costUsd) }
  }
  return sum
}

interface AnswerReserve {
  readonly tokens: number
  readonly costUsd: number
}

const noReserve: AnswerReserve = { tokens: 0, costUsd: 0 }

/** What a parent needs for its last answer, at the price of its most expensive model. */
function answerReserve(state: SessionState): AnswerReserve {
  const { input, output } = lastAnswerReservation(state)
  const costs = Object.values(state.prices).map((price) => priceOf(price, { input, output }))
  return { tokens: input + output, costUsd: Math.max(0, ...costs) }
}
