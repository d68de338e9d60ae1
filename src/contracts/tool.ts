import type { OutputContract } from './agent.ts'
import type { ApprovalKey, ApprovalWish, Question, QuestionAnswer } from './approvals.ts'
import type { HandoffReason, InputMode } from './events.ts'
import type { ToolFailure, TurnReason } from './failures.ts'
import type { CallId, ClientId } from './ids.ts'
import type { CallItemType, Effect } from './items.ts'
import type { Json, JsonObject, JsonSchema, MaybePromise } from './json.ts'
import type { AgentLimits } from './limits.ts'
import type { InputPart, Message } from './messages.ts'
import type { ModelAbility, ToolSpec } from './model.ts'
import type { AccountingEntry, OutcomeStatus, Report, TurnOperation } from './outcome.ts'
import type { Plan } from './plan.ts'
import type { SessionPlace } from './principal.ts'
import type { Confinement } from './sandbox.ts'
import type { SkillCard } from './skill.ts'

/** What a tool requires before it is offered: an ability of the model, or a feature flag. */
export type Gate = { readonly ability: ModelAbility } | { readonly flag: string }

/** Set once a session has stored an oversized output. */
export const storedOutputFlag = 'stored_output'

/** What the limits of the session and its ancestors leave. A field is absent without a limit. */
export interface RemainingBudget {
  readonly steps: number
  readonly tokens?: number
  readonly costUsd?: number
  readonly calls?: number
  readonly timeMs?: number
}

/** A task for another agent. The agent gets only this, not the history. */
export interface ChildTask {
  readonly agent: string
  readonly input: readonly InputPart[]
  /** Added after the prompt of the agent. */
  readonly instructions?: string
  /** Instead of the output format of the agent. */
  readonly output?: OutputContract
  /** Upper bounds of its limits: a lower limit of the agent applies. */
  readonly limits?: Partial<AgentLimits>
}

/** The description of an agent that a call may start. */
export interface AgentCard {
  readonly name: string
  readonly description: string
  readonly usage?: string
  readonly takes: 'text' | 'json'
  readonly inputSchema: JsonSchema
  /** The tool of the configuration that replaces the generated one. */
  readonly tool?: ToolSpec
}

/** How a child ended. `refused`: it never started. */
export type ChildResult =
  | { readonly kind: 'refused'; readonly failure: ToolFailure }
  | {
      readonly kind: 'ended'
      readonly status: Exclude<OutcomeStatus, 'suspended'>
      readonly reason?: TurnReason
      /** Present if it did not complete. */
      readonly failure?: ToolFailure
      readonly report?: Report
      readonly accounting: readonly AccountingEntry[]
      readonly operations: TurnOperation
      readonly conversation: readonly Message[]
    }

/** A spawned child that is not closed. */
export interface SpawnedAgent {
  /** Unique among the children of the session: `researcher#1`. */
  readonly id: string
  readonly agent: string
  /** `idle`: its turn has ended, and it takes further input. */
  readonly status: 'working' | 'idle'
  /** The number of its last turn. */
  readonly turn: number
  /** Whether it talks to the person, or why it no longer does. */
  readonly handoff?: 'open' | HandoffReason
}

/** A child after a wait. */
export interface WaitedAgent extends Omit<SpawnedAgent, 'status'> {
  readonly status: SpawnedAgent['status'] | 'closed'
  /** The result of its last turn, if it is idle. */
  readonly result?: Extract<ChildResult, { kind: 'ended' }>
  /** What all its turns used, with its descendants, if it is idle. `inputs`: messages that it has read, its task included. */
  readonly used?: { readonly inputs: number; readonly tokens: number; readonly workedMs: number }
  /** If it is idle: how long it waits for a message. */
  readonly idleMs?: number
  /** The person asked for the caller. */
  readonly isRecalled?: true
}

export interface WaitRequest {
  readonly ids: readonly string[]
  /**
   * `any` (default): until a child has news, or none of them works. `all`: until none of them works. `next`: until a child has
   * news, also if it is idle now and a person has to send it input (`sessions.send` with `to`); meanwhile the session is suspended.
   */
  readonly mode?: 'any' | 'all' | 'next'
  readonly timeoutMs?: number
  /** For a child that talks to the person: the last turn that the caller has seen. A later one is news, and starts only then. */
  readonly seen?: number
  /** `next`: how long the person may send nothing. Then the wait is over. The session continues for it, if it is suspended. */
  readonly idleMs?: number
}

type Refused = Extract<ChildResult, { kind: 'refused' }>

/**
 * Spawned children: they work while the agent goes on. Each report enters the next step of the agent, unless `wait` has
 * returned it before. The end of the turn closes them.
 */
export interface ChildControl {
  /** Starts a child. A call can spawn one child only: the same call finds it again after a crash. */
  spawn(task: ChildTask): Promise<SpawnedAgent | Refused>
  /** Starts another turn of an idle child. A working child gets the input at its next step (`steer`) or after its turn (`queue`). */
  send(id: string, input: readonly InputPart[], mode?: InputMode): Promise<SpawnedAgent | Refused>
  wait(request: WaitRequest): Promise<readonly WaitedAgent[] | Refused>
  /** Interrupts a child that works. Its session takes no further input. */
  close(id: string): Promise<WaitedAgent | Refused>
  /**
   * Spawns a child that talks to the person: messages to the session without an addressee go to it, and its answers to the person,
   * not to the agent. Its next turn starts once `wait` was called with the number of the last one. Its time budget is for all its
   * turns together. The end of the call closes it.
   */
  handOver(task: ChildTask): Promise<SpawnedAgent | Refused>
  /** Interrupts a child that works. Messages to the session go to the agent again, also those that the child has not read. */
  takeBack(id: string, reason: HandoffReason): Promise<WaitedAgent | Refused>
  list(): readonly SpawnedAgent[]
}

/** A request of a tool to a model. */
export interface SampleRequest {
  /** Several messages become one text with the roles. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly parts: readonly InputPart[] }[]
  readonly systemPrompt?: string
  /** Maximum length of the answer. */
  readonly maxTokens?: number
  readonly temperature?: number
  /** Parts of names. Models of the agent that match are tried first; other models are never used. */
  readonly modelHints?: readonly string[]
  /** Who asks, for rules and people, such as an MCP server. Default: the tool. */
  readonly from?: string
}

/** `length`: the answer was cut. */
export type SampleResult =
  | { readonly ok: true; readonly text: string; readonly model: string; readonly stopReason: 'stop' | 'length' }
  | { readonly ok: false; readonly error: ToolFailure }

export interface ToolContext extends SessionPlace {
  /** The agent that makes the call. */
  readonly agent: string
  /** The message that the call follows from: the last one that the agent, or an agent above it, has read. */
  readonly messageId?: ClientId | undefined
  /** Aborted on interrupt, timeout and end of budget. */
  readonly signal: AbortSignal
  /** Stable over resume: an idempotency key. */
  readonly callId: CallId
  /** 1, or more if the call runs again after a crash or outside the sandbox. */
  readonly attempt: number
  /** The session's variables; there is no other environment. */
  readonly overlay: { readonly [name: string]: string }
  readonly remaining: RemainingBudget
  /** The agent's `toolTimeout` in milliseconds, if it is set. */
  readonly toolTimeout?: number
  readonly confinement: Confinement
  /** A longer output is stored, and the model sees only its head and tail. */
  readonly maxOutputBytes: number
  /** The full text of a stored output. Rejects with the media type and size if the handle belongs to bytes. */
  storedOutput(handle: string): Promise<string | undefined>
  /** The agents that this agent may start. */
  readonly agents: readonly AgentCard[]
  /**
   * Starts an agent as a child of this call. Several are allowed, also in parallel. A call that runs again after a crash continues
   * the children that it started before: the first one with its first start, and so on. `signal`: interrupts this child.
   */
  startChild(task: ChildTask, signal?: AbortSignal): Promise<ChildResult>
  /** Tools that are found by search instead of being sent to the model. */
  searchableTools(): readonly ToolSpec[]
  /** For agents with `childControl` and tools with `controlsChildren`. */
  readonly children?: ChildControl
  /** The skills that this agent may load. */
  readonly skills: readonly SkillCard[]
  /** A person's answer, if the tool asked a question before it ran. */
  readonly answer?: string
  /** The answers to the questions that the last attempt returned, by their ids, and its state. */
  readonly answers?: { readonly [id: string]: QuestionAnswer }
  readonly askState?: Json
  /**
   * Asks a person while the call runs. Its timeout and the time budget are paused. A crash loses the question and the call;
   * questions in the output survive it. `cancel` if nobody can be asked or the signal aborts.
   */
  ask(question: Question, signal?: AbortSignal): Promise<QuestionAnswer>
  /**
   * Sends a request to a model of the agent, in a child session of the call without tools. It needs the approval
   * `sampling(NAME)`, and the budgets of the agent and its ancestors pay for it. The timeout of the call is paused.
   */
  sample(request: SampleRequest): Promise<SampleResult>
  /**
   * Whether rules allow something that the call finds while it runs, such as a file in a folder. `without asking`: the
   * approval of the call did not mention it.
   */
  mayUse(key: ApprovalKey, how?: 'without asking'): boolean
  /** Shows progress to people. The model does not see it. */
  progress(text: string): void
  /** Streams a piece of the output to people. The model sees the complete output at the end. */
  output(chunk: string): void
  /** Replaces the plan of the turn. */
  updatePlan(plan: Plan): void
}

/** `content`: the text for the model. If it is empty and there are parts, it is made from the parts. */
export type ToolOutput =
  | {
      readonly ok: true
      readonly content: string
      readonly parts?: readonly ToolPart[]
      readonly value?: Json
      readonly extras?: ToolExtras
      /** The turn ends after this step, without another request. `content` is its report. */
      readonly endsTurn?: true
    }
  | {
      readonly ok: false
      readonly error: ToolFailure
      readonly partial?: string
      readonly parts?: readonly ToolPart[]
      readonly extras?: ToolExtras
      /** Asks a person, and runs the call again with the answers. `error` is the result if it cannot run again. */
      readonly ask?: ToolQuestions
    }

/** Questions that end an attempt. A further attempt gets the answers and the state. At most 10 times in a call. */
export interface ToolQuestions {
  readonly questions: { readonly [id: string]: Question }
  readonly state?: Json
}

/**
 * A part of an output. Bytes are stored beside the journal. A model that can read images gets them (PNG, JPEG, GIF, WebP; PDF
 * if it reads files); for other models and types `content` has a line such as `[image/png, 34 KB, handle …]`.
 */
export type ToolPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'file'; readonly mediaType: string; readonly data: Uint8Array; readonly name?: string }
  | { readonly type: 'link'; readonly uri: string; readonly name?: string; readonly mediaType?: string }

/** For hooks and other code; neither recorded nor shown to the model. Fields may be getters: do not copy it with a spread. */
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
  /** Added to the prompt of every agent that has this tool. */
  readonly instructions?: string
  readonly inputSchema: JsonSchema
  /** Default `write`: never run twice. */
  readonly effect?: Effect
  /** Default `exclusive`. */
  readonly concurrency?: 'shared' | 'exclusive' | { key(input: JsonObject): MaybePromise<string> }
  /** May be called repeatedly with the same input, for example to poll. Otherwise the third call in a row is refused. */
  readonly repeatable?: boolean
  /** Its calls get `context.children`, also without `childControl` of the agent. */
  readonly controlsChildren?: true
  readonly timeoutMs?: number
  /** Time to react to the signal and return a partial result, in milliseconds. Default 250. An interrupted turn waits 1,000 at most. */
  readonly graceMs?: number
  readonly requires?: readonly Gate[]
  /** A label for logs and views, such as the server or package of the tool. Also matched by queues. */
  readonly namespace?: string
  /** A queue that its calls use, besides those of its name and namespace. */
  readonly queue?: string
  /** Why no call can run here, such as a missing program. Called before a person is asked: such a call fails immediately. */
  unavailable?(confinement: Confinement): MaybePromise<ToolFailure | undefined>
  /** What needs approval; `undefined` if the call is harmless. */
  approval?(input: JsonObject): MaybePromise<ApprovalWish | undefined>
  /** Only rules ask: `approval` says which ones apply to a call. Shown to people. */
  readonly asksByRuleOnly?: true
  view?(input: JsonObject): MaybePromise<ItemView>
  /** Return expected failures. A throw becomes a failure of class `failed`. */
  execute(input: JsonObject, context: ToolContext): MaybePromise<ToolOutput | string>
}
