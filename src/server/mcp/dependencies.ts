import type { Clock, Ids, SchemaValidator } from '../../contracts/index.ts'
import type { AuditEntry } from '../http/index.ts'

export interface McpDependencies {
  readonly clock: Clock
  readonly ids: Ids
  /** The version of Troupe. */
  readonly version: string
  /** Checks arguments against the input schemas of agents. */
  readonly validator: SchemaValidator
  audit(entry: AuditEntry): Promise<void>
  /** Calls `changed` when agents were added, changed or removed. Returns a function that ends this. */
  onAgentsChange?(changed: () => void): () => void
  /** Unexpected errors, which clients do not see. */
  onError?(error: unknown): void
  /** The path below which the server is mounted. */
  readonly basePath?: string
  /** Also serves HTTP with SSE at `/mcp/sse`. WebSockets at `/mcp/ws` need `mcpUpgrade`, too. */
  readonly legacyTransports?: boolean
  readonly limits?: Partial<McpSessionLimits>
  /** Maximum size of one message. Default: that of the server, or 20 MB without one. */
  readonly maxBodyBytes?: number
}

/** Limits of connections that have a state: sessions of the revision 2025-11-25, SSE and WebSockets. */
export interface McpSessionLimits {
  readonly total: number
  readonly perToken: number
  /** Closed after this time without a request or an open stream. */
  readonly idleMs: number
}

export const defaultSessionLimits: McpSessionLimits = { total: 1_000, perToken: 100, idleMs: 30 * 60_000 }
export const defaultMaxBodyBytes = 20 * 1024 ** 2
/** Messages for one client that it has not read. */
export const maxUnsentBytes = 16 * 1024 ** 2
