import type { AgentTrust, ApprovalRule, JsonObject } from '../../contracts/index.ts'
import type { AgentFile } from '../agent-file/agent-file.ts'
import type { TemplateAgent } from '../agent-file/agent-template.ts'
import type { OptionValues } from '../agent-file/option-values.ts'
import type { Dialect } from '../dialects/foreign-agent.ts'

/** An agent that could be read, whether or not it can be used. */
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
  /** Rules of its own, where it has any. */
  readonly approvals?: readonly ApprovalRule[]
  /** Its children, as its file names them. */
  readonly agents: readonly string[]
  readonly metadata: JsonObject
}

/** An agent that is ready to be used. */
export interface RegisteredAgent {
  /** As the runtime takes it: its prompt filled in, its children by name. Its `skills` are as written: see `agentSkills`. */
  readonly definition: AgentFile & { readonly displayName?: string; readonly trust?: AgentTrust; readonly agents: readonly string[] }
  /** Absolute. */
  readonly path: string
  /** As people know it. */
  readonly place: string
  readonly dialect: Dialect | 'troupe'
  /** Whether another agent calls it. */
  readonly isChild: boolean
  readonly metadata: JsonObject
  /** Names and patterns of skills that it does not have, whatever it wants. */
  readonly disabledSkills: readonly string[]
  /** What holds for it, and where each was said. */
  readonly values: OptionValues
  /** Its children, as its file names them. */
  readonly references: readonly string[]
}

/** As `agentTemplate` takes it: children are written as the file names them, so that a copy finds them too. */
export function registeredTemplate({ definition, references, disabledSkills, metadata }: RegisteredAgent): TemplateAgent {
  return { ...definition, agents: references, disabledSkills, metadata, enabled: true }
}
