import type { AgentChanges, AgentSpec } from './agent.ts'
import type { ApprovalDecision, ApprovalKey, ApprovalRequest } from './approvals.ts'
import type { Diagnostic, ModelFailure, ToolFailure, TurnReason } from './failures.ts'
import type { ApprovalId, BlobId, ClientId, ItemId, SessionId, StepId, TreeId, TurnId } from './ids.ts'
import type { ItemIntent, ItemRecord } from './items.ts'
import type { Json, JsonObject } from './json.ts'
import type { CallPart, InputPart, Message } from './messages.ts'
import type { FinishReason, ModelAbility, ToolSpec } from './model.ts'
import type { Report, Trace } from './outcome.ts'
import type { Plan } from './plan.ts'
import type { Principal } from './principal.ts'
import type { ToolQuestions } from './tool.ts'
import type { Cost, Usage } from './usage.ts'

/** Reserved before an attempt, and replaced by its real usage. */
export interface Reservation {
  readonly input: number
  readonly output: number
  /** US dollars, if the model has a price. */
  readonly costUsd?: number
  /** The budget that allows less output than the model could produce. */
  readonly limit?: 'tokens' | 'cost'
}

/** US dollars for a token, at the highest price of the model. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
}

/** What a compacted history keeps for the next compaction. `messages` contain it for the model. */
export interface Carried {
  /** The oldest calls that may have changed something: stored elsewhere. */
  readonly bundles: readonly EffectBundle[]
  /** The other calls, a line for each. */
  readonly lines: readonly string[]
  /** Empty if there is no summary yet. */
  readonly summary: string
  /** Number of messages at the beginning of the history that contain all this. */
  readonly length: number
}

/** Stored lines. */
export interface EffectBundle {
  readonly count: number
  readonly handle: BlobId
}

/** Where a session was started, for a program that continues it later. */
export interface RunOrigin {
  /** The folder that its tools work in, absolute. */
  readonly workspace: string
  /** The file of its agent, absolute. */
  readonly agentFile?: string
  /** The command that started it, if that command resumes its own sessions: `serve`. */
  readonly command?: string
  /** Its other flags, for a command that continues it under the same terms. Paths are absolute. */
  readonly flags?: readonly RunFlag[]
}

/** A flag of a command line: `--deny 'shell(rm *)'` is `{ name: 'deny', value: 'shell(rm *)' }`. */
export interface RunFlag {
  readonly name: string
  readonly value: string
}

/** The call that started a child. */
export interface ParentCall {
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly itemId: ItemId
}

/** A part of a reply in its order: an item of this step by id, or a call as the model wrote it. */
export type ReplyRef = { readonly type: 'item'; readonly id: ItemId } | CallPart

export type InputMode = 'queue' | 'steer'

/** The trace that a request of a caller belongs to: headers of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** Why a step is the last one, with tools disabled. */
export type LastStepReason = Extract<TurnReason, 'steps' | 'tokens' | 'cost' | 'time' | 'calls' | 'context' | 'repeats' | 'stopped'>
/** Why an answer is partial. */
export type PartialReason = LastStepReason | 'hook'

export interface TurnTotals {
  readonly usage: Usage
  readonly cost: Cost
  readonly steps: number
  readonly calls: number
  /** From start to end. */
  readonly durationMs: number
  /** The part of it that was no work: it waited for a person, or had no driver. Older journals do without. */
  readonly waitedMs?: number
}

/** What a model request needs beside the state of its session. Recorded with a step when it differs from that of the step before. */
export interface RecordedOffer {
  /** The hash of the tools and their instructions, which `interaction.offer.recorded` contains. */
  readonly hash: string
  /** The abilities of the model: they decide which images and files it gets. */
  readonly abilities: readonly ModelAbility[]
  /** Whether the reservation of the step was its `maxOutputTokens`. */
  readonly capsOutput: boolean
}

/** The check of an answer that must be JSON. `notice` is for the model, `remedy` for the person. */
export type CheckedOutput =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problems: readonly string[]; readonly notice: string; readonly remedy: string }

/** How and why a turn ended. */
export type TurnEnding =
  | { readonly status: 'completed' }
  /** `limit`: a limit of an ancestor was reached, or the budget of the owner. */
  | { readonly status: 'partial'; readonly reason: PartialReason; readonly limit?: 'above' | 'owner' }
  | { readonly status: 'interrupted'; readonly reason: 'interrupted' | 'denied' }
  | {
      readonly status: 'failed'
      readonly reason: TurnReason
      readonly message: string
      readonly remedy?: string
      readonly failure?: ModelFailure
    }
/** What a child used, including its descendants. */
export interface ChildEnd {
  readonly childId: SessionId
  readonly agent: string
  readonly totals: TurnTotals
  /** US dollars charged to budgets: the reported cost, or else the reservation. */
  readonly paidUsd: number
  /** Number of descendants that it started. */
  readonly children: number
  /** Time of waits for a person. */
  readonly idleMs: number
  /** For a spawned child: the number of the turn that ended. The figures are those of this turn. */
  readonly turn?: number
  /** For a spawned child: the text for the model of the parent, which enters its next step like a steering message. */
  readonly notice?: string
}

/** The model request that selected the agent. The first turn pays for it. */
export interface AskedFirst {
  readonly model: string
  readonly usage: Usage
  readonly cost: Cost
  /** US dollars charged to budgets: the reported cost, or else the reservation. */
  readonly paidUsd: number
  /** Including the wait in a queue. */
  readonly latencyMs: number
  readonly failure?: ModelFailure
}

/**
 * Why a handoff ended. `done`: the child returned control. `turns`: the person sent as many messages as allowed. `idle`: the person sent
 * nothing for too long. `asked`: the person asked for it. `ended`: the call ended.
 */
export type HandoffReason = 'done' | 'time' | 'turns' | 'tokens' | 'idle' | 'failed' | 'asked' | 'ended'

type EndingOf<Status> = Extract<TurnEnding, { status: Status }>

interface Bodies {
  'interaction.session.created': {
    readonly agent: AgentSpec
    readonly trace: Trace
    /** Names of the tools that the agent may be offered, sorted. */
    readonly tools: readonly string[]
    /** Characters of the prompt, the tool specs and the instruction for JSON. */
    readonly promptChars: number
    readonly policy: string
    /** By the name of the model in the agent. Models without a price are absent. */
    readonly prices?: { readonly [model: string]: TokenPrice }
    /** Context windows in tokens, by the same names, if known. */
    readonly windows?: { readonly [model: string]: number }
    /** Maximum tokens of one reply, by the same names, if known. */
    readonly maxOutputs?: { readonly [model: string]: number }
    /** Absent for a root. */
    readonly parent?: ParentCall
    /** For a root, if the program that started it gave one. */
    readonly origin?: RunOrigin
    /** For a root: who opened it. */
    readonly principal?: Principal
    /** What its caller set instead of the definition of the agent. Contained in `agent`. */
    readonly changes?: AgentChanges
    /** For a copy of another session. */
    readonly forkedFrom?: {
      readonly sessionId: SessionId
      readonly seq: number
      /** The last event of the copy itself: what follows is work of its own. */
      readonly last?: number
    }
  }
  /** Replaces the configuration of `interaction.session.created`. */
  'interaction.session.configured': {
    readonly agent: AgentSpec
    readonly tools: readonly string[]
    readonly promptChars: number
    readonly prices?: { readonly [model: string]: TokenPrice }
    readonly windows?: { readonly [model: string]: number }
    readonly maxOutputs?: { readonly [model: string]: number }
    /** What its caller set instead of the definition of the agent, from now on. */
    readonly changes?: AgentChanges
    readonly reason: string
  }
  'interaction.session.resumed': {
    readonly epoch: number
    readonly policy: string
    readonly diagnostics: readonly Diagnostic[]
    /** Time of the last event of the tree before it: until then, the session or its children worked. Absent in older journals. */
    readonly stoppedAt?: number
  }
  'interaction.session.idle': unknown

  'interaction.input.accepted': {
    readonly clientId: ClientId
    readonly parts: readonly InputPart[]
    readonly mode: InputMode
    /** The turn that it begins belongs to this trace. */
    readonly traceContext?: TraceContext
    /** It ends the handoff of this session, and no model reads it. */
    readonly endsHandoff?: true
  }

  /** Inputs that an interrupt held back begin turns again. A further input has the same effect. */
  'interaction.held.sent': { readonly by: string }

  /** Earlier messages of a client that keeps its own history, before the first turn. */
  'interaction.history.added': { readonly messages: readonly Message[] }

  'interaction.turn.started': { readonly inputs: readonly ClientId[] }
  'interaction.turn.completed': { readonly ending: EndingOf<'completed' | 'partial'>; readonly report: Report; readonly totals: TurnTotals }
  'interaction.turn.failed': { readonly ending: EndingOf<'failed'>; readonly report?: Report; readonly totals: TurnTotals }
  'interaction.turn.interrupted': { readonly ending: EndingOf<'interrupted'>; readonly report?: Report; readonly totals: TurnTotals }
  /** `input`: nobody works, and a call waits for a child that takes input. `client`: calls wait for results of the client. */
  'interaction.turn.suspended': { readonly reason: 'approval' | 'input' | 'client'; readonly approvals: readonly ApprovalId[] }

  'interaction.step.started': {
    /** The name in the agent; `modelId` is `provider/name`. */
    readonly model: string
    readonly modelId: string
    readonly attempt: number
    readonly reservation: Reservation
    /** Steering input that enters the request of this step. */
    readonly absorbs: readonly ClientId[]
    /** The reply is a summary for compaction, not a step of the task. */
    readonly compacts?: boolean
    /** All models are excluded for now, and this one is tried anyway. At most once a turn. */
    readonly probes?: boolean
    /** Present if it is not that of the step before. Absent in older journals. */
    readonly offer?: RecordedOffer
    /** Present on a forced last step: the reason, and the notice for the model. */
    readonly last?: { readonly reason: LastStepReason; readonly notice: string }
  }
  'interaction.step.completed': {
    readonly reply: readonly ReplyRef[]
    readonly finish: FinishReason
    readonly usage: Usage
    readonly cost: Cost
    readonly latencyMs: number
    /** From the request to the first piece of the reply. Absent if the reply came whole, and in older journals. */
    readonly firstTokenMs?: number
    readonly metadata?: JsonObject
    /** Present if the reply is an answer that must be JSON. */
    readonly output?: CheckedOutput
  }
  'interaction.step.failed': {
    readonly failure: ModelFailure
    readonly usage: Usage
    readonly cost: Cost
    readonly latencyMs: number
    /** Minimum wait before the next attempt with this model. */
    readonly delayMs: number
    /** The text so far enters the history, as what was said before an interrupt. Older journals do without. */
    readonly keepsText?: true
  }

  'interaction.item.started': { readonly item: ItemIntent }
  'interaction.item.updated': {
    readonly update: /** Another attempt of a call. Like an intent: it may have run. */
      | {
          readonly kind: 'attempt'
          readonly attempt: number
          readonly reason: 'resumed' | 'unsandboxed' | 'answered'
          readonly by?: string
        }
      /** The attempt ended with questions. Each becomes a request, one after the other. */
      | { readonly kind: 'asked'; readonly ask: ToolQuestions }
      | { readonly kind: 'plan'; readonly plan: Plan }
  }
  'interaction.item.completed': { readonly item: ItemRecord }

  'interaction.approval.requested': { readonly request: ApprovalRequest }
  'interaction.approval.resolved': {
    readonly approvalId: ApprovalId
    readonly decision: ApprovalDecision
    readonly by: string
  }
  /** Approved in another session of the tree. Recorded in the root, and valid for all sessions. */
  'interaction.approval.granted': { readonly keys: readonly ApprovalKey[]; readonly from: SessionId; readonly by: string }
  'interaction.approval.revoked': { readonly keys: readonly string[]; readonly by: string }

  'interaction.subagent.selected': {
    readonly agent: string
    readonly reason: string
    readonly scores: { readonly [agent: string]: number }
    /** Present if a model was asked. */
    readonly asked?: AskedFirst
  }

  /** In the journal of the parent, for the item of its call. */
  'interaction.subagent.started': {
    readonly childId: SessionId
    readonly agent: string
    readonly childPath: string
    /** For a spawned child, which outlives its call: the number of the turn that starts. */
    readonly turn?: number
  }
  'interaction.subagent.completed': ChildEnd & { readonly status: 'completed' | 'partial' }
  'interaction.subagent.failed': ChildEnd & { readonly status: 'failed' | 'interrupted'; readonly failure: ToolFailure }
  /** A spawned child takes no further input. */
  'interaction.subagent.closed': { readonly childId: SessionId; readonly agent: string }

  /** A spawned child talks to the person from now on: messages to the session go to it. In the journal of the parent. */
  'interaction.handoff.started': { readonly childId: SessionId; readonly agent: string; readonly childPath: string }
  'interaction.handoff.completed': {
    readonly childId: SessionId
    readonly agent: string
    readonly reason: HandoffReason
    /** The last message that the child has read, unless the person asked for the caller after it. */
    readonly message?: ClientId
  }

  /** Tools as they are sent to models, and their instructions for the prompt. In the root, once for each hash, for all sessions of the tree. */
  'interaction.offer.recorded': { readonly hash: string; readonly tools: readonly ToolSpec[]; readonly instructions: string }

  'interaction.hook.completed': {
    readonly hook: string
    readonly verdict: 'changed' | 'blocked' | 'context' | 'resumed' | 'failed'
    readonly message?: string
  }

  /** A text that a hook or a project file adds to the history. */
  'interaction.context.added': { readonly source: string; readonly text: string }
  /** Replaces the beginning of the history. */
  'interaction.context.compacted': {
    /** They replace everything before the last `kept` messages. */
    readonly messages: readonly Message[]
    readonly kept: number
    readonly carried: Carried
    /** The stored full text. */
    readonly output?: { readonly handle: BlobId; readonly bytes: number }
    readonly tokensBefore: number
    readonly tokensAfter: number
  }

  /** `abort`: the denial of a request ended the whole run. */
  'interaction.cancel.requested': { readonly mode: 'stop' | 'abort' | 'interrupt'; readonly by: string }
  'interaction.diagnostic': { readonly diagnostic: Diagnostic }
}

export type EventType = keyof Bodies

export interface Envelope {
  /** Without gaps over the tree. The cursor for readers. */
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
  /** The position of the inbox row behind this event. */
  readonly inbox?: number
}

export type EventBody<Type extends EventType = EventType> = { [T in Type]: { readonly type: T } & Bodies[T] }[Type]
/** A durable event: one entry of the journal. */
export type InteractionEvent<Type extends EventType = EventType> = { [T in Type]: Envelope & { readonly type: T } & Bodies[T] }[Type]

/** An event before the ledger numbers and dates it. */
export type EventDraft = EventBody & {
  readonly turnId?: TurnId
  readonly stepId?: StepId
  readonly itemId?: ItemId
  readonly inbox?: number
}

/** Provisional. Never stored, and never needed to rebuild state. */
export type LiveEvent = ItemDelta | QueueEvent

/** A piece of an item that is in progress. */
export interface ItemDelta {
  readonly type: 'interaction.item.delta'
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  readonly turnId: TurnId
  readonly stepId: StepId
  readonly itemId: ItemId
  /** A later attempt replaces the pieces of an earlier one. */
  readonly attempt: number
  readonly kind: 'text' | 'reasoning' | 'progress' | 'output'
  readonly text: string
  /** Characters of this item, attempt and kind before this piece. A reader that came late first gets all of them, from 0. */
  readonly offset: number
}

/** Where pieces belong, and how many characters there are so far. */
export interface LivePlace extends Pick<ItemDelta, 'stepId' | 'itemId' | 'attempt' | 'kind'> {
  offset: number
}

/** A session or call waits in a named queue, or no longer does. Repeated if it waits for another queue next. */
export interface QueueEvent {
  readonly type: 'interaction.queue.joined' | 'interaction.queue.left'
  readonly treeId: TreeId
  readonly sessionId: SessionId
  readonly agentPath: string
  readonly turnId: TurnId
  readonly stepId?: StepId
  /** The call that waits. Absent if the session waits for its model. */
  readonly itemId?: ItemId
  readonly queue: string
  /** Start of the wait, in milliseconds since 1970. */
  readonly since: number
}

/** What a stream yields. `'seq' in event` tells durable from live. */
export type StreamEvent = InteractionEvent | LiveEvent
