import type {
  AccountingEntry,
  AgentChanges,
  AgentSpec,
  ApprovalKey,
  ApprovalRequest,
  AskedFirst,
  CallIntent,
  CallPart,
  CallResult,
  Carried,
  CheckedOutput,
  ClientId,
  Diagnostic,
  HandoffReason,
  InputMode,
  InputPart,
  ItemId,
  LastStepReason,
  Message,
  ModelFailure,
  ParentCall,
  PlanIntent,
  RecordedOffer,
  Report,
  Reservation,
  SessionId,
  Spent,
  StepId,
  TextIntent,
  TextRecord,
  TokenPrice,
  ToolChoice,
  Trace,
  TreeId,
  TurnEnding,
  TurnId,
  TurnTotals,
} from '../../contracts/index.ts'
import type { CallQuestions } from '../../policy/call-questions.ts'
import type { Sequence } from '../../util/sequence.ts'
import type { CallList } from './call-list.ts'

/** The fold of a session's events: plain data, and everything that `decide` reads. */
export interface SessionState {
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  /** The number of the last event. */
  readonly seq: number
  readonly at: number
  readonly agent: AgentSpec
  /** What the caller set instead of the definition of the agent. */
  readonly changes: AgentChanges | undefined
  readonly trace: Trace
  /** Names of the tools that the agent may be offered, sorted. */
  readonly tools: readonly string[]
  readonly policy: string
  readonly prices: { readonly [model: string]: TokenPrice }
  readonly windows: { readonly [model: string]: number }
  /** Maximum tokens of one reply, if known. */
  readonly maxOutputs: { readonly [model: string]: number }
  /** The call that started this session. Present in roots, too: one hidden class is faster. */
  readonly parent: ParentCall | undefined
  readonly history: Sequence<Message>
  /** Characters of prompt and tool specs. */
  readonly promptChars: number
  readonly historyChars: number
  /** Measured by the last request that reported its usage. */
  readonly charsPerToken: number
  readonly compacted: Compacted
  /** Context that was added before the first turn. Compaction keeps it word for word. */
  readonly initialMessages: readonly Message[]
  /** Accepted, not yet in the history. */
  readonly inputs: readonly PendingInput[]
  readonly inboxCursor: number
  readonly grants: readonly ApprovalKey[]
  readonly stored: StoredContent
  readonly spent: Spent
  /** Noted outside a turn; the next outcome reports them. */
  readonly diagnostics: readonly Diagnostic[]
  readonly turns: number
  /** What the client asked for. Spent by the next step. */
  readonly toolChoice: ToolChoice | undefined
  readonly turn: Turn
  /** The last message from outside that it has read. */
  readonly message: ClientId | undefined
  /** For a child with several turns: those before the last one. */
  readonly earlierTurns?: readonly EarlierTurn[]
}

/** The parts of a turn that the outcome of the root needs. */
export interface EarlierTurn extends Pick<EndedTurn, 'id' | 'ending' | 'totals' | 'idleMs' | 'inputs'> {
  readonly kind: 'earlier'
  readonly accounting: readonly AccountingEntry[]
  readonly diagnostics: readonly Diagnostic[]
}

/** What blob store and journal have. An object: the state, which is copied for every event, does not grow. */
export interface StoredContent {
  /** Outputs that `read_output` reads. */
  readonly output: boolean
  /** Images and files of the history. */
  readonly parts: boolean
  /** In a root: the hashes of the offers that the journal of the tree contains. */
  readonly offers: readonly string[]
  /** The offer of the last model request. */
  readonly offer?: RecordedOffer
}

/** The history after the last compaction. */
interface Compacted {
  /** Number of messages. */
  readonly length: number
  readonly carried: Carried
  /** Whether it became shorter. */
  readonly helped: boolean
}

export interface PendingInput {
  readonly clientId: ClientId
  readonly parts: readonly InputPart[]
  readonly mode: InputMode
  /** The spawned child that it reports about. It is dropped with the turn. */
  readonly child?: SessionId
  /** An interrupt found it unread. It begins no turn until a person sends it, or another message. */
  readonly held?: true
}

/** `asked`: the request that selected the agent. The first turn pays for it. */
export type Turn = { readonly kind: 'none'; readonly asked?: AskedFirst } | OpenTurn | EndedTurn

/** From weakest to strongest; a stronger one replaces a weaker one. `abort` is a denial that ends the turn. */
export type Cancel = 'no' | 'stop' | 'abort' | 'interrupt'

/** Whether the turn waits for a person, or for its client. */
export type Waiting =
  | { readonly kind: 'no' }
  /** `for`: present if it waits for input or for the client, not for an approval. */
  | { readonly kind: 'approval' | 'suspended'; readonly since: number; readonly for?: 'input' | 'client' }

export interface OpenTurn {
  readonly kind: 'open'
  readonly id: TurnId
  readonly startedAt: number
  /** Time that is not work: waits for a person, or no driver. */
  readonly idleMs: number
  /** The same, when the last child of a call started. */
  readonly idleBefore: number
  readonly waiting: Waiting
  readonly cancel: Cancel
  readonly steps: number
  /** The last step with calls of the client, and how many there were: the client has its own loop. */
  readonly clientSteps: { readonly last: StepId; readonly count: number } | undefined
  readonly calls: number
  /** Includes children that have ended. */
  readonly spent: Spent
  /** US dollars charged to the budget: the reported cost, or else the reservation. */
  readonly paidUsd: number
  /** Number of descendants started. */
  readonly children: number
  /** Spawned children that are not closed. */
  readonly spawned: readonly SpawnedChild[]
  /** The last step that has handed the person over to a child. */
  readonly handedOverIn?: StepId
  readonly step: Step
  readonly last?: LastStepReason
  /** The inputs of this turn. */
  readonly goal: readonly Message[]
  /** Answers that were sent back because they were not the requested JSON. */
  readonly rejections: number
  /** Answers that a hook rejected. */
  readonly resumed: number
  /** Calls in a row that were refused as repetitions. */
  readonly repeats: number
  /** Compactions in a row with hardly any new message between them. */
  readonly quickCompactions: number
  readonly plan: PlanIntent | undefined
  /** Models that are not asked again in this turn: no key, no quota, or too many invalid answers. */
  readonly dropped: readonly string[]
  /** A model was asked although all are excluded for now. */
  readonly probed: boolean
  /** The last text of the model. */
  readonly lastText: string
  readonly accounting: Sequence<AccountingEntry>
  readonly diagnostics: Sequence<Diagnostic>
}

/** A child that outlives the call that started it: until it is closed, or until this turn ends. */
export interface SpawnedChild {
  readonly childId: SessionId
  /** The call that spawned it. */
  readonly itemId: ItemId
  /** Unique among the children of this session: `researcher#1`. */
  readonly name: string
  readonly agent: string
  /** The number of its last turn. */
  readonly turn: number
  readonly isWorking: boolean
  /** The idle time of the parent when that turn started. */
  readonly idleBefore: number
  /** Whether it talks to the person, or why it no longer does. */
  readonly handoff?: 'open' | HandoffReason
  /** The person asked for this session again. */
  readonly isRecalled?: true
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
  /** How many messages it has read. */
  readonly inputs: number
  readonly accounting: Sequence<AccountingEntry>
  readonly diagnostics: Sequence<Diagnostic>
}

type Step =
  /** `failures`: failed attempts of the next step, oldest first. */
  { readonly kind: 'ready'; readonly failures: readonly FailedAttempt[] } | AskingStep | CallingStep | AnsweredStep

export interface FailedAttempt {
  readonly model: string
  readonly failure: ModelFailure
  readonly notBefore: number
  /** The history was shortened since then: the failure no longer applies. */
  readonly isVoid?: true
  /** The attempt was to summarise the history. */
  readonly compacts?: true
}

export interface AnsweredStep {
  readonly kind: 'answered'
  readonly truncated: boolean
  /** The output of a tool is the answer: nothing follows. */
  readonly isFinal?: true
  /** The budget that cut it. */
  readonly cutBy?: Reservation['limit']
  /** Present if the answer must be JSON. */
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
  /** It asks for a summary of the history. */
  readonly compacts: boolean
  readonly open: readonly TextIntent[]
  readonly texts: readonly TextRecord[]
}

export interface CallingStep {
  readonly kind: 'calling'
  readonly id: StepId
  /** The model that made the calls: its offer decides which tools exist. */
  readonly model: string
  readonly calls: CallList<Call>
}

/** A call in the pipeline. */
export type Call = CallBase &
  (
    | { readonly kind: 'requested' }
    | { readonly kind: 'awaiting'; readonly request: ApprovalRequest }
    | { readonly kind: 'approved'; readonly request: ApprovalRequest; readonly by: string; readonly answer?: string }
    | { readonly kind: 'denied'; readonly request: ApprovalRequest; readonly feedback?: string }
    | CallStarted
    | { readonly kind: 'ended'; readonly result: CallResult; readonly endsTurn?: true }
  )

/** A call whose intent is on record. */
interface CallStarted {
  readonly kind: 'started'
  readonly intent: CallIntent
  readonly attempt: number
  readonly sandbox: SandboxStage
  /** Its driver is gone, and it may have begun. */
  readonly orphaned: boolean
  /** Its driver is gone, and it has not begun. */
  readonly inherited?: true
  /** Present once it has asked a person. */
  readonly questions?: CallQuestions
}

/** Whether a started call runs inside or outside the sandbox, or waits for permission to run outside. */
export type SandboxStage = { readonly kind: 'inside' } | { readonly kind: 'outside' } | EscalationStage

/** The sandbox stopped the first attempt. A person is asked to allow a second one outside, or has decided. */
export interface EscalationStage {
  readonly kind: 'asking' | 'allowed' | 'refused'
  readonly request: ApprovalRequest
  /** From the person who refused. */
  readonly feedback?: string
}

export interface CallBase {
  readonly itemId: ItemId
  readonly part: CallPart
}

export type StartedCall = Extract<Call, { kind: 'started' }>
export type OpenCall = Exclude<Call, { kind: 'started' | 'ended' }>
/** Calls that `review` can process. */
export type ReviewableCall = Extract<Call, { kind: 'requested' | 'approved' | 'denied' }>

/** The input that begins the next turn. All inputs are held, or none. */
export const nextInput = ({ inputs: [first] }: SessionState): PendingInput | undefined => (first?.held ? undefined : first)

/** Whether the turn ends without another step. */
export const isInterrupted = ({ turn }: SessionState): boolean =>
  turn.kind === 'open' && (turn.cancel === 'interrupt' || turn.cancel === 'abort')

/** The spawned child that talks to the person. */
export const speakerOf = ({ turn }: SessionState): SpawnedChild | undefined =>
  turn.kind === 'open' && turn.spawned.length > 0 ? turn.spawned.find(({ handoff }) => handoff === 'open') : undefined

/** Undecided requests of the open turn, in call order. */
export function openRequests({ turn }: SessionState): readonly ApprovalRequest[] {
  if (turn.kind !== 'open' || turn.step.kind !== 'calling') return []
  return turn.step.calls.map(requestOf).filter((request) => request !== undefined)
}

/** Those to a person. The others wait for the client. */
export const requestsToPeople = (state: SessionState): readonly ApprovalRequest[] =>
  openRequests(state).filter(({ scope }) => scope !== 'client')

export function requestOf(call: Call): ApprovalRequest | undefined {
  if (call.kind === 'awaiting') return call.request
  if (call.kind !== 'started') return undefined
  return call.sandbox.kind === 'asking' ? call.sandbox.request : call.questions?.open
}

/** Whether an attempt of the call has ended without a result: it waits for a person, or for its next attempt. */
export const isBetweenAttempts = (call: StartedCall): boolean =>
  escalationStage(call) !== undefined || call.questions?.round?.isOver === false

export function escalationStage({ sandbox }: { readonly sandbox: SandboxStage }): EscalationStage | undefined {
  return sandbox.kind === 'inside' || sandbox.kind === 'outside' ? undefined : sandbox
}
