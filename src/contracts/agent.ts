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
  readonly parameters: ModelParameters
}
