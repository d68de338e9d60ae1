import type { ApprovalRule, Json, JsonObject, Problem, ReasoningEffort, SandboxPolicy } from '../../contracts/index.ts'
import type { Dialect } from '../../policy/foreign-tools.ts'
import type { Position } from '../../yaml/source-text.ts'
import type { PermissionRule } from './permission-rules.ts'

export { type Dialect, dialects } from '../../policy/foreign-tools.ts'

/** Our names: built-in tools, `server/tool`, `agent__name`, and patterns that end in `*`. `*` before the slash is every server. */
export type ForeignTools = { readonly kind: 'all' } | { readonly kind: 'only'; readonly names: readonly string[] }

/** An MCP server of the file, or, without configuration, one of the session. */
export interface ForeignServer {
  readonly name: string
  /** As written, but with `${NAME}` for variables and `stdio` for a local process. */
  readonly config?: JsonObject
}

/** It never has more permissions than in its program: unsupported parts become stricter, with a warning. */
export interface ForeignAgent {
  readonly dialect: Dialect
  readonly name: string
  readonly displayName?: string
  readonly description: string
  readonly usage?: string
  /** Never a template. */
  readonly prompt: string
  /** In the order of fallback. Absent: the models of the session. */
  readonly models?: readonly string[]
  readonly tools: ForeignTools
  /** Never offered; with a call pattern in parentheses, such as `edit_file(*.ipynb)`, never allowed. */
  readonly deniedTools: readonly string[]
  /** Need approval for each call. */
  readonly askTools: readonly string[]
  /** Need no approval although `askTools` covers them. */
  readonly exemptTools?: readonly string[]
  /** The last matching rule applies. */
  readonly commandRules?: readonly ApprovalRule[]
  /** Absent: the agents that `tools` allows. */
  readonly agents?: readonly string[]
  readonly maxToolTurns?: number
  readonly timeBudgetMs?: number
  readonly temperature?: number
  readonly topP?: number
  readonly reasoning?: ReasoningEffort
  readonly mcpServers?: readonly ForeignServer[]
  readonly skills?: readonly string[]
  /** Restrictions of its commands. */
  readonly sandbox?: Partial<SandboxPolicy>
  /** False: only people can choose it. */
  readonly infer?: boolean
  readonly enabled: boolean
  /** Settings without effect, as written. */
  readonly metadata: JsonObject
  readonly warnings: readonly Problem[]
}

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
  /** Null if the key has no value. */
  readonly value: unknown
  readonly valueAt: Position
}

export interface ForeignText {
  readonly at: Position
  readonly settings: readonly ForeignSetting[]
  /** The text below the settings, in formats that have it. */
  readonly prompt?: { readonly value: string; readonly at: Position }
}
