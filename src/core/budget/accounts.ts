import type { AgentLimits, AgentSpec, Spent } from '../../contracts/index.ts'

// What limits leave. A session is bound by its own limits and by those of every ancestor; each limit is one account.

export type AccountKey = 'maxTokens' | 'maxSessionTokens' | 'maxCostUsd' | 'timeBudget'
export type Resource = 'tokens' | 'cost' | 'time'

export const resourceOf: { readonly [Key in AccountKey]: Resource } = {
  maxTokens: 'tokens',
  maxSessionTokens: 'tokens',
  maxCostUsd: 'cost',
  timeBudget: 'time',
}

/** One limit, and what it leaves: tokens, US dollars or milliseconds. */
export interface Account {
  readonly key: AccountKey
  readonly limit: number
  readonly left: number
  /** Whose limit it is. */
  readonly agent: string
  readonly isRoot: boolean
  /** Requests of other sessions under this limit that are in flight: what they reserved may come back. */
  readonly inFlight: number
  /** Sessions under this limit that have no request in flight, this one included. */
  readonly sharers: number
}

/** What the ancestors of a session leave to it, beside its own limits. */
export type Headroom = readonly Account[]
export const unlimited: Headroom = []

/** Whether tokens, money or time are limited. */
export const isLimited = ({ maxTokens, maxSessionTokens, maxCostUsd, timeBudget }: AgentLimits): boolean =>
  (maxTokens ?? maxSessionTokens ?? maxCostUsd ?? timeBudget) !== undefined

/** A session, as far as limits are concerned, and its open turn. */
interface Spender {
  readonly agent: AgentSpec
  /** The call that it is a child of. */
  readonly parent: unknown
  readonly spent: Spent
}
interface Spending {
  readonly spent: Spent
  readonly paidUsd: number
  readonly startedAt: number
  readonly idleMs: number
  readonly waiting: { readonly kind: 'no' } | { readonly kind: 'approval' | 'suspended'; readonly since: number }
}

/** What a session's own limits leave. Nothing is allocated where it has none. */
export function ownAccounts({ agent, parent, spent }: Spender, turn: Spending, now: number): Headroom {
  const { limits } = agent
  if (!isLimited(limits)) return unlimited
  const accounts: Account[] = []
  const add = (key: AccountKey, used: number): void => {
    const limit = limits[key]
    if (limit === undefined) return
    accounts.push({ key, limit, left: limit - used, agent: agent.name, isRoot: !parent, inFlight: 0, sharers: 1 })
  }
  add('maxTokens', turn.spent.usage.input + turn.spent.usage.output)
  add('maxSessionTokens', spent.usage.input + spent.usage.output)
  add('maxCostUsd', turn.paidUsd)
  add('timeBudget', workedMs(turn, now))
  return accounts
}

/** Milliseconds of work that the turn has taken. */
export const workedMs = ({ startedAt, idleMs, waiting }: Spending, now: number): number =>
  now - startedAt - idleMs - (waiting.kind === 'no' ? 0 : Math.max(0, now - waiting.since))

/** The account of a resource that leaves the least. */
export function tightestAccount(accounts: Headroom, resource: Resource): Account | undefined {
  let found: Account | undefined
  for (const account of accounts)
    if (resourceOf[account.key] === resource && (found === undefined || account.left < found.left)) found = account
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

export const minDefined = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
