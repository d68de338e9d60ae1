import type { ApprovalKey, ApprovalWish } from './approvals.ts'
import type { ToolFailure, TurnReason } from './failures.ts'
import type { CallId } from './ids.ts'
import type { CallItemType, Effect } from './items.ts'
import type { Json, JsonObject, JsonSchema, MaybePromise } from './json.ts'
import type { InputPart, Message } from './messages.ts'
import type { ModelAbility } from './model.ts'
import type { AccountingEntry, OutcomeStatus, TurnOperation } from './outcome.ts'
import type { Plan } from './plan.ts'
import type { Report } from './report.ts'
import type { SandboxPolicy } from './sandbox.ts'
import type { SkillCard } from './skill.ts'

/** What a tool requires before it is offered: an ability of the model, or a feature flag. */
export type Gate = { readonly ability: ModelAbility } | { readonly flag: string }

/** Set once a session has stored an output that was too large to show. */
export const storedOutputFlag = 'stored_output'

/** What is left to a turn by its own limits and by those of everybody above it; absent where there is no limit. */
export interface RemainingBudget {
  readonly steps: number
  readonly tokens?: number
  readonly costUsd?: number
  readonly calls?: number
  readonly timeMs?: number
}

/** How a call is confined. A tool that starts processes obeys it. */
export type Confinement = { readonly kind: 'none' } | { readonly kind: 'sandbox'; readonly name: string; readonly policy?: SandboxPolicy }

/** A task for another agent. It gets this and nothing else: no history, no variables of its own choosing. */
export interface ChildTask {
  readonly agent: string
  readonly input: readonly InputPart[]
}

/** What a call may know of an agent that it may start. */
export interface AgentCard {
  readonly name: string
  readonly description: string
  readonly usage?: string
  readonly takes: 'text' | 'json'
  readonly inputSchema: JsonSchema
}

/** How a child ended. `refused`: it was never started. */
export type ChildResult =
  | { readonly kind: 'refused'; readonly failure: ToolFailure }
  | {
      readonly kind: 'ended'
      readonly status: Exclude<OutcomeStatus, 'suspended'>
      readonly reason?: TurnReason
      /** Present where it did not complete. */
      readonly failure?: ToolFailure
      readonly report?: Report
      readonly accounting: readonly AccountingEntry[]
      readonly operations: TurnOperation
      readonly conversation: readonly Message[]
    }

export interface ToolContext {
  /** Aborted on interrupt, timeout and end of budget. */
  readonly signal: AbortSignal
  /** Stable over resume: an idempotency key. */
  readonly callId: CallId
  /** 1, or more where a call runs again after a crash or outside the sandbox. */
  readonly attempt: number
  /** The session's variables; there is no other environment. */
  readonly overlay: { readonly [name: string]: string }
  readonly remaining: RemainingBudget
  /** What the agent says that one call may take, in milliseconds; absent where it says nothing. */
  readonly toolTimeout?: number
  readonly confinement: Confinement
  /** A longer output is stored, and only its head and tail are shown. */
  readonly maxOutputBytes: number
  /** The whole of an output of this tree that was too large to show. */
  storedOutput(handle: string): Promise<string | undefined>
  /** The children that this agent may have. */
  readonly agents: readonly AgentCard[]
  /** Starts an agent as a child of this call, or goes on with the one that this call had started before a crash. */
  startChild(task: ChildTask): Promise<ChildResult>
  /** The skills that this agent may load. */
  readonly skills: readonly SkillCard[]
  /** What a person said, where the tool asked a question before it ran. */
  readonly answer?: string
  /**
   * Whether rules leave to this call what it comes upon while it runs, such as a file in a folder that it searches. `without
   * asking`: the person who was asked about the call was not told of this.
   */
  mayUse(key: ApprovalKey, how?: 'without asking'): boolean
  /** Shows people what is going on; never seen by the model. */
  progress(text: string): void
  /** Shows people a piece of the output as it comes; the model sees the whole at the end. */
  output(chunk: string): void
  /** Puts a plan in place of the one that the turn has. */
  updatePlan(plan: Plan): void
}

export type ToolOutput =
  | { readonly ok: true; readonly content: string; readonly value?: Json; readonly extras?: ToolExtras }
  | { readonly ok: false; readonly error: ToolFailure; readonly partial?: string; readonly extras?: ToolExtras }

/**
 * For hooks and other code beside the loop; neither recorded nor shown to the model. May be put together only when it is
 * asked for, so it is read by its names or as JSON, and not copied with a spread.
 */
export interface ToolExtras {
  readonly [name: string]: unknown
}

export interface ItemView {
  readonly type: CallItemType
  readonly details?: JsonObject
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** Added to the prompt of every agent that is offered this tool. */
  readonly instructions?: string
  readonly inputSchema: JsonSchema
  /** Default `write`: never run twice. */
  readonly effect?: Effect
  /** Default `exclusive`. */
  readonly concurrency?: 'shared' | 'exclusive' | { key(input: JsonObject): MaybePromise<string> }
  /** May be called again and again with the same input, e.g. to look whether something is done. Otherwise the third time in a row is refused. */
  readonly repeatable?: boolean
  readonly timeoutMs?: number
  /** How long it may take to heed its signal and say how far it came. Default 250. */
  readonly graceMs?: number
  readonly requires?: readonly Gate[]
  /** A label for logs and views, e.g. the server or package that it comes from. The loop never looks at it. */
  readonly namespace?: string
  /**
   * Why no call can run here, such as a program that is missing; nothing where calls can run. It is called before a person is
   * asked to approve a call: one that cannot run fails with this, and nobody is asked.
   */
  unavailable?(confinement: Confinement): MaybePromise<ToolFailure | undefined>
  /** What has to be allowed; nothing where the call is harmless. */
  approval?(input: JsonObject): MaybePromise<ApprovalWish | undefined>
  view?(input: JsonObject): MaybePromise<ItemView>
  /** Expected failures are returned. A throw costs this call and becomes class `failed`. */
  execute(input: JsonObject, context: ToolContext): MaybePromise<ToolOutput | string>
}

export interface ToolSource {
  list(): Promise<readonly Tool[]>
  close?(): Promise<void>
}
