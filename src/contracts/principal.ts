import type { SessionId, TreeId } from './ids.ts'

export const principalKinds = ['person', 'token', 'agent', 'schedule', 'local'] as const
export type PrincipalKind = (typeof principalKinds)[number]

/** Who opened a session, or answers it. `local`: the user of this machine, who also owns the sessions of the command line. */
export interface Principal {
  /** Unique and stable: `local`, `token:ci`. */
  readonly id: string
  readonly kind: PrincipalKind
  /** For display. */
  readonly name?: string
}

export const localPrincipal: Principal = { id: 'local', kind: 'local' }

/** Where something happens, and for whom. */
export interface SessionPlace {
  /** The root: its id in `runtime.sessions`. */
  readonly treeId: TreeId
  /** The root, or one of its descendants. */
  readonly sessionId: SessionId
  /** `root`, `root/researcher#2`. */
  readonly agentPath: string
  /** Who opened the root. */
  readonly principal: Principal | undefined
}

/** What the sessions of one owner may use together in a day (UTC). */
export interface OwnerBudget {
  readonly tokensPerDay?: number
  readonly costUsdPerDay?: number
}
