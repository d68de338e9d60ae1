import type {
  AccountingEntry,
  AgentSpec,
  ApprovalKey,
  ApprovalRequest,
  CallIntent,
  CallPart,
  CallResult,
  ClientId,
  Cost,
  Diagnostic,
  InputMode,
  InputPart,
  ItemId,
  LastStepReason,
  Message,
  ModelFailure,
  Outcome,
  Report,
  Reservation,
  SessionId,
  StepId,
  TextIntent,
  TextRecord,
  Trace,
  TreeId,
  TurnId,
  TurnTotals,
  Usage,
} from '../contracts/index.ts'
import type { Sequence } from '../util/sequence.ts'

/** The fold of a session's events. Plain data: everything that `decide` may look at, and nothing else. */
export interface SessionState {
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  /** The last event folded in, and when it happened. */
  readonly seq: number
  readonly at: number
  readonly agent: AgentSpec
  readonly trace: Trace
  /** Names of the tools that the agent may be offered, sorted. */
  readonly tools: readonly string[]
  readonly policy: string
  readonly history: Sequence<Message>
  /** Size of prompt and tool specs, and of the history: what a request is estimated by. */
  readonly promptChars: number
  readonly historyChars: number
  /** How many characters made a token in the last request that reported its usage. */
  readonly charsPerToken: number
  /** Accepted, not yet in the history. */
  readonly inputs: readonly PendingInput[]
  readonly inboxCursor: number
  readonly grants: readonly ApprovalKey[]
  readonly storedOutputs: number
  readonly spent: Spent
  /** Said outside of a turn; the next outcome reports them. */
  readonly diagnostics: readonly Diagnostic[]
  readonly turns: number
  readonly turn: Turn
}

export interface PendingInput {
  readonly clientId: ClientId
  readonly parts: readonly InputPart[]
  readonly mode: InputMode
}

export interface Spent {
  readonly usage: Usage
  readonly cost: Cost
}

export type Turn = { readonly kind: 'none' } | OpenTurn | EndedTurn

export interface OpenTurn {
  readonly kind: 'open'
  readonly id: TurnId
  readonly startedAt: number
  /** Time that was not work: waiting for a person, or nobody driving. */
  readonly idleMs: number
  readonly waitingSince?: number
  readonly suspended: boolean
  readonly cancel: 'no' | 'stop' | 'interrupt' | 'abort'
  readonly steps: number
  readonly calls: number
  readonly spent: Spent
  readonly step: Step
  readonly last?: LastStepReason
  /** Models that refused us (no key, no quota) and are not asked again in this turn. */
  readonly dropped: readonly string[]
  /** What the model said last, kept for a turn that ends early. */
  readonly lastText: string
  readonly accounting: Sequence<AccountingEntry>
  readonly diagnostics: Sequence<Diagnostic>
}

export interface EndedTurn extends Pick<Outcome, 'status' | 'reason' | 'message' | 'remedy' | 'failure'> {
  readonly kind: 'ended'
  readonly id: TurnId
  readonly report?: Report
  readonly totals: TurnTotals
  readonly accounting: Sequence<AccountingEntry>
  readonly diagnostics: Sequence<Diagnostic>
}

export type Step =
  /** The next step may be asked for. `failures`: attempts of this step that failed, oldest first. */
  | { readonly kind: 'ready'; readonly failures: readonly FailedAttempt[] }
  | AskingStep
  | CallingStep
  | { readonly kind: 'answered'; readonly text: string; readonly truncated: boolean }

export interface AskingStep {
  readonly kind: 'asking'
  readonly id: StepId
  readonly model: string
  readonly attempt: number
  readonly failures: readonly FailedAttempt[]
  readonly reservation: Reservation
  readonly requestChars: number
  readonly open: readonly TextIntent[]
  readonly texts: readonly TextRecord[]
  /** The driver that asked is gone. */
  readonly orphaned: boolean
}

export interface CallingStep {
  readonly kind: 'calling'
  readonly id: StepId
  readonly calls: readonly Call[]
}

export interface FailedAttempt {
  readonly model: string
  readonly failure: ModelFailure
  readonly notBefore: number
}

/** A call on its way through the pipeline. `itemId` is fixed when the reply comes in. */
export type Call =
  | (CallBase & { readonly kind: 'requested' })
  | (CallBase & { readonly kind: 'awaiting'; readonly request: ApprovalRequest })
  | (CallBase & { readonly kind: 'approved'; readonly request: ApprovalRequest })
  | (CallBase & { readonly kind: 'denied'; readonly request: ApprovalRequest; readonly feedback?: string })
  | (CallBase & {
      readonly kind: 'started'
      readonly intent: CallIntent
      readonly attempt: number
      readonly orphaned: boolean
      readonly escalation?: ApprovalRequest
      readonly unsandboxed: boolean
    })
  | (CallBase & { readonly kind: 'ended'; readonly result: CallResult })

export interface CallBase {
  readonly itemId: ItemId
  readonly part: CallPart
}

export type StartedCall = Extract<Call, { kind: 'started' }>
