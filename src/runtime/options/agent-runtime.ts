import type {
  AgentLimits,
  AnySchema,
  ApprovalDecision,
  ApprovalId,
  Approver,
  Clock,
  Hook,
  Ids,
  InputPart,
  InteractionEvent,
  Json,
  MaybePromise,
  Model,
  ModelAdapter,
  ModelParameters,
  Outcome,
  OwnerBudget,
  Principal,
  ProjectGrants,
  Receipt,
  RunOrigin,
  Sandbox,
  SchemaOutput,
  SendOptions,
  SessionId,
  SessionService,
  Store,
  StreamEvent,
} from '../../contracts/index.ts'
import type { Recipe } from '../../core/index.ts'
import type { ModelHealth } from '../../steps/index.ts'
import type { McpHost } from '../../tools/mcp/index.ts'
import type { AgentLoopConfig } from './agent-config.ts'

export type RunInput = string | readonly InputPart[]

/** The ports of MCP servers, as an option of a runtime. All have defaults. */
export type McpOptions = Partial<Omit<McpHost, 'clock'>>

/** Options for the life of a process: models, storage, approvals. */
export interface RuntimeOptions {
  readonly config: AgentLoopConfig
  /** One model, or an adapter that finds models by name. */
  readonly adapter: Model | ModelAdapter
  /** Default: `agentLoop`. */
  readonly recipe?: Recipe
  /** Default: in memory. */
  readonly store?: Store
  /** Default: every call that needs approval is denied. */
  readonly approver?: Approver
  /** Approvals for the project. Without it no approval outlives its session. */
  readonly grants?: ProjectGrants
  readonly sandbox?: Sandbox
  readonly hooks?: readonly Hook[]
  /** The workspace, variables and credentials of MCP servers. Default: no variables of the program but a standard `PATH`. */
  readonly mcp?: McpOptions
  readonly clock?: Clock
  readonly ids?: Ids
  /** Which models are avoided for a while after failures. Default: shared by all runtimes of the process. */
  readonly modelHealth?: ModelHealth
  /**
   * What all sessions of an owner may use together in a day. Asked when a session of the owner starts a turn or resumes one, so that a
   * change applies to the next turn. Sessions without an owner have no such budget.
   */
  budgetOf?(owner: string): MaybePromise<OwnerBudget | undefined>
  /** Where runs are started. Recorded in each journal, for those who resume it. */
  readonly origin?: RunOrigin
}

export interface RunOptions {
  /** Aborting it interrupts the turn. */
  readonly signal?: AbortSignal
  /** Another agent of the configuration for this session. */
  readonly agent?: string
  /** Variables for the tools of this session, in addition to those of the runtime. They are not stored, and models do not use them. */
  readonly overlay?: { readonly [name: string]: string }
  /**
   * The answers of this session are JSON of this schema, whatever the agent says: `report.value`. A JSON Schema, or a schema of
   * zod, valibot, arktype or another Standard Schema library. The journal keeps it as JSON Schema.
   */
  readonly output?: AnySchema
  /** `pin`: later turns keep the definitions of the first. Default `latest`. */
  readonly definitions?: Definitions
  /** Who opens the session and owns it. Default: nobody. */
  readonly principal?: Principal
}

/** Whether a turn begins with the current definitions of agents and tools, or with those of the turn before. */
export type Definitions = 'latest' | 'pin'

/**
 * Changes to the root agent of a session, from now on. An open turn keeps its other definitions; the next turn begins with the current
 * ones, unless `definitions` is `pin`.
 * What the turn and the session have used counts against new limits.
 */
export interface OpenOptions {
  /** In order of preference. */
  readonly models?: readonly string[]
  readonly limits?: Partial<AgentLimits>
  readonly parameters?: ModelParameters
  /** Variables of the session, which are not stored. Default: those of the runtime. */
  readonly overlay?: { readonly [name: string]: string }
  /** `pin`: its turns keep the recorded definitions. Default `latest`. */
  readonly definitions?: Definitions
}

export interface CloseOptions {
  /** Finish running turns first; queued inputs stay queued. Default: false. */
  readonly drain?: boolean
}

/**
 * A session that runs whether or not anybody reads it. Iterate it once for the events since this handle was created. Leaving the loop
 * ends the reading, not the session: it works on, and the process stays alive meanwhile. `interrupt` or `stop` end the turn.
 * `runtime.sessions.events` reads a session any number of times.
 *
 * @example
 * for await (const event of handle) console.log(event.type)
 * const { report } = await handle.outcome
 */
export interface RunHandle<Value = Json> extends AsyncIterable<StreamEvent> {
  /** For `runtime.open` and `runtime.sessions`. */
  readonly sessionId: SessionId
  /** Resolves when the session is idle or suspended; for a session that was opened idle, after its next turn. Never rejects. */
  readonly outcome: Promise<Outcome<Value>>
  /** Starts another turn after the current one. */
  send(input: RunInput, options?: SendOptions): Promise<Receipt>
  /** Adds input to the current turn, before its next step. */
  steer(input: RunInput): Promise<Receipt>
  /** Ends the turn with a last answer. */
  stop(): Promise<Receipt>
  /** Ends the turn immediately. */
  interrupt(): Promise<Receipt>
  approve(approvalId: ApprovalId | string, decision: ApprovalDecision): Promise<Receipt>
  /**
   * Releases an idle session, so that another process can open it. Applies to all handles of the session in this process. A running
   * session is released when it is idle.
   */
  release(): Promise<void>
}

export interface AgentRuntime {
  /** Runs one turn in a new session. Failures are part of the outcome; only wrong arguments reject. */
  run<const Output extends AnySchema>(
    input: RunInput,
    options: RunOptions & { readonly output: Output },
  ): Promise<Outcome<SchemaOutput<Output>>>
  run(input: RunInput, options?: RunOptions): Promise<Outcome>
  /** Like `run`, with a handle to watch and steer the session. */
  stream<const Output extends AnySchema>(
    input: RunInput,
    options: RunOptions & { readonly output: Output },
  ): RunHandle<SchemaOutput<Output>>
  stream(input: RunInput, options?: RunOptions): RunHandle
  /**
   * Opens an existing session: continues an unfinished turn, or waits for input. Records the changes of `options` first. Rejects, and
   * changes nothing, if the options are wrong, a model is unavailable, or this runtime lacks the workspace or an agent of the session.
   */
  open(sessionId: SessionId | string, options?: OpenOptions): Promise<RunHandle>
  readonly sessions: SessionService
  /**
   * Replaces agents and tools, and models, hooks and the sandbox if given. Turns that have begun keep theirs; the next turn of every
   * session begins with the new ones. Rejects if the configuration is wrong or a tool source fails; the runtime then keeps the one before.
   */
  update(config: AgentLoopConfig, changes?: Partial<Pick<RuntimeOptions, 'adapter' | 'hooks' | 'sandbox'>>): Promise<void>
  /**
   * Releases every session and closes tools; the store stays open. Running turns are suspended (reason `released`) and continue when
   * their session is opened again. Running calls get their signal and `graceMs`. With `drain`, running turns finish first; a second
   * `close()` without it releases the remaining ones.
   */
  close(options?: CloseOptions): Promise<void>
  /** For a server that makes the sessions reachable for others. Applies to sessions that begin or continue from now on. */
  hostedBy(host: RuntimeHost): Hosted
}

interface Hosted {
  readonly origin: RunOrigin | undefined
  readonly store: Store
  /** Ends it, unless another server has joined since. */
  leave(): void
}

/** What a server adds to a runtime. */
export interface RuntimeHost {
  /** Budgets of owners, beside those of the runtime itself: the lower amount applies. */
  budgetOf?(owner: string): MaybePromise<OwnerBudget | undefined>
  /** Decides where the runtime has no approver of its own. */
  readonly approver?: Approver
  readonly observer?: RuntimeObserver
}

/** Learns what is stored. It must not throw. */
export interface RuntimeObserver {
  /** A session that was stored before continues here. */
  continued(session: ContinuedSession): void
  /** An event is durable. Events of a session come in their order. */
  stored(event: InteractionEvent): void
}

export interface ContinuedSession {
  readonly sessionId: SessionId
  readonly agent: string
  /** The call that started it. */
  readonly parent?: { readonly sessionId: SessionId; readonly itemId: string } | undefined
  /** Who owns its root. */
  readonly principal?: Principal | undefined
}
