import type { AgentTrust, ApprovalRule, JsonObject, McpServerSettings } from '../../contracts/index.ts'
import type { AgentFile } from '../agent-file/agent-file.ts'
import type { TemplateAgent } from '../agent-file/agent-template.ts'
import type { ConfiguredServer } from '../config/configured-servers.ts'
import type { Dialect } from '../dialects/foreign-agent.ts'
import type { OptionValues } from '../options/option-values.ts'

/** A readable agent, usable or not. */
export interface FoundAgent {
  readonly name: string
  readonly toolName: string
  readonly description: string
  readonly usage?: string
  readonly place: string
  readonly dialect: Dialect | 'troupe'
  readonly enabled: boolean
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly approvals?: readonly ApprovalRule[]
  /** Its children as written. */
  readonly agents: readonly string[]
  readonly metadata: JsonObject
}

/** A usable agent. */
export interface RegisteredAgent {
  /** For the runtime: with rendered prompt and children by name. `agentSkills` resolves its `skills`. */
  readonly definition: AgentFile & {
    readonly displayName?: string
    readonly trust?: AgentTrust
    readonly agents: readonly string[]
    /** With resolved variables; set by the caller of the registry. */
    readonly mcpServers?: { readonly [name: string]: McpServerSettings }
  }
  readonly path: string
  /** The display path. */
  readonly place: string
  readonly dialect: Dialect | 'troupe'
  readonly isChild: boolean
  readonly metadata: JsonObject
  readonly disabledSkills: readonly string[]
  readonly values: OptionValues
  /** Its own MCP servers. */
  readonly servers: readonly ConfiguredServer[]
  /** Its children as written. */
  readonly references: readonly string[]
}

/** For `agentTemplate`: children and modules as written, so that a copy of the file finds them. */
export function registeredTemplate({ definition, references, disabledSkills, metadata, values, dialect }: RegisteredAgent): TemplateAgent {
  const written = dialect === 'troupe' ? (values.get('tools')?.value as readonly string[] | undefined) : undefined
  const servers = values.get('mcpServers')?.value as JsonObject | undefined
  const { mcpServers: _, ...settings } = definition
  return {
    ...settings,
    tools: written ?? definition.tools,
    ...(servers && { mcpServers: servers }),
    agents: references,
    disabledSkills,
    metadata,
    enabled: true,
  }
}
