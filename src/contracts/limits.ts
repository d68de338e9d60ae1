import { atLeast, type NumberBounds } from './number-bounds.ts'

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

/** The same in programs, agent files, configurations and commands. */
export const limitBounds: { readonly [Key in keyof AgentLimits]-?: NumberBounds } = {
  maxToolTurns: atLeast(1),
  maxTokens: atLeast(1),
  maxSessionTokens: atLeast(1),
  maxCostUsd: { kind: 'number', least: 0, most: 1_000_000 },
  maxCalls: atLeast(0),
  timeBudget: atLeast(1),
  llmTimeout: atLeast(1),
  idleTimeout: atLeast(1),
  replyTimeout: atLeast(1),
  toolTimeout: atLeast(1),
  maxRetries: atLeast(0),
  parallelToolCalls: atLeast(1),
  // Less has no room for head, tail and the hint how to read the rest.
  maxOutputBytes: atLeast(512),
  maxDepth: atLeast(0),
  maxChildren: atLeast(0),
  parallelChildren: atLeast(1),
}
