import type { ApprovalRule, Json, JsonObject, Problem, ReasoningEffort, SandboxPolicy } from '../../contracts/index.ts'
import type { Dialect } from '../../policy/foreign-tools.ts'
import type { Position } from '../values/source-text.ts'
import type { PermissionRule } from './permission-rules.ts'

export { type Dialect, dialects } from '../../policy/foreign-tools.ts'

/**
 * Names are ours: built-in tools, `server/tool`, `agent__name`, and patterns that end in `*`. `*` is every tool, and
 * a `*` before the slash is every server.
 */
export type ForeignTools = { readonly kind: 'all' } | { readonly kind: 'only'; readonly names: readonly string[] }

/** An MCP server that the file brings along, or, without a configuration, one that the session must know. */
export interface ForeignServer {
  readonly name: string
  /** As written, but variables are `${NAME}` and a local process is `stdio`. */
  readonly config?: JsonObject
}

/**
 * What a file in somebody else's format says, in our words. It never says more than the file does: what cannot be
 * taken over exactly is taken over stricter, and is told in `warnings`.
 */
export interface ForeignAgent {
  readonly dialect: Dialect
  readonly name: string
  readonly displayName?: string
  readonly description: string
  /** An example of the input. */
  readonly usage?: string
  /** Taken as it is; never a template. */
  readonly prompt: string
  /** In the order of trying. Omitted: whatever the session uses. */
  readonly models?: readonly string[]
  readonly tools: ForeignTools
  /** Not offered, whatever `tools` says; with a use in brackets, such as `edit_file(*.ipynb)`, not done. */
  readonly deniedTools: readonly string[]
  /** Offered, but a person is asked before each call. */
  readonly askTools: readonly string[]
  /** Not asked about, though `askTools` covers them. */
  readonly exemptTools?: readonly string[]
  /** What it may do with its shell where not all commands are alike: of the rules that fit one, the last counts. */
  readonly commandRules?: readonly ApprovalRule[]
  /** The only other agents that it may call. Omitted: those that `tools` lets it. */
  readonly agents?: readonly string[]
  readonly maxToolTurns?: number
  readonly timeBudgetMs?: number
  readonly temperature?: number
  readonly topP?: number
  readonly reasoning?: ReasoningEffort
  readonly mcpServers?: readonly ForeignServer[]
  readonly skills?: readonly string[]
  /** What its commands may do less than those of the session. */
  readonly sandbox?: Partial<SandboxPolicy>
  /** False: it is never chosen by another agent, only by a person. */
  readonly infer?: boolean
  readonly enabled: boolean
  /** What changes nothing here, as written. */
  readonly metadata: JsonObject
  readonly warnings: readonly Problem[]
}

/** What has been read so far. */
export interface Draft {
  name?: string
  displayName?: string
  description?: string
  usage?: string
  prompt?: string
  models?: readonly string[]
  tools: ForeignTools
  readonly denied: Set<string>
  readonly rules: PermissionRule[]
  commandRules?: readonly ApprovalRule[]
  agents?: readonly string[]
  skills?: readonly string[]
  sandbox?: Partial<SandboxPolicy>
  mcpServers?: readonly ForeignServer[]
  maxToolTurns?: number
  timeBudgetMs?: number
  temperature?: number
  topP?: number
  reasoning?: ReasoningEffort
  infer?: boolean
  enabled: boolean
  readonly metadata: Map<string, Json>
}

export const emptyDraft = (): Draft => ({ tools: { kind: 'all' }, denied: new Set(), rules: [], enabled: true, metadata: new Map() })

export interface ForeignSetting {
  readonly key: string
  readonly at: Position
  /** Null where nothing stands behind the key. */
  readonly value: unknown
  readonly valueAt: Position
}

/** A file, taken apart. */
export interface ForeignText {
  /** Where the settings begin. */
  readonly at: Position
  readonly settings: readonly ForeignSetting[]
  /** What stands below the settings, in formats where something does. */
  readonly prompt?: { readonly value: string; readonly at: Position }
}
