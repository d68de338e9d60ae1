import type {
  AccountingEntry,
  AgentSpec,
  ApprovalKey,
  ApprovalRequest,
  AskedFirst,
  CallPart,
  CallResult,
  Carried,
  CheckedOutput,
  ClientId,
  Diagnostic,
  InputMode,
  InputPart,
  ItemId,
  LastStepReason,
  Message,
  ParentCall,
  PlanIntent,
  Report,
  Reservation,
  SessionId,
  Spent,
  StepId,
  TextIntent,
  TextRecord,
  TokenPrice,
  Trace,
  TreeId,
  TurnEnding,
  TurnId,
  TurnTotals,
} from '../contracts/index.ts'
import type { Sequence } from '../util/sequence.ts'
import type { CallList } from './calls/call-list.ts'
import type { CallStarted } from './calls/call-order.ts'
import type { FailedAttempt } from './next-model.ts'

/** The fold of a session's events. Plain data: everything that `decide` may look at, and nothing else. */
export interface SessionState {
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  /** The last event collapseRows in, and when it happened. */
  readonly seq: number
  readonly at: number
  readonly agent: AgentSpec
  readonly trace: Trace
  /** Names of the tools that the agent may be offered, sorted. */
  readonly tools: readonly string[]
  readonly policy: string
  readonly prices: { readonly [model: string]: TokenPrice }
  readonly windows: { readonly [model: string]: number }
  /** Tokens that one reply of a model can have, where that is known. */
  readonly maxOutputs: { readonly [model: string]: number }
  /** The call that this session is a child of. Named in roots, too: states of one shape are collapseRows faster. */
  readonly parent: ParentCall | undefined
  readonly history: Sequence<Message>
  /** Size of prompt and tool specs, and of the history: what a request is estimated by. */
  readonly promptChars: number
  readonly historyChars: number
  /** How many characters made a token in the last request that reported its usage. */
  readonly charsPerToken: number
  readonly compacted: Compacted
  /** What the session was told before anybody asked for anything. It stays, word for word. */
  readonly initialMessages: readonly Message[]
  /** Accepted, not yet in the history. */
  readonly inputs: readonly PendingInput[]
  readonly inboxCursor: number
  readonly grants: readonly ApprovalKey[]
  readonly hasStoredOutput: boolean
  readonly spent: Spent
  /** Said outside of a turn; the next outcome reports them. */
  readonly diagnostics: readonly Diagnostic[]
  readonly turns: number
  readonly turn: Turn
}

/** The history as it was when it was last made shorter. */
export interface Compacted {
  /** Messages that it had then. */
  readonly length: number
  /** What was known then: what had been done, and what was summed up. */
  readonly carried: Carried
  /** Whether it became shorter. */
  readonly helped: boolean
}

export interface PendingInput {
  readonly clientId: ClientId
  readonly parts: readonly InputPart[]
  readonly mode: InputMode
}

/** What was asked before the first turn is part of that turn. */
export type Turn = { readonly kind: 'none'; readonly asked?: AskedFirst } | OpenTurn | EndedTurn

/** From the mildest to the strongest; a stronger wish replaces a milder one. `abort` is a denial that ends the turn. */
export type Cancel = 'no' | 'stop' | 'abort' | 'interrupt'

/** Whether the turn waits for a person, and since when. */
export type Waiting = { readonly kind: 'no' } | { readonly kind: 'approval' | 'suspended'; readonly since: number }

export interface OpenTurn {
  readonly kind: 'open'
  readonly id: TurnId
  readonly startedAt: number
  /** Time that was not work: waiting for a person, or nobody driving. */
  readonly idleMs: number
  readonly waiting: Waiting
  readonly cancel: Cancel
  readonly steps: number
  readonly calls: number
  /** Children that have ended included; those at work are counted where they are. */
  readonly spent: Spent
  /** Money that counts against the budget, in US dollars: what was reported, or else what was set aside. */
  readonly paidUsd: number
  /** Children started, and those that they started. */
  readonly children: number
  readonly step: Step
  readonly last?: LastStepReason
  /** What this turn was asked, as it was said. */
  readonly goal: readonly Message[]
  /** Answers that were sent back because they were not the JSON that was asked for. */
  readonly rejections: number
  /** Answers after which a hook sent the model back to work. */
  readonly resumed: number
  /** Calls in a row that were refused because they had been made before. */
  readonly repeats: number
  /** How often in a row the history had to be made shorter again after hardly anything was said. */
  readonly quickCompactions: number
  readonly plan: PlanIntent | undefined
  /** Models that refused us (no key, no quota) or kept giving answers that do not fit; they are not asked again in this turn. */
  readonly dropped: readonly string[]
  /** A model was asked although every one is left out for now. */
  readonly probed: boolean
  /** What the model said last: the answer, or what is left of a turn that ends early. */
  readonly lastText: string
  readonly accounting: Sequence<AccountingEntry>
  readonly diagnostics: Sequence<Diagnostic>
}

export interface EndedTurn {
  readonly kind: 'ended'
  readonly id: TurnId
  readonly ending: TurnEnding
  readonly report?: Report
  readonly totals: TurnTotals
  readonly paidUsd: number
  readonly children: number
  readonly idleMs: number
  readonly accounting: Sequence<AccountingEntry>
  readonly diagnostics: Sequence<Diagnostic>
}

export type Step =
  /** The next step may be asked for. `failures`: attempts of this step that failed, oldest first. */
  { readonly kind: 'ready'; readonly failures: readonly FailedAttempt[] } | AskingStep | CallingStep | AnsweredStep

export interface AnsweredStep {
  readonly kind: 'answered'
  readonly truncated: boolean
  /** The budget that left it no more, where it was one that cut it. */
  readonly cutBy?: Reservation['limit']
  /** What was found where the answer has to be JSON. */
  readonly output?: CheckedOutput
}

export interface AskingStep {
  readonly kind: 'asking'
  readonly id: StepId
  readonly model: string
  readonly modelId: string
  readonly attempt: number
  readonly failures: readonly FailedAttempt[]
  readonly reservation: Reservation
  /** It sums up the history. */
  readonly compacts: boolean
  readonly open: readonly TextIntent[]
  readonly texts: readonly TextRecord[]
}

export interface CallingStep {
  readonly kind: 'calling'
  readonly id: StepId
  /** Who asked for the calls: they are held against what that model was offered. */
  readonly model: string
  readonly calls: CallList<Call>
}

/** A call on its way through the pipeline. `itemId` is fixed when the reply comes in. */
export type Call = CallBase &
  (
    | { readonly kind: 'requested' }
    | { readonly kind: 'awaiting'; readonly request: ApprovalRequest }
    | { readonly kind: 'approved'; readonly request: ApprovalRequest; readonly by: string; readonly answer?: string }
    | { readonly kind: 'denied'; readonly request: ApprovalRequest; readonly feedback?: string }
    | CallStarted
    | { readonly kind: 'ended'; readonly result: CallResult }
  )

export interface CallBase {
  readonly itemId: ItemId
  readonly part: CallPart
}

export type StartedCall = Extract<Call, { kind: 'started' }>
/** Not yet started. */
export type OpenCall = Exclude<Call, { kind: 'started' | 'ended' }>
/** What the first half of the pipeline can go on with. */
export type ReviewableCall = Extract<Call, { kind: 'requested' | 'approved' | 'denied' }>

/** Requests of the open turn that nobody has decided yet, in call order. */
export function openRequests({ turn }: SessionState): readonly ApprovalRequest[] {
  if (turn.kind !== 'open' || turn.step.kind !== 'calling') return []
  return turn.step.calls.map(requestOf).filter((request) => request !== undefined)
}

export function requestOf(call: Call): ApprovalRequest | undefined {
  if (call.kind === 'awaiting') return call.request
  return call.kind === 'started' && call.sandbox.kind === 'asking' ? call.sandbox.request : undefined
}
