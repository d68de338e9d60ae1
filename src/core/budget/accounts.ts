import type { AgentLimits, OwnerBudget } from '../../contracts/index.ts'
import type { limitReasons } from '../../policy/limit-texts.ts'
import type { OpenTurn, SessionState } from '../state/state.ts'

// What limits leave. A session is bound by its own limits and by those of every ancestor; each limit is one account.

/** The only list of limits on tokens, cost and time. A new one needs a place in `isLimited` and `ownAccounts`. */
export const resourceOf = {
  maxTokens: 'tokens',
  maxSessionTokens: 'tokens',
  maxCostUsd: 'cost',
  timeBudget: 'time',
} as const satisfies Partial<typeof limitReasons>

type AccountKey = keyof typeof resourceOf
export type Resource = (typeof resourceOf)[AccountKey]

export const accountKeys = Object.keys(resourceOf) as readonly AccountKey[]

/** One limit, and what it leaves: tokens, US dollars or milliseconds. */
export type Account = AgentAccount | OwnerDayAccount

export interface AgentAccount extends LimitLeft {
  readonly key: AccountKey
  readonly resource: Resource
  /** The agent that has the limit. */
  readonly agent: string
  readonly isRoot: boolean
}

/** A budget of the owner of a session: the outermost ancestor of all trees of that owner. */
export interface OwnerDayAccount extends LimitLeft {
  readonly key: keyof OwnerBudget
  readonly resource: 'tokens' | 'cost'
  readonly owner: string
  /** Milliseconds since 1970. */
  readonly renewsAt: number
}

interface LimitLeft {
  readonly limit: number
  readonly left: number
  /** Requests in flight of other sessions under this limit: they may give a part of their reservation back. */
  readonly inFlight: number
  /** Sessions under this limit that have no request in flight, this one included. */
  readonly sharers: number
}

/** What the ancestors of a session leave to it. */
export type Headroom = readonly Account[]
const noAccounts: readonly AgentAccount[] = []
export const unlimited: Headroom = noAccounts

/** Whether a limit bounds the output of a model. Reads by name: a loop over the keys is slow, and every step asks several times. */
export const isOutputLimited = ({ maxTokens, maxSessionTokens, maxCostUsd }: AgentLimits): boolean =>
  maxTokens !== undefined || maxSessionTokens !== undefined || maxCostUsd !== undefined

/** Whether tokens, cost or time are limited. */
export const isLimited = (limits: AgentLimits): boolean => limits.timeBudget !== undefined || isOutputLimited(limits)

type Spender = Pick<SessionState, 'agent' | 'parent' | 'spent' | 'earlierTurns'>
type Spending = Pick<OpenTurn, 'spent' | 'paidUsd' | 'startedAt' | 'idleMs' | 'waiting'>

/** What the session's own limits leave. Allocates nothing if there are none. */
export function ownAccounts(state: Spender, turn: Spending, now: number): readonly AgentAccount[] {
  const { limits } = state.agent
  if (!isLimited(limits)) return noAccounts
  const { maxTokens, maxSessionTokens, maxCostUsd, timeBudget } = limits
  const accounts: AgentAccount[] = []
  if (maxTokens !== undefined) accounts.push(account(state, 'maxTokens', { limit: maxTokens, used: tokensOf(turn) }))
  if (maxSessionTokens !== undefined) accounts.push(account(state, 'maxSessionTokens', { limit: maxSessionTokens, used: tokensOf(state) }))
  if (maxCostUsd !== undefined) accounts.push(account(state, 'maxCostUsd', { limit: maxCostUsd, used: turn.paidUsd }))
  if (timeBudget !== undefined)
    accounts.push(account(state, 'timeBudget', { limit: timeBudget, used: workedMs(turn, now) + earlierMs(state) }))
  return accounts
}

/** Work of earlier turns that the time budget includes. */
const earlierMs = ({ agent, earlierTurns = [] }: Spender): number =>
  agent.spansTurns ? earlierTurns.reduce((sum, { totals, idleMs }) => sum + totals.durationMs - idleMs, 0) : 0

function account(
  { agent, parent }: Spender,
  key: AccountKey,
  { limit, used }: { readonly limit: number; readonly used: number },
): AgentAccount {
  return { key, resource: resourceOf[key], limit, left: limit - used, agent: agent.name, isRoot: !parent, inFlight: 0, sharers: 1 }
}

const tokensOf = ({ spent: { usage } }: Pick<Spender, 'spent'>): number => usage.input + usage.output

export const workedMs = ({ startedAt, idleMs, waiting }: Spending, now: number): number =>
  now - startedAt - idleMs - (waiting.kind === 'no' ? 0 : Math.max(0, now - waiting.since))

/** The account of a resource that leaves the least. */
export function tightestAccount(accounts: Headroom, resource: Resource): Account | undefined {
  let found: Account | undefined
  for (const account of accounts) if (account.resource === resource && (found === undefined || account.left < found.left)) found = account
  return found
}

/** Every account that binds a session: its own, and those of its ancestors. */
export function allAccounts(
  state: Spender,
  turn: Spending,
  { headroom, now }: { readonly headroom: Headroom; readonly now: number },
): Headroom {
  const own = ownAccounts(state, turn, now)
  if (headroom.length === 0) return own
  return own.length === 0 ? headroom : [...own, ...headroom]
}
