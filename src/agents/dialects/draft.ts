import type { ApprovalRule, Json, ReasoningEffort, SandboxPolicy } from '../../contracts/index.ts'
import type { ForeignServer, ForeignTools } from './foreign-agent.ts'
import type { PermissionRule } from './permission-rules.ts'

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
