// What the server answers, as far as the page uses it. The routes of `src/server/rest` produce it.
import type { ApprovalRequest, OwnerUsage, Principal, Receipt, SessionEntry, UsageReport } from '../../contracts/index.ts'

/** A session in the list. */
export interface SessionDocument extends Omit<SessionEntry, 'createdAt' | 'updatedAt'> {
  /** ISO 8601. */
  readonly createdAt: string
  readonly updatedAt: string
  readonly cursor: number
}

export interface SessionPage {
  readonly sessions: readonly SessionDocument[]
  readonly next?: number
}

/** A message was stored. `message`: why nothing happens yet. */
export interface ReceiptDocument extends Receipt {
  readonly message?: string
}

/** What ended turns have used. */
export interface UsageDocument extends UsageReport {
  /** ISO 8601. */
  readonly since?: string
  /** Sessions that an older version recorded: they are not covered. */
  readonly unindexed?: number
}

/** A request of any session that waits for a person. */
export interface OpenRequest {
  readonly session: SessionDocument
  readonly request: ApprovalRequest
}

export interface ServerStatus {
  readonly version: string
  readonly principal: Principal
  readonly scopes: readonly string[]
  readonly agents: readonly string[]
  readonly models: readonly string[]
  /** The folder of the server, for its administrators. */
  readonly workspace?: string
  readonly budget?: {
    readonly tokensPerDay?: number
    readonly costUsdPerDay?: number
    readonly used: OwnerUsage
    readonly remaining: { readonly tokens?: number; readonly costUsd?: number }
    readonly renewsAt: string
  }
  /** What is not as it should be, such as an agent file that cannot be read. */
  readonly warnings?: readonly string[]
  /** For the user of the machine of the server: models that can be used, and those that agents need and that are missing. */
  readonly connect?: { readonly models: readonly ModelOffer[]; readonly missing: readonly string[] }
  /** Present in the demonstration: the model that answers, and those that could. */
  readonly demo?: DemoModels
}

interface DemoModels {
  readonly model: string
  readonly offers: readonly ModelOffer[]
  /** The process of the server. */
  readonly processId: number
}

export interface ModelOffer {
  /** `anthropic/claude-sonnet-5`. */
  readonly model: string
  /** Why it can be used: `ANTHROPIC_API_KEY`, `Ollama on this machine`. */
  readonly from: string
}

/** A provider of models. */
interface Provider {
  readonly name: string
  readonly label: string
  /** `local`: a server on the machine, without a key. */
  readonly access: 'key' | 'local'
  /** Those that can be used now. */
  readonly models: readonly ModelOffer[]
  /** Why there are none. */
  readonly problem?: string
  /** The variable of its key. */
  readonly variable?: string
  /** Where people create keys. */
  readonly keyPage?: string
}

export interface ProviderList {
  readonly providers: readonly Provider[]
  /** Where keys are stored. */
  readonly file: string
}

export interface ConnectedKey {
  readonly provider: string
  readonly label: string
  readonly model: string
  readonly notes: readonly string[]
}
