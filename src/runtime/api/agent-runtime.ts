import type {
  AgentLimits,
  ApprovalDecision,
  ApprovalId,
  Approver,
  Clock,
  Hook,
  Ids,
  InputPart,
  Model,
  ModelAdapter,
  ModelParameters,
  Outcome,
  ProjectGrants,
  Receipt,
  RunOrigin,
  Sandbox,
  SendOptions,
  SessionId,
  SessionService,
  Store,
  StreamEvent,
} from '../../contracts/index.ts'
import type { Recipe } from '../../core/index.ts'
import type { ModelHealth } from '../../steps/index.ts'
import type { AgentLoopConfig } from './agent-config.ts'

export type RunInput = string | readonly InputPart[]

/** Lives as long as the process: where models come from, where journals go, who decides. */
export interface RuntimeOptions {
  readonly config: AgentLoopConfig
  /** A model, or whatever finds one by name. */
  readonly adapter: Model | ModelAdapter
  /** Default `agentLoop`. */
  readonly recipe?: Recipe
  /** Default: memory. */
  readonly store?: Store
  /** Default: whatever needs an approval is denied. */
  readonly approver?: Approver
  /** What was approved for the project; without it nothing outlives its session. */
  readonly grants?: ProjectGrants
  readonly sandbox?: Sandbox
  readonly hooks?: readonly Hook[]
  readonly clock?: Clock
  readonly ids?: Ids
  /** Which models are left out for a while. Default: one for all runtimes of the process. */
  readonly modelHealth?: ModelHealth
  /** Where runs are started, for whoever goes on with one later: the journal of each begins with it. */
  readonly origin?: RunOrigin
}

export interface RunOptions {
  /** Aborting interrupts the turn. */
  readonly signal?: AbortSignal
  /** Another agent of the config for this tree. */
  readonly agent?: string
  /**
   * Variables of this tree, over those of the runtime: for its tools, and hidden like theirs. They are nowhere stored;
   * models are asked with what their adapter was given.
   */
  readonly overlay?: { readonly [name: string]: string }
}

/**
 * What changes for the root of a tree from here on. What is left out stays as the journal has it, and so does all else that
 * makes the agent: its prompt, tools, rules and children. What the turn and the session have used already counts.
 */
export interface OpenOptions {
  /** Instead of those that it had, in the order of trying. */
  readonly models?: readonly string[]
  readonly limits?: Partial<AgentLimits>
  readonly parameters?: ModelParameters
  /** Variables that it was started with in another process; without them those of the runtime hold. They are nowhere stored. */
  readonly overlay?: { readonly [name: string]: string }
}

export interface CloseOptions {
  /** Finish the turns that are running first; queued inputs stay queued. Default false. */
  readonly drain?: boolean
}

/**
 * A run that goes on whether or not anybody reads it. It can be iterated once and yields events from the beginning of
 * this handle; leaving the loop detaches and changes nothing. `sessions.events` reads a tree as often as you like.
 */
export interface RunHandle extends AsyncIterable<StreamEvent> {
  /** Names the session and its descendants, for `runtime.open` and `runtime.sessions`. */
  readonly sessionId: SessionId
  /** Resolves when the session is idle or suspended, on a handle of a tree that was idle after its next turn; never rejects. */
  readonly outcome: Promise<Outcome>
  /** A further turn, after the present one. */
  send(input: RunInput, options?: SendOptions): Promise<Receipt>
  /** Enters the present turn at its next step. */
  steer(input: RunInput): Promise<Receipt>
  /** Ends the turn with a last answer. */
  stop(): Promise<Receipt>
  /** Ends the turn now. */
  interrupt(): Promise<Receipt>
  approve(approvalId: ApprovalId | string, decision: ApprovalDecision): Promise<Receipt>
  /**
   * Lets go of a tree that was opened and has nothing to do: it waits for nothing more here, `outcome` says how it stands, and
   * another process may take it up. That holds for all handles of it in this process: whoever goes on opens it again. One that is
   * at work goes on, and is let go when it has come to rest, as ever.
   */
  release(): Promise<void>
}

export interface AgentRuntime {
  /** One turn in a new tree. Never throws once started: the outcome tells. */
  run(input: RunInput, options?: RunOptions): Promise<Outcome>
  stream(input: RunInput, options?: RunOptions): RunHandle
  /**
   * Takes up an existing tree: goes on with what is unfinished, or waits to be sent something. What `options` change is in the
   * journal before anything else happens, and holds for whoever takes the tree up next. Rejects where they are wrong, a model
   * cannot be had, or this runtime lacks the workspace, the agent of the root or the agent of an open child; nothing is changed then.
   */
  open(sessionId: SessionId | string, options?: OpenOptions): Promise<RunHandle>
  readonly sessions: SessionService
  /**
   * Releases every session, then closes tools. The store stays its owner's. No turn is ended: one that was running has the outcome
   * `suspended` with the reason `released`, and continues where it is opened next. Calls get their signal and their `graceMs`; one
   * that finishes in time is recorded, the others are recovered on resume as after a crash. With `drain` running turns finish first;
   * a second `close()` without it releases those that are left.
   */
  close(options?: CloseOptions): Promise<void>
}
