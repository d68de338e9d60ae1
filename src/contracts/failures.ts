/** Why a model attempt failed. Decides about retries and fallback. */
export type ModelFailureClass =
  | 'rate_limit'
  | 'auth'
  | 'quota'
  | 'network'
  | 'timeout'
  | 'invalid_response'
  | 'model'
  | 'config'
  /** The request is too long for the model. */
  | 'context'
  /** The time budget of the turn ran out. The model is not to blame. */
  | 'budget'
  /** The turn was interrupted while the attempt was in flight. */
  | 'cancelled'
  /** The process ended while the attempt was in flight. Its cost is unknown. */
  | 'lost'

export interface ModelFailure {
  readonly class: ModelFailureClass
  readonly message: string
  readonly remedy?: string
  /** The server asked to wait this long. */
  readonly retryAfterMs?: number
  /** The timeout that ended the attempt. Retried only once in a step: the provider may charge for it. */
  readonly limit?: ReplyLimit
  /** Tools were disabled, and the complete reply contains no answer. */
  readonly noAnswer?: true
  /** There was no connection: the provider has not seen the request, and charges nothing. */
  readonly unsent?: true
  /** The content filter of the provider stopped the reply. */
  readonly withheld?: true
  /** The budget that cut the reply. */
  readonly cutBy?: 'tokens' | 'cost'
}

/** Limits on the time of a reply. */
export type ReplyLimit = 'llmTimeout' | 'idleTimeout' | 'replyTimeout'

/** Why a call failed. */
export const toolFailureClasses = [
  'unknown_tool',
  'invalid_input',
  'blocked',
  /** The same call was made too often in a row. */
  'repeated',
  'denied',
  'budget',
  'timeout',
  'cancelled',
  /** The sandbox stopped it. */
  'sandbox',
  /** It needs a sandbox, and none is available. */
  'sandbox_unavailable',
  'config',
  'auth',
  'network',
  'model',
  'failed',
] as const
export type ToolFailureClass = (typeof toolFailureClasses)[number]

export interface ToolFailure {
  readonly class: ToolFailureClass
  readonly message: string
  readonly remedy?: string
}

/** Why a turn did not complete. */
export type TurnReason =
  | 'steps'
  | 'tokens'
  | 'time'
  | 'calls'
  | 'cost'
  /** The history no longer fits the context window of the model. */
  | 'context'
  /** The same call was repeated too often. */
  | 'repeats'
  /** A hook with `onFailure: closed` failed, or a hook still rejects the answer. */
  | 'hook'
  | 'stopped'
  | 'interrupted'
  | 'approval'
  /** A call waits for a child that takes input from a person. */
  | 'input'
  /** Calls wait for results of the client. */
  | 'client'
  /** Its driver stopped or was lost. The turn is open and continues when the session is opened. */
  | 'released'
  | 'denied'
  | 'model'
  | 'invalid_output'
  | 'config'
  | 'store'
  | 'internal'

export type Severity = 'info' | 'warning' | 'error'

/** Diagnostics: problems and notices that do not end the turn. */
export type DiagnosticCode =
  | 'agent_changed'
  /** No agent shared a word with the request: the first by name answers. */
  | 'agent_unmatched'
  | 'answer_truncated'
  | 'limit_reached'
  | 'queue_late'
  | 'child_control_unused'
  /** The time budget ran out while the turn waited for spawned children. */
  | 'children_late'
  | 'approval_late'
  | 'call_unknown'
  | 'compaction_failed'
  | 'compaction_poor'
  | 'grant_not_kept'
  | 'hook_overruled'
  | 'message_invalid'
  /** A model is excluded for a while: its provider asked to wait, or refused the key or the account. */
  | 'model_excluded'
  | 'model_notice'
  | 'policy_changed'
  | 'sandbox_missing'
  | 'sandbox_off'
  | 'skill_changed'
  | 'skill_missing'
  | 'skills_cut'
  /** A source of tools, such as an MCP server, failed or has something to say. */
  | 'source_failed'
  | 'source_notice'
  /** `approval()` of a tool failed. */
  | 'tool_approval_failed'
  | 'tool_missing'
  /** A source of tools listed an invalid tool. */
  | 'tool_invalid'
  | 'tools_withheld'
  /** A tool returned an invalid output. */
  | 'tool_output_invalid'

export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly message: string
  readonly remedy?: string
}
