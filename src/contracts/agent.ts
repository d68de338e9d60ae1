import type { ApprovalPolicy, ApprovalRule } from './approvals.ts'
import type { JsonObject } from './json.ts'
import type { SandboxPolicy } from './sandbox.ts'
import type { SkillCard } from './skill.ts'

/** What a turn and its parts may use. Times are milliseconds. A limit covers all descendants. */
export interface AgentLimits {
  /** Steps (model calls) in one turn; one more is held in reserve for a last answer. */
  readonly maxToolTurns: number
  /** Tokens of one turn, in and out. */
  readonly maxTokens?: number
  /** Tokens over the whole session. */
  readonly maxSessionTokens?: number
  /** Money of one turn in US dollars, children included. */
  readonly maxCostUsd?: number
  /** Calls in one turn, including those that could not start. */
  readonly maxCalls?: number
  /** Working time of one turn, without waits for a person. */
  readonly timeBudget?: number
  /** Maximum wait for the first output of a model. */
  readonly llmTimeout: number
  /** Maximum pause between two outputs of a model. */
  readonly idleTimeout: number
  /** One model reply, from the request to its end. */
  readonly replyTimeout: number
  /** One call. */
  readonly toolTimeout: number
  /** Retries of a model request in one step. */
  readonly maxRetries: number
  /** Calls of a step that may run at the same time. */
  readonly parallelToolCalls: number
  /** Output of a call that the model sees; more goes to the blob store. */
  readonly maxOutputBytes: number
  /** Levels of children below this agent. */
  readonly maxDepth: number
  /** Descendants that may start in one turn. */
  readonly maxChildren: number
  /** Children that may run at the same time; others wait. */
  readonly parallelChildren: number
}

export const defaultLimits: AgentLimits = {
  maxToolTurns: 10,
  llmTimeout: 120_000,
  idleTimeout: 60_000,
  replyTimeout: 900_000,
  toolTimeout: 60_000,
  maxRetries: 3,
  parallelToolCalls: 4,
  maxOutputBytes: 32_768,
  maxDepth: 3,
  maxChildren: 32,
  parallelChildren: 4,
}

/** Defaults for children. A root has no such limits by default. */
export const childLimits = { maxTokens: 50_000, timeBudget: 120_000 } as const

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
  readonly output: OutputContract
  /** An example input, for callers. */
  readonly usage?: string
  /** The name under which parents call it. */
  readonly toolName: string
  readonly input: InputContract
  /** Names of the agents that it may call. */
  readonly agents: readonly string[]
  /** Skills that it may load, sorted by name. */
  readonly skills?: readonly SkillCard[]
  /** Its own rules. They can only be stricter than those of the session. */
  readonly approvals?: readonly ApprovalRule[]
  /** For a child: the rules of its callers, outermost first. */
  readonly bounds?: readonly ApprovalPolicy[]
  /** Restrictions of its commands, beyond those of the session. */
  readonly sandbox?: Partial<SandboxPolicy>
}
