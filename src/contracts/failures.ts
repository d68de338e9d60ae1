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
}

/** Why a call failed, in words that a model and a person can act on. */
export type ToolFailureClass =
  | 'unknown_tool'
  | 'invalid_input'
  | 'blocked'
  | 'denied'
  | 'budget'
  | 'timeout'
  | 'cancelled'
  | 'sandbox'
  | 'config'
  | 'auth'
  | 'network'
  | 'model'
  | 'failed'

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
  | 'stopped'
  | 'interrupted'
  | 'approval'
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
  | 'answer_truncated'
  | 'queue_late'
  | 'approval_late'
  | 'call_unknown'
  | 'message_invalid'
  | 'model_notice'
  | 'policy_changed'
  | 'tool_missing'

export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly message: string
  readonly remedy?: string
}
