// The interfaces between the parts of the kernel.
import type {
  AgentDescriptor,
  AgentResult,
  AnyExtension,
  BusEvent,
  ChannelProvider,
  Conversations,
  ExtensionProblem,
  ExtensionState,
  HealthReport,
  IncomingMessage,
  Json,
  JsonObject,
  MaybePromise,
  ModelParameters,
  OwnerBudget,
  PublishOptions,
  Recipient,
  Schedule,
  Schedules,
  SessionService,
  StartAgentOptions,
  Tool,
} from '../../contracts/index.ts'
import type { ExtensionConfig } from '../../project/index.ts'

/** A checked `manifest.yaml` with its defaults. */
export interface ExtensionManifest {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description: string
  /** `main:ClassName`. Absent: the `agent` section says everything. */
  readonly entrypoint?: { readonly file: string; readonly className: string }
  /** For the summary in the prompt of the orchestrator. */
  readonly naturalLanguageDescription?: string
  readonly dependsOn: readonly string[]
  /** `agents`: only agents that list it in `uses_tools` see its tools. Default `all`. */
  readonly visibility: 'all' | 'agents'
  readonly permissions: ExtensionPermissions
  readonly config: JsonObject
  /** Names of variables. */
  readonly secrets: readonly string[]
  readonly enabled: boolean
  /** Tasks for the orchestrator on a schedule. */
  readonly schedules: readonly (Schedule & { readonly id: string; readonly task: string })[]
  /** Names of events that start the agent of this extension. */
  readonly events: readonly string[]
  readonly agent?: AgentSection
}

/** What an extension in a sandboxed process may reach. Default: nothing but its own folder and `dataDir`. */
export interface ExtensionPermissions {
  readonly hosts: readonly string[]
  /** Folders of the project that it may read, relative to the project. */
  readonly read: readonly string[]
  /** Folders of the project that it may read and write. */
  readonly write: readonly string[]
}

export interface AgentSection {
  readonly integrationMode: 'tool' | 'handoff'
  readonly model: string
  /** The rendered template. */
  readonly instructions: string
  readonly parameters: ModelParameters & { readonly timeoutMs?: number }
  readonly usesTools: readonly string[]
  readonly limits: {
    readonly maxTurns: number
    readonly maxTokensPerInvocation: number
    readonly timeBudgetMs: number
    /** Of a handoff: how long the person may send nothing. */
    readonly idleMs: number
  }
}

/** An extension on disk. */
export interface FoundExtension {
  /** The name of its folder, which the manifest must repeat. */
  readonly id: string
  /** Absolute. */
  readonly folder: string
  readonly source: 'project' | 'user' | 'bundled'
  /** The hash of all files in the folder. Trust and quarantine are bound to it. */
  readonly hash: string
  readonly trusted: boolean
  /** Trusted, or a person has given it its permissions. If not, it gives no work to the orchestrator. */
  readonly permitted: boolean
  /** Absent if it is wrong: see `problems`. Without what a person has not permitted yet, which is one of them: see `withheldOf`. */
  readonly manifest?: ExtensionManifest
  /** `extensions.ID` of the configuration. Trusted extensions only. Without `values` it is not loaded. */
  readonly configured?: ExtensionConfig
  readonly problems: readonly ExtensionProblem[]
}

/** The code of an extension, wherever it runs. `instance` has only the methods that the extension implements. */
export interface OpenedExtension {
  readonly runs: 'kernel' | 'sandbox'
  readonly instance: AnyExtension
  /** For a sandboxed process: resolves with the reason when it ends without `close`. */
  readonly ended?: Promise<string>
  close(): Promise<void>
}

/** Loads the code. Rejects with a `TroupeError` that names the place and the remedy. */
export type OpenExtension = (found: FoundExtension & { readonly manifest: ExtensionManifest }) => Promise<OpenedExtension>

export type Capability = 'tools' | 'channel' | 'service' | 'scheduler' | 'agent' | 'context' | 'setup'

/** An extension after loading. A live object: its fields change when it fails, or its process is restarted. */
export interface LoadedExtension {
  readonly found: FoundExtension
  readonly state: ExtensionState
  readonly runs: 'kernel' | 'sandbox' | 'nowhere'
  readonly instance: AnyExtension
  readonly capabilities: ReadonlySet<Capability>
  /** Its own tools with their full names, `EXTENSION__TOOL`. */
  readonly tools: readonly Tool[]
  /** Those of its `uses_tools`, with their full names. */
  readonly resolvedTools: readonly Tool[]
  /** What `getAgentDescriptor` returned. */
  readonly descriptor: AgentDescriptor | undefined
  readonly health: HealthReport | undefined
  readonly problems: readonly ExtensionProblem[]
}

/** What a part of the kernel reports to the log and to people. */
export interface KernelDiagnostic {
  readonly level: 'info' | 'warn' | 'error'
  /** The extension, or `kernel:PART`. */
  readonly source: string
  /** What happened, what was expected, what to do. */
  readonly message: string
}
export type ReportDiagnostic = (diagnostic: KernelDiagnostic) => void

export interface Publication extends PublishOptions {
  readonly name: string
  readonly data: Json
  readonly source: string
  /** The event that led to this one: gives the number of hops. */
  readonly cause?: BusEvent
  /** Default: that of the cause, or a new one. */
  readonly correlationId?: string | undefined
}

export interface Subscriber {
  /** Stable over restarts: `EXTENSION` or `kernel:PART`. Each subscriber gets each event. */
  readonly id: string
  readonly name: string
  handle(event: BusEvent): MaybePromise<void>
}

export interface Bus {
  publish(publication: Publication): Promise<void>
  subscribe(subscriber: Subscriber): () => void
}

export interface Notice {
  readonly text: string
  /** Default: the person who wrote last. */
  readonly to?: Recipient
  /** Without `to`: the person who wrote last over a channel that works. */
  readonly anyChannel?: boolean
  readonly speaker?: string
  /** The same id again is ignored. */
  readonly id?: string
  /** What it follows from. */
  readonly correlationId?: string | undefined
}

/** `from`: the extension whose task it is. */
export interface RoutedTask extends Pick<Notice, 'text' | 'to' | 'id'> {
  readonly from?: string
}

/** The server that hosts a kernel. */
export interface KernelServer {
  /** Where others reach it, without a slash at its end. Absent: nobody does. */
  readonly url: string | undefined
  /** Sessions as people without `admin` see them. */
  shown(sessions: SessionService): SessionService
}

export interface Router {
  /** Returns a function that removes it. Messages that waited for the channel are delivered. */
  register(channel: string, provider: ChannelProvider): () => void
  /** Resolves when the message is stored. */
  receive(channel: string, message: IncomingMessage): Promise<void>
  /** Resolves when it is stored. Delivered when the channel is there. */
  notify(notice: Notice): Promise<void>
  /** Tells the person who wrote last over a channel that works. Stores nothing: the store may be what fails. */
  announce(text: string): Promise<void>
  /** Sends a task to the orchestrator in the conversation of the recipient, such as one of a schedule. Resolves when it is stored. */
  task(task: RoutedTask): Promise<void>
  /** Messages that were stored before are sent, and the answers of all conversations are delivered from now on. */
  attach(sessions: SessionService, server?: KernelServer): Promise<void>
  /** What people do with the conversations of this channel besides writing. */
  conversationsOf(channel: string): Conversations
  /** What was sent to the person of this session besides its answers since the last call: for the next turn of the orchestrator. */
  takeNotices(sessionId: string): Promise<readonly Notice[]>
  /** What the owner of a session may spend, if that is a person of a channel. */
  budgetOf(owner: string): Promise<OwnerBudget | undefined>
  /** The person of a conversation. */
  personOf(sessionId: string): Recipient | undefined
  /** Delivers nothing more. */
  close(): Promise<void>
}

/** Runs agents of extensions. */
export interface AgentPort {
  /** `call`: the current call, if any: found by the kernel, see `currentCall`. */
  start(extension: string, task: string, options: StartAgentOptions): Promise<AgentResult>
  /** Asks the agent of another extension as its callers do: through `invoke`, if it has one. */
  invoke(extension: string, task: InvokedTask): Promise<AgentResult>
}

/** `caller`: the extension whose code asks. */
export interface InvokedTask {
  readonly caller: string
  readonly task: string
  readonly context?: JsonObject | undefined
}

/** Runs what is due. Times that were missed are reported. */
export interface Scheduler {
  /** Tasks for the orchestrator, for `ExtensionContext.schedules`. An extension sees its own tasks only. `by`: who adds one now. */
  schedulesOf(extension: string, by?: () => string | undefined): Schedules
  /**
   * Calls `execute` at every time of the schedule, once for each. `at`: that time; `run`: the id of the run. Returns a function that ends it.
   * @throws if it is wrong.
   */
  register(id: string, schedule: Schedule, execute: (at: number, run: string) => MaybePromise<void>): () => void
}

/** The process that supervises the kernel. Without one (`troupe serve`) restarts are refused with a remedy: see `withoutSupervisor`. */
export interface SupervisorPort {
  /** `isForced`: a person asks for it. @throws if extensions have requested too many. */
  requestRestart(reason: string, options?: { readonly isForced?: boolean }): Promise<void>
  requestShutdown(reason: string): Promise<void>
  /** Before their code is loaded: the extensions that will run inside the kernel process. */
  loading(extensions: readonly Pick<FoundExtension, 'id' | 'folder' | 'hash' | 'source'>[]): void
  /** Everything has started. */
  ready(): void
  /**
   * Runs code of this extension: `enter('kv', 'initialize', () => instance.initialize(context))`. It is the suspect if the process dies
   * before the result settles, and for everything that the code started, such as timers.
   */
  enter<Result>(extension: string, stage: string, work: () => Result): Result
}
