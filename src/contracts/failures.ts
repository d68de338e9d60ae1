/** Why a model attempt failed. Decides whether and where the next attempt goes. */
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
  /** The turn's time for this ran out; the model did nothing wrong. */
  | 'budget'
  /** The turn was interrupted while the attempt was in flight. */
  | 'cancelled'
  /** The driver died while the attempt was in flight; what it cost is not known. */
  | 'lost'

export interface ModelFailure {
  readonly class: ModelFailureClass
  readonly message: string
  readonly remedy?: string
  /** The server asked to wait this long. */
  readonly retryAfterMs?: number
  /** The limit of the agent that ended the attempt. Such an attempt is repeated once in a step, because it may have been paid for. */
  readonly limit?: ReplyLimit
  /** The reply was whole, but no answer, where tools were switched off and the model had to answer. */
  readonly noAnswer?: true
  /** The budget that left the reply no more output, where the reply was cut for that. */
  readonly cutBy?: 'tokens' | 'cost'
}

/** Limits on the time that a reply may take. */
export type ReplyLimit = 'llmTimeout' | 'idleTimeout' | 'replyTimeout'

/** Why a call failed, in words that a model and a person can act on. */
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
  /** It hit the walls of the sandbox. */
  'sandbox',
  /** It needs a sandbox, and there is none. */
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
  /** The history no longer fits into the window of the model. */
  | 'context'
  /** The same call was made over and over. */
  | 'repeats'
  /** A hook that must not fail has failed, or objects to the answer and was overruled. */
  | 'hook'
  | 'stopped'
  | 'interrupted'
  | 'approval'
  /** Its driver stopped, or was lost: the turn is open, and goes on where it is opened. */
  | 'released'
  | 'denied'
  | 'model'
  | 'invalid_output'
  | 'config'
  | 'store'
  | 'internal'

export type Severity = 'info' | 'warning' | 'error'

/** Things worth telling that did not end the turn. */
export type DiagnosticCode =
  | 'agent_changed'
  /** No agent shared a word with the request: the first by name answers. */
  | 'agent_unmatched'
  | 'answer_truncated'
  | 'limit_reached'
  | 'queue_late'
  | 'approval_late'
  | 'call_unknown'
  | 'compaction_failed'
  | 'compaction_poor'
  | 'grant_not_kept'
  | 'hook_overruled'
  | 'message_invalid'
  /** A model is not asked for a while: its provider asked to wait, or refused the key or the account. */
  | 'model_excluded'
  | 'model_notice'
  | 'policy_changed'
  | 'sandbox_missing'
  | 'sandbox_off'
  | 'skill_changed'
  | 'skill_missing'
  | 'skills_cut'
  /** A tool threw when it was asked what a call needs an approval for. */
  | 'tool_approval_failed'
  | 'tool_missing'
  | 'tools_withheld'
  /** A tool returned something that is no result. */
  | 'tool_output_invalid'

export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly message: string
  readonly remedy?: string
}
