import {
  type Headroom,
  lastAnswer,
  least,
  remainingCost,
  remainingTime,
  remainingTokens,
  type SessionState,
  timeReserve,
  unbounded,
} from '../core/index.ts'
import type { ActiveSession } from '../steps/index.ts'
import type { Branch } from './branch.ts'
import type { Use } from './use.ts'

// What a session may spend is bounded by each of its ancestors, less whatever is at work below that one.

export function roomOf(branch: Branch): Headroom {
  let room: Headroom = unbounded
  for (let at = branch.above; at; at = at.above) if (at.session && isLimited(at.session)) room = within(room, at.session, at.below)
  return room
}

/** Somebody above has limits that hold for whoever is below, too. */
export function isBoundFromAbove(branch: Branch): boolean {
  for (let at = branch.above; at; at = at.above) if (at.session && isLimited(at.session)) return true
  return false
}

/** Somebody in this line pays attention to money. */
export function isCostBound(branch: Branch): boolean {
  for (let at: Branch | undefined = branch; at; at = at.above) if (at.session?.state.agent.limits.maxCostUsd !== undefined) return true
  return false
}

/** What is left of a room inside of another, less what is at work there. */
function within(room: Headroom, { state, turn, now }: ActiveSession, below: Use): Headroom {
  // What the parent needs to read everything once more and answer is not its children's.
  const reserve = answerReserve(state)
  const time = remainingTime(state, turn, now)
  return {
    ...bound('tokens', least(room.tokens, less(remainingTokens(state, turn), below.tokens + reserve.tokens))),
    ...bound('costUsd', least(room.costUsd, less(remainingCost(state, turn), below.costUsd + reserve.costUsd))),
    ...bound('timeMs', least(room.timeMs, time === undefined ? undefined : time - timeReserve(turn, time, now))),
  }
}

/** What a parent needs for its last answer, at the price of the dearest model. */
function answerReserve(state: SessionState): { readonly tokens: number; readonly costUsd: number } {
  const { input, output } = lastAnswer(state)
  const costs = Object.values(state.prices).map((price) => input * price.input + output * price.output)
  return { tokens: input + output, costUsd: Math.max(0, ...costs) }
}

/** Most parents bound their children by nothing but their own end. */
const isLimited = ({ state: { agent } }: ActiveSession): boolean =>
  (agent.limits.maxTokens ?? agent.limits.maxSessionTokens ?? agent.limits.maxCostUsd ?? agent.limits.timeBudget) !== undefined

const less = (left: number | undefined, used: number): number | undefined => (left === undefined ? undefined : left - used)
const bound = <Key extends keyof Headroom>(key: Key, value: number | undefined): Headroom => (value === undefined ? {} : { [key]: value })
