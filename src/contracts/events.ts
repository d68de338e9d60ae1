import type { AgentSpec } from './agent.ts'
import type { ApprovalDecision, ApprovalKey, ApprovalRequest } from './approvals.ts'
import type { Diagnostic, ModelFailure, ToolFailure, TurnReason } from './failures.ts'
import type { ApprovalId, BlobId, ClientId, ItemId, SessionId, StepId, TreeId, TurnId } from './ids.ts'
import type { ItemIntent, ItemRecord } from './items.ts'
import type { Json, JsonObject } from './json.ts'
import type { CallPart, InputPart, Message } from './messages.ts'
import type { FinishReason } from './model.ts'
import type { Plan } from './plan.ts'
import type { Report, Trace } from './report.ts'
import type { Cost, Usage } from './usage.ts'

/** Tokens set aside before an attempt, settled by its real figure. */
export interface Reservation {
  readonly input: number
  readonly output: number
  /** US dollars, where the model has a price. */
  readonly costUsd?: number
  /** The budget that leaves less output than the model could produce. */
  readonly limit?: 'tokens' | 'cost'
}

/** US dollars for a token, at the highest that the model may cost. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
}

/** What a history that was made shorter still knows, as the next one that is needs it; `messages` tell it to the model. */
export interface Carried {
  /** Calls that may have changed something: the oldest, of which there were too many to be told. */
  readonly bundles: readonly EffectBundle[]
  /** The others, a line for each. */
  readonly lines: readonly string[]
  /** Empty where nothing was summed up yet. */
  readonly summary: string
  /** Messages at the beginning of the history that tell all this. */
  readonly length: number
}

/** Lines that are kept elsewhere, and how many they are. */
export interface EffectBundle {
  readonly count: number
  readonly handle: BlobId
}

/** Where a run was started, for whoever goes on with it later; the loop does not look at it. */
export interface RunOrigin {
  /** The folder that its tools work in, absolute. */
  readonly workspace: string
  /** The file of its agent, absolute. */
  readonly agentFile?: string
  /** What its command line said besides, for a command that goes on with it under the same terms. Paths are absolute. */
  readonly flags?: readonly RunFlag[]
}

/** A flag of a command line: `--deny 'shell(rm *)'` is `{ name: 'deny', value: 'shell(rm *)' }`. */
export interface RunFlag {
  readonly name: string
  readonly value: string
}

/** The call that a child was started by. */
export interface ParentCall {
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly itemId: ItemId
}

/** A part of a reply in its order: an item of this step by id, or a call as the model wrote it. */
export type ReplyRef = { readonly type: 'item'; readonly id: ItemId } | CallPart

export type InputMode = 'queue' | 'steer'
/** Why the coming step is the last one and has its tools switched off. */
export type LastStepReason = Extract<TurnReason, 'steps' | 'tokens' | 'cost' | 'time' | 'calls' | 'context' | 'repeats' | 'stopped'>
/** Why an answer is not called complete. */
export type PartialReason = LastStepReason | 'hook'

export interface TurnTotals {
  readonly usage: Usage
  readonly cost: Cost
  readonly steps: number
  readonly calls: number
  readonly durationMs: number
}

/** What an answer that has to be JSON was found to be. `notice` is for the model, `remedy` for the person. */
export type CheckedOutput =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problems: readonly string[]; readonly notice: string; readonly remedy: string }

/** How a turn ended, and why it ended so. */
export type TurnEnding =
  | { readonly status: 'completed' }
  /** `limit`: what ran out is what somebody above it had left. */
  | { readonly status: 'partial'; readonly reason: PartialReason; readonly limit?: 'above' }
  | { readonly status: 'interrupted'; readonly reason: 'interrupted' | 'denied' }
  | {
      readonly status: 'failed'
      readonly reason: TurnReason
      readonly message: string
      readonly remedy?: string
      readonly failure?: ModelFailure
    }
/** What a child took, its own children included. */
export interface ChildEnd {
  readonly childId: SessionId
  readonly agent: string
  readonly totals: TurnTotals
  /** Money that counts against budgets: what was reported, or else what was set aside. */
  readonly paidUsd: number
  /** Children that it started, and theirs. */
  readonly children: number
  /** Time that was not work: waiting for a person. */
  readonly idleMs: number
}

/** A question to a model that came before the first turn, and that this turn pays for. */
export interface AskedFirst {
  readonly model: string
  readonly usage: Usage
  readonly cost: Cost
  /** Money that counts against budgets: what was reported, or else what was set aside. */
  readonly paidUsd: number
  /** Waiting in line for the model included. */
  readonly latencyMs: number
  readonly failure?: ModelFailure
}

type EndingOf<Status> = Extract<TurnEnding, { status: Status }>

interface Bodies {
  'interaction.session.created': {
    readonly agent: AgentSpec
    readonly trace: Trace
    /** Names of the tools that the agent may be offered, sorted. */
    readonly tools: readonly string[]
    /** Size of the prompt, of the specs of the tools, and of the wish for JSON. */
    readonly promptChars: number
    readonly policy: string
    /** By the name that the agent gives the model; without those that have no price. */
    readonly prices?: { readonly [model: string]: TokenPrice }
    /** Tokens that a request and its reply may have together, by the same names, where that is known. */
    readonly windows?: { readonly [model: string]: number }
    /** Tokens that one reply of each of its models can have, where that is known. */
    readonly maxOutputs?: { readonly [model: string]: number }
    /** Absent for a root. */
    readonly parent?: ParentCall
    /** Of a root, where whoever started it has said so. */
    readonly origin?: RunOrigin
  }
  /** All of it counts from here on, as in `interaction.session.created`. */
  'interaction.session.configured': {
    readonly agent: AgentSpec
    readonly tools: readonly string[]
    readonly promptChars: number
    readonly prices?: { readonly [model: string]: TokenPrice }
    readonly windows?: { readonly [model: string]: number }
    /** Tokens that one reply of each of its models can have, where that is known. */
    readonly maxOutputs?: { readonly [model: string]: number }
    readonly reason: string
  }
  'interaction.session.resumed': { readonly epoch: number; readonly policy: string; readonly diagnostics: readonly Diagnostic[] }
  'interaction.session.idle': unknown

  'interaction.input.accepted': {
    readonly clientId: ClientId
    readonly parts: readonly InputPart[]
    readonly mode: InputMode
  }

  'interaction.turn.started': { readonly inputs: readonly ClientId[] }
  'interaction.turn.completed': { readonly ending: EndingOf<'completed' | 'partial'>; readonly report: Report; readonly totals: TurnTotals }
  'interaction.turn.failed': { readonly ending: EndingOf<'failed'>; readonly report?: Report; readonly totals: TurnTotals }
  'interaction.turn.interrupted': { readonly ending: EndingOf<'interrupted'>; readonly report?: Report; readonly totals: TurnTotals }
  'interaction.turn.suspended': { readonly reason: 'approval'; readonly approvals: readonly ApprovalId[] }

  'interaction.step.started': {
    /** As the agent names it, and as it calls itself. */
    readonly model: string
    readonly modelId: string
    readonly attempt: number
    readonly reservation: Reservation
    /** Steering input that enters the request of this step. */
    readonly absorbs: readonly ClientId[]
    /** The reply does not go on with the task: it sums up what has happened, so that the history can be shortened. */
    readonly compacts?: boolean
    /** Every model of the agent is left out for now, and this one is asked all the same. At most one such attempt a turn. */
    readonly probes?: boolean
    /** Present on a forced last step: why, and what the model is told. */
    readonly last?: { readonly reason: LastStepReason; readonly notice: string }
  }
  'interaction.step.completed': {
    readonly reply: readonly ReplyRef[]
    readonly finish: FinishReason
    readonly usage: Usage
    readonly cost: Cost
    readonly latencyMs: number
    readonly metadata?: JsonObject
    /** Present where the reply is an answer that has to be JSON. */
    readonly output?: CheckedOutput
  }
  'interaction.step.failed': {
    readonly failure: ModelFailure
    readonly usage: Usage
    readonly cost: Cost
    readonly latencyMs: number
    /** The next attempt at this model comes no sooner than this after the failure. */
    readonly delayMs: number
  }

  'interaction.item.started': { readonly item: ItemIntent }
  'interaction.item.updated': {
    readonly update: /** A further attempt of a call, with the force of an intent. */
      | { readonly kind: 'attempt'; readonly attempt: number; readonly reason: 'resumed' | 'unsandboxed'; readonly by?: string }
      | { readonly kind: 'plan'; readonly plan: Plan }
  }
  'interaction.item.completed': { readonly item: ItemRecord }

  'interaction.approval.requested': { readonly request: ApprovalRequest }
  'interaction.approval.resolved': {
    readonly approvalId: ApprovalId
    readonly decision: ApprovalDecision
    readonly by: string
  }
  /** Approved in another session of the tree; said of the root, and good for all. */
  'interaction.approval.granted': { readonly keys: readonly ApprovalKey[]; readonly from: SessionId; readonly by: string }
  'interaction.approval.revoked': { readonly keys: readonly string[]; readonly by: string }

  'interaction.subagent.selected': {
    readonly agent: string
    readonly reason: string
    readonly scores: { readonly [agent: string]: number }
    /** Present where a model was asked. */
    readonly asked?: AskedFirst
  }

  /** In the journal of the parent, for the item of its call. */
  'interaction.subagent.started': { readonly childId: SessionId; readonly agent: string; readonly childPath: string }
  'interaction.subagent.completed': ChildEnd & { readonly status: 'completed' | 'partial' }
  'interaction.subagent.failed': ChildEnd & { readonly status: 'failed' | 'interrupted'; readonly failure: ToolFailure }

  'interaction.hook.completed': {
    readonly hook: string
    readonly verdict: 'changed' | 'blocked' | 'context' | 'resumed' | 'failed'
    readonly message?: string
  }

  /** A text that enters the requests of this session from outside: a hook, a file of the project. */
  'interaction.context.added': { readonly source: string; readonly text: string }
  /** The history is shorter from here on. */
  'interaction.context.compacted': {
    /** What stands in place of everything before the last `kept` messages. */
    readonly messages: readonly Message[]
    readonly kept: number
    readonly carried: Carried
    /** Where everything that was said before is kept. */
    readonly output?: { readonly handle: BlobId; readonly bytes: number }
    readonly tokensBefore: number
    readonly tokensAfter: number
  }

  /** `abort`: a request of a child was denied in a way that ends the whole run. */
  'interaction.cancel.requested': { readonly mode: 'stop' | 'abort' | 'interrupt'; readonly by: string }
  'interaction.diagnostic': { readonly diagnostic: Diagnostic }
}

export type EventType = keyof Bodies

export interface Envelope {
  /** Gap-free over the tree; the one cursor. */
  readonly seq: number
  readonly treeId: TreeId
  readonly sessionId: SessionId
  /** `root`, `root/researcher#2`. */
  readonly agentPath: string
  readonly turnId?: TurnId
  readonly stepId?: StepId
  readonly itemId?: ItemId
  /** Milliseconds since 1970. */
  readonly at: number
  /** The position of the inbox row that this event takes in. */
  readonly inbox?: number
}

export type EventBody<Type extends EventType = EventType> = { [T in Type]: { readonly type: T } & Bodies[T] }[Type]
/** A durable event: one entry of the journal. */
export type InteractionEvent<Type extends EventType = EventType> = { [T in Type]: Envelope & { readonly type: T } & Bodies[T] }[Type]

/** What an event is before the ledger numbers and dates it. */
export type EventDraft = EventBody & {
  readonly turnId?: TurnId
  readonly stepId?: StepId
  readonly itemId?: ItemId
  readonly inbox?: number
}

/** Provisional, never in the journal, never needed to rebuild anything. */
export type LiveEvent = ItemDelta | QueueEvent

/** A piece of what will be an item. */
export interface ItemDelta {
  readonly type: 'interaction.item.delta'
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  readonly turnId: TurnId
  readonly stepId: StepId
  readonly itemId: ItemId
  /** The attempt that this belongs to; a later attempt replaces what an earlier one said. */
  readonly attempt: number
  readonly kind: 'text' | 'reasoning' | 'progress' | 'output'
  readonly text: string
}

/** What a piece belongs to, and what it is. */
export type LivePlace = Pick<ItemDelta, 'stepId' | 'itemId' | 'attempt' | 'kind'>

/** Somebody stands in line for a named queue, told again where it comes to wait for another one; or does so no longer. */
export interface QueueEvent {
  readonly type: 'interaction.queue.joined' | 'interaction.queue.left'
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  readonly turnId: TurnId
  readonly stepId?: StepId
  /** The call that waits. Absent where the session does, before it asks its model. */
  readonly itemId?: ItemId
  readonly queue: string
  /** When it began to wait. Milliseconds since 1970. */
  readonly since: number
}

/** What a stream yields. `'seq' in event` tells durable from live. */
export type StreamEvent = InteractionEvent | LiveEvent
