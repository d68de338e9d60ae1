import type { OwnerBudget, Principal } from '../../contracts/index.ts'

/** `run`: start and continue sessions. `read`: see one's own. `approve`: answer requests. `admin`: all, and the sessions of everybody. */
export const scopes = ['run', 'read', 'approve', 'admin'] as const
export type Scope = (typeof scopes)[number]

export interface RateLimits {
  readonly requestsPerMinute?: number
  readonly requestsPerDay?: number
}

/** Who sends a request, and what they may do. */
export interface Caller {
  readonly principal: Principal
  readonly scopes: readonly Scope[]
  /** Names of agents; `*` at the end matches any rest. Absent: all. */
  readonly agents?: readonly string[]
  readonly budget?: OwnerBudget
  readonly rates?: RateLimits
}

export const isAdmin = ({ scopes: given }: Caller): boolean => given.includes('admin')

export function mayUseAgent({ agents }: Caller, name: string): boolean {
  if (!agents) return true
  return agents.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
