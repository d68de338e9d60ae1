import type { AgentLimits } from '../../contracts/index.ts'
import type { OpenTurn, SessionState } from '../state.ts'

// What limits leave. A session is bound by its own limits and by those of every ancestor; each limit is one account.

/** The only list of limits on tokens, cost and time. A new one needs an amount in `usedOf`. */
export const resourceOf = { maxTokens: 'tokens', maxSessionTokens: 'tokens', maxCostUsd: 'cost', timeBudget: 'time' } as const

type AccountKey = keyof typeof resourceOf
export type Resource = (typeof resourceOf)[AccountKey]

export const accountKeys = Object.keys(resourceOf) as readonly AccountKey[]
const outputKeys = accountKeys.filter((key) => resourceOf[key] !== 'time')

/** One limit, and what it leaves: tokens, US dollars or milliseconds. */
export interface Account {
  readonly key: AccountKey
  readonly limit: number
  readonly left: number
  /** The agent that has the limit. */
  readonly agent: string
  readonly isRoot: boolean
  /** Requests in flight of other sessions under this limit: they may give a part of their reservation back. */
  readonly inFlight: number
  /** Sessions under this limit that have no request in flight, this one included. */
  readonly sharers: number
}

/** What the ancestors of a session leave to it. */
export type Headroom = readonly Account[]
export const unlimited: Headroom = []

/** Whether tokens, cost or time are limited. */
export const isLimited = (limits: AgentLimits): boolean => hasAny(limits, accountKeys)
/** Whether a limit bounds the output of a model. */
export const isOutputLimited = (limits: AgentLimits): boolean => hasAny(limits, outputKeys)

function hasAny(limits: AgentLimits, keys: readonly AccountKey[]): boolean {
  for (const key of keys) if (limits[key] !== undefined) return true
  return false
}

type Spender = Pick<SessionState, 'agent' | 'parent' | 'spent'>
type Spending = Pick<OpenTurn, 'spent' | 'paidUsd' | 'startedAt' | 'idleMs' | 'waiting'>

/** What the session's own limits leave. Allocates nothing if there are none. */
export function ownAccounts(state: Spender, turn: Spending, now: number): Headroom {
  const { agent, parent } = state
  if (!isLimited(agent.limits)) return unlimited
  const accounts: Account[] = []
  for (const key of accountKeys) {
    const limit = agent.limits[key]
    if (limit === undefined) continue
    const left = limit - usedOf(key, { state, turn, now })
    accounts.push({ key, limit, left, agent: agent.name, isRoot: !parent, inFlight: 0, sharers: 1 })
  }
  return accounts
}

function usedOf(key: AccountKey, { state, turn, now }: { state: Spender; turn: Spending; now: number }): number {
  switch (key) {
    case 'maxTokens':
      return turn.spent.usage.input + turn.spent.usage.output
    case 'maxSessionTokens':
      return state.spent.usage.input + state.spent.usage.output
    case 'maxCostUsd':
      return turn.paidUsd
    case 'timeBudget':
      return workedMs(turn, now)
    default:
      return key satisfies never
  }
}

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
