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
  /** Calls in one turn; those that could not be started count too. */
  readonly maxCalls?: number
  /** Working time of one turn; waiting for a person does not count. */
  readonly timeBudget?: number
  /** Wait for the first output of a model. */
  readonly llmTimeout: number
  /** Longest silence of a model that has begun to answer. */
  readonly idleTimeout: number
  /** One whole reply of a model, from the request to its end. */
  readonly replyTimeout: number
  /** One call. */
  readonly toolTimeout: number
  /** Further model attempts after the first, in one step. */
  readonly maxRetries: number
  /** Calls of a step that may run at once. */
  readonly parallelToolCalls: number
  /** Output of a call shown to the model; more goes to the blob store. */
  readonly maxOutputBytes: number
  /** How many levels of children there may be below this agent. */
  readonly maxDepth: number
  /** Children that may be started in one turn, theirs included. */
  readonly maxChildren: number
  /** Children at work at once; further ones wait in line. */
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

/** What a child has where its agent says nothing else; a root has no such limits. */
export const childLimits = { maxTokens: 50_000, timeBudget: 120_000 } as const

/** Settings that reach the provider as they are. */
export interface ModelParameters {
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly seed?: number
  /** How long the model thinks before it answers, for those that can. */
  readonly reasoning?: ReasoningEffort
  /** Whether the provider is asked to keep the beginning of the request in its cache. Default true. */
  readonly cache?: boolean
}
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

export interface JsonOutput {
  /** Draft 2020-12; plain JSON, because it is part of the journal. */
  readonly schema?: JsonObject
}
/** What the answer must be. JSON is checked, and sent back with what is wrong with it. */
export type OutputContract = { readonly format: 'text' | 'markdown' } | ({ readonly format: 'json' } & JsonOutput)

/** What an agent is given: a text, or JSON that fits a schema. */
export type InputContract = { readonly format: 'text' } | { readonly format: 'json'; readonly schema: JsonObject }

/** Whether an agent is trusted, and what depends on it. */
export interface AgentTrust {
  readonly isGiven: boolean
  /** What is trusted or not, as people know it. */
  readonly place: string
  /** Its `tools`, if it were the other way round. */
  readonly toolsOtherwise: readonly string[]
  /** What brings its tools back. */
  readonly remedy?: string
}

/** An agent, resolved: what a session runs and what its journal keeps. */
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
  /** Somebody has said its `toolTimeout`: then tools that know how long they take have no more than that. */
  readonly saysToolTimeout?: true
  readonly parameters: ModelParameters
  readonly output: OutputContract
  /** One example of its input, for whoever calls it. */
  readonly usage?: string
  /** The name that parents know it by. */
  readonly toolName: string
  readonly input: InputContract
  /** Names of its children: agents that it may call like any tool. */
  readonly agents: readonly string[]
  /** The skills that it may load, sorted by name. */
  readonly skills?: readonly SkillCard[]
  /** Its own rules. They can only be stricter than those of the session. */
  readonly approvals?: readonly ApprovalRule[]
  /** Of a child: the rules of those who called it, outermost first. */
  readonly bounds?: readonly ApprovalPolicy[]
  /** What its commands may do less than those of the session. */
  readonly sandbox?: Partial<SandboxPolicy>
}
