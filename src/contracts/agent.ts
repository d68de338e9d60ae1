import type { ApprovalPolicy, ApprovalRule } from './approvals.ts'
import type { ClientTool, ToolChoice } from './client-tool.ts'
import type { JsonObject } from './json.ts'
import type { AgentLimits } from './limits.ts'
import type { SandboxPolicy } from './sandbox.ts'
import type { SkillCard } from './skill.ts'

/** Limits of the example prompts of an agent. */
export const exampleLimits = { max: 6, maxChars: 300 } as const

/** Settings that are passed to the provider. */
export interface ModelParameters {
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly seed?: number
  /** Reasoning effort, for models that support it. */
  readonly reasoning?: ReasoningEffort
  /** Whether to ask the provider to cache the beginning of the request. Default true. */
  readonly cache?: boolean
}
/** Parameters that an agent can let its callers set. */
export const overridableParameters = [
  'temperature',
  'topP',
  'maxOutputTokens',
  'reasoning',
  'seed',
] as const satisfies (keyof ModelParameters)[]
export type OverridableParameter = (typeof overridableParameters)[number]

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

export interface JsonOutput {
  /** JSON Schema draft 2020-12. Plain JSON: it is stored in the journal. */
  readonly schema?: JsonObject
}
/** The format of the answer. JSON is checked; an invalid answer is sent back with its problems. */
export type OutputContract = { readonly format: 'text' | 'markdown' } | ({ readonly format: 'json' } & JsonOutput)

/** The input of an agent: text, or JSON with a schema. */
export type InputContract = { readonly format: 'text' } | { readonly format: 'json'; readonly schema: JsonObject }

/** Whether an agent is trusted, and the consequences. */
export interface AgentTrust {
  readonly isGiven: boolean
  /** The trusted or untrusted file or folder, for display. */
  readonly place: string
  /** Its `tools` with the opposite trust. */
  readonly toolsOtherwise: readonly string[]
  /** How to get its tools back. */
  readonly remedy?: string
}

/** A resolved agent, as sessions run it and the journal stores it. */
export interface AgentSpec {
  readonly name: string
  readonly displayName?: string
  readonly description: string
  readonly prompt: string
  /** Fallback order. */
  readonly models: readonly string[]
  /** Allowlist of tool names and `prefix*` patterns; `*` is all. */
  readonly tools: readonly string[]
  readonly limits: AgentLimits
  /** `toolTimeout` is set explicitly: then it also limits tools with a timeout of their own. */
  readonly saysToolTimeout?: true
  readonly parameters: ModelParameters
  /** Parameters that callers of a server may set. Default: none. */
  readonly overrides?: readonly (keyof ModelParameters)[]
  readonly output: OutputContract
  /** `output` was given by the call that started the session. */
  readonly saysOutput?: true
  /** An example input, for callers. */
  readonly usage?: string
  /** The name under which parents call it. */
  readonly toolName: string
  readonly input: InputContract
  /** Names of the agents that it may call. */
  readonly agents: readonly string[]
  /** It may also spawn them: start them, and go on while they work. */
  readonly childControl?: true
  /** Skills that it may load, sorted by name. */
  readonly skills?: readonly SkillCard[]
  /** It exists for one request of a call only: no agent of the configuration has its name. */
  readonly isInline?: true
  /** Its time budget is for all its turns together. */
  readonly spansTurns?: true
  /** Its own rules. They can only be stricter than those of the session. */
  readonly approvals?: readonly ApprovalRule[]
  /** For a child: the rules of its callers, outermost first. */
  readonly bounds?: readonly ApprovalPolicy[]
  /**
   * Whether a client may bring tools that it runs itself, or the names that they may have. Default: `allow` for an agent without tools
   * and agents, else `deny`.
   */
  readonly clientTools?: ClientToolRule
  /** Servers keep its sessions also for requests with `store: false`, which then delete only the response. */
  readonly keepSessions?: true
  /** Restrictions of its commands, beyond those of the session. */
  readonly sandbox?: Partial<SandboxPolicy>
}

/** Names with `*` for anything. */
export type ClientToolRule = 'allow' | 'deny' | readonly string[]

/** Settings of a session that its caller changed. They stay when the definition of the agent changes. */
export interface AgentChanges {
  readonly models?: readonly string[]
  readonly limits?: Partial<AgentLimits>
  /** Upper bounds of the limits: a lower limit of the definition applies. */
  readonly lowered?: Partial<AgentLimits>
  readonly parameters?: ModelParameters
  /** Added after the prompt. Empty: nothing is. */
  readonly instructions?: string
  /** `null`: that of the definition. */
  readonly output?: OutputContract | null
  /** All tools of the client. Empty: it has none. */
  readonly clientTools?: readonly ClientTool[]
  /** For the next step. */
  readonly toolChoice?: ToolChoice
}
