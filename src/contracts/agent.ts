import type { JsonObject } from './json.ts'

/** What a turn and its parts may use. Times are milliseconds. A limit covers all descendants. */
export interface AgentLimits {
  /** Steps (model calls) in one turn; the last one is held back for the answer. */
  readonly maxToolTurns: number
  /** Tokens of one turn, in and out. */
  readonly maxTokens?: number
  /** Tokens over the whole session. */
  readonly maxSessionTokens?: number
  /** Calls in one turn; those that could not be started count too. */
  readonly maxCalls?: number
  /** Working time of one turn; waiting for a person does not count. */
  readonly timeBudget?: number
  /** One model attempt. */
  readonly llmTimeout: number
  /** Longest silence of a model that has begun to answer. */
  readonly idleTimeout: number
  /** One call. */
  readonly toolTimeout: number
  /** Further model attempts after the first, in one step. */
  readonly maxRetries: number
  /** Calls of a step that may run at once. */
  readonly parallelToolCalls: number
  /** Output of a call shown to the model; more goes to the blob store. */
  readonly maxOutputBytes: number
}

export const defaultLimits: AgentLimits = {
  maxToolTurns: 10,
  llmTimeout: 120_000,
  idleTimeout: 60_000,
  toolTimeout: 60_000,
  maxRetries: 3,
  parallelToolCalls: 4,
  maxOutputBytes: 32_768,
}

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
  readonly parameters: ModelParameters
  readonly output: OutputContract
}
