// What authors of extensions write against: `import type { … } from 'troupe/extension'`. Types only: an extension imports nothing of
// Troupe at run time, and gets everything through its `ExtensionContext`.
import type { ApprovalBreadth } from './approvals.ts'
import type { Json, JsonObject, JsonSchema, MaybePromise } from './json.ts'
import type { ChannelRequest, ClosedRequest, MessagePiece, OutgoingFile, OutgoingMessage, TurnProgress } from './outgoing-message.ts'
import type { OwnerBudget, Principal } from './principal.ts'
import type { Tool, ToolContext } from './tool.ts'
import type { Usage } from './usage.ts'

/** Ids of extensions. Without `__`, which separates an extension from its tool in the names of tools. */
export const extensionId = /^[a-z](?:[a-z0-9]|[_-](?=[a-z0-9])){0,39}$/

/** The life of an extension: `initialize`, `start`, `stop`, `destroy`. All methods are optional. */
export interface Extension {
  /** Called once, after the extensions that it depends on. */
  initialize?(context: ExtensionContext): MaybePromise<void>
  /** Called once everything is connected. */
  start?(): MaybePromise<void>
  stop?(): MaybePromise<void>
  destroy?(): MaybePromise<void>
  /** Called every 30 seconds. Throw, or return `healthy: false` with a reason, if something is wrong. */
  healthCheck?(): MaybePromise<HealthReport | undefined>
}

export interface HealthReport {
  readonly healthy: boolean
  readonly message?: string
}

/** Offers tools. Models see them as `EXTENSION__TOOL`. */
export interface ToolProvider {
  getTools(): MaybePromise<readonly Tool[]>
}

/** Connects people. Hand their messages in with `context.onUserMessage`. */
export interface ChannelProvider {
  /**
   * If it rejects, it is called again with the same message, and after 60 failures no more. An error with `isTemporary: true` is no such
   * failure: the message waits, such as while a platform cannot be reached.
   */
  sendToUser(userId: string, message: OutgoingMessage): MaybePromise<void>
  /** A piece of an answer while it is written. The whole message follows with `sendToUser` under the same id. */
  streamToUser?(userId: string, piece: MessagePiece): MaybePromise<void>
  /** What the agents of a turn do, at most once a second and at its end. Each call has the whole state. If it fails, only the end is shown again, after a restart. */
  showProgress?(userId: string, progress: TurnProgress): MaybePromise<void>
  /** A request that was sent has ended: it was answered here or elsewhere, or its turn has ended. */
  closeRequest?(userId: string, closed: ClosedRequest): MaybePromise<void>
  /** The bytes of a file, when its message is sent to the agent, also after a restart. A call has 20 s, and is repeated twice if it fails. */
  readFile?(file: IncomingFile, signal: AbortSignal): MaybePromise<Uint8Array>
  /** What a person may spend and send. Asked for each message and each turn. Default: no limits. If it fails, nothing is taken or begun. */
  limitsOf?(personId: string): MaybePromise<PersonLimits | undefined>
}

export interface PersonLimits {
  /** Of all sessions that the person has started over this channel. */
  readonly budget?: OwnerBudget
  readonly messagesPerMinute?: number
}

/** Runs in the background until the signal aborts. A rejection is reported, and the service is started again after a delay. */
export interface ServiceProvider {
  runBackground(signal: AbortSignal): Promise<void>
}

/** Runs on a schedule. A text is delivered to the person. */
export interface SchedulerProvider {
  getSchedule(): MaybePromise<string | Schedule>
  execute(): MaybePromise<ScheduledResult | undefined>
}

export interface Schedule {
  /** Five fields: `0 8 * * 1-5`. Six with seconds first. */
  readonly cron: string
  /** An IANA name such as `Europe/Berlin`. Default: the time zone of the machine. */
  readonly timeZone?: string
}

export interface ScheduledResult {
  readonly text: string
  /** Default: the person who wrote last. */
  readonly to?: Recipient
}

/** Offers an agent. In tool mode its callers get what `invoke` returns. */
export interface AgentProvider {
  getAgentDescriptor?(): AgentDescriptor
  /** `context`: what the caller added to the task. The call stays open until it resolves. */
  invoke(task: string, context: JsonObject | undefined, call: InvokeCall): MaybePromise<string | AgentResult>
}

export interface AgentDescriptor {
  readonly name: string
  /** For the agents that may call it. Default: the description of the manifest. */
  readonly description: string
  readonly integrationMode: 'tool' | 'handoff'
}

export interface InvokeCall {
  /** Aborted at an interrupt and at the time budget. */
  readonly signal: AbortSignal
  /** Who the conversation is with. */
  readonly person: Principal | undefined
  readonly correlationId: string
  /** Shows progress to people. */
  progress(text: string): void
}

export interface AgentResult {
  readonly status: 'completed' | 'partial' | 'failed' | 'interrupted'
  readonly content: string
  /** JSON of an agent whose output has a schema. */
  readonly value?: Json
  readonly error?: { readonly class: string; readonly message: string; readonly remedy?: string }
  readonly usage?: Usage
}

/** Adds texts to the requests of conversations. */
export interface ContextProvider {
  getContext(request: ContextRequest): MaybePromise<ProvidedContext | undefined>
}

export interface ContextRequest {
  /** The agent that is about to answer. */
  readonly agent: string
  readonly sessionId: string
  readonly person: Principal | undefined
}

export interface ProvidedContext {
  readonly text: string
  /** Higher ones come first. What does not fit into the token budget is left out. Default 0. */
  readonly priority?: number
}

/** Guided configuration: `troupe extensions setup ID`. Secrets never reach a model. Trusted extensions only. */
export interface SetupProvider {
  getSetupSchema(): MaybePromise<readonly SetupField[]>
  /** Throw with a reason to refuse. */
  applyConfig(config: JsonObject): MaybePromise<void>
  /** Called once everything is stored. A text, such as what to do next, is shown to the person. */
  // biome-ignore lint/suspicious/noConfusingVoidType: methods without a text return nothing
  onSetupComplete?(): MaybePromise<string | void>
}

export interface SetupField {
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'number' | 'boolean' | 'secret'
  readonly options?: readonly string[]
  readonly default?: string | number | boolean
  readonly required?: boolean
}

/** Everything that an extension can implement. */
export type AnyExtension = Extension &
  Partial<ToolProvider & ChannelProvider & ServiceProvider & SchedulerProvider & AgentProvider & ContextProvider & SetupProvider>

/** A person on a channel. `conversation`: one of several, such as a thread. */
export interface Recipient {
  readonly channel: string
  readonly userId: string
  readonly conversation?: string
}

/** A message of a person, from the channel that received it. */
export interface IncomingMessage {
  readonly userId: string
  /** With `answer` or `files`, it may be empty. */
  readonly text: string
  /** The id in the channel. A message that comes twice is taken once. */
  readonly messageId?: string
  readonly conversation?: string
  readonly userName?: string
  /** Who wrote it, if several people share the conversation. Default: `userId`. The first one owns the session. */
  readonly personId?: string
  /** Whether the person may approve. If not, they can deny and answer questions. Default true. */
  readonly mayApprove?: boolean
  /** The agent that a new conversation begins with. Default: the orchestrator. */
  readonly agent?: string
  /** An answer to a request, such as a pressed button. `text` is ignored. */
  readonly answer?: RequestAnswer
  readonly files?: readonly IncomingFile[]
}

/** A file that a person has sent. Its bytes are read later, with `readFile`. A message has at most 100, with 20 MB together. */
export interface IncomingFile {
  readonly name: string
  readonly mediaType: string
  /** Length in bytes, if it is known. */
  readonly bytes?: number
  /** What `readFile` needs to find it: at most 4,000 characters. It is stored. */
  readonly ref: string
}

/** `allow`: `once` is this call only. `answer`: of a question, with the fields of its form in `content`. */
export type RequestAnswer = { readonly requestId: string } & (
  | { readonly kind: 'allow'; readonly breadth: ApprovalBreadth }
  | { readonly kind: 'deny'; readonly reason?: string }
  | { readonly kind: 'answer'; readonly text: string; readonly content?: JsonObject }
)

/** An event of the bus. */
export interface BusEvent {
  readonly id: string
  readonly name: string
  readonly data: Json
  /** The same for everything that follows from one cause. */
  readonly correlationId: string
  /** How many events led to this one. */
  readonly hops: number
  /** When the first of them was published. */
  readonly startedAt: number
  readonly at: number
  /** The extension that published it, or `kernel`. */
  readonly source: string
}

export interface PublishOptions {
  /** Store it before delivery and retry failed deliveries. Default true. */
  readonly durable?: boolean
  /** The same id again is ignored. */
  readonly id?: string
}

export interface ExtensionLogger {
  debug(message: string, fields?: JsonObject): void
  info(message: string, fields?: JsonObject): void
  warn(message: string, fields?: JsonObject): void
  error(message: string, fields?: JsonObject): void
}

/** `task`: work for the orchestrator. `reminder`: a text for the person, without a model. */
export type ScheduledKind = 'task' | 'reminder'

/** Something that a schedule sends. */
export interface ScheduledTask {
  readonly id: string
  readonly kind: ScheduledKind
  /**
   * What to do, in words: it is sent to the orchestrator in the conversation of the person, when that conversation is free. Of a
   * reminder: the text that the person gets at its time.
   */
  readonly task: string
  /** Either once or repeatedly. `at`: milliseconds since 1970. */
  readonly when: { readonly at: number } | Schedule
  /** Default: the person of the current call, or the one who wrote last at its time. */
  readonly to?: Recipient
  /** Milliseconds since 1970. */
  readonly nextAt: number
  /** The extension that added it, if its code or its agent did so with a tool of another one. */
  readonly by?: string
}

export interface Schedules {
  /** `kind`: default `task`. @throws if `when` is wrong or in the past. */
  add(task: Pick<ScheduledTask, 'task' | 'when' | 'to'> & { readonly id?: string; readonly kind?: ScheduledKind }): Promise<ScheduledTask>
  list(): Promise<readonly ScheduledTask[]>
  /** Whether there was one. */
  cancel(id: string): Promise<boolean>
}

/** A finding about an extension: place, expectation, remedy. */
export interface ExtensionProblem {
  readonly place: string
  readonly message: string
  readonly remedy?: string
}

/** For extensions that manage others. */
export interface ExtensionAdmin {
  /** Where new extensions are written: `extensions` in the project. Absolute. */
  readonly folder: string
  list(): readonly ExtensionStatus[]
  /** Manifest, entry file, types, and a trial `initialize` in the sandbox. Empty if it may be loaded. */
  validate(id: string): Promise<readonly ExtensionProblem[]>
  /** Why extensions that are not trusted cannot run here. */
  sandboxProblem(): Promise<string | undefined>
}

export const extensionStates = [
  'running',
  'disabled',
  /** Its manifest or code is wrong, it threw, or it needs something that failed. */
  'failed',
  /** It took the kernel down. It is not loaded until its content changes or a person enables it. */
  'quarantined',
  /** It is not trusted, and there is no sandbox to run it in. */
  'untrusted',
] as const
export type ExtensionState = (typeof extensionStates)[number]

export interface ExtensionStatus {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description: string
  readonly state: ExtensionState
  readonly source: 'project' | 'user' | 'bundled'
  /** `kernel`: inside the kernel process. `sandbox`: in a process of its own. */
  readonly runs: 'kernel' | 'sandbox' | 'nowhere'
  readonly trusted: boolean
  readonly capabilities: readonly string[]
  readonly health?: HealthReport
  readonly problems: readonly ExtensionProblem[]
}

/** A conversation of this channel. `by`: the person who asks. */
export interface ConversationAddress {
  readonly userId: string
  readonly conversation?: string
  readonly by?: string
}

/** A conversation with work that is not finished. */
export interface OpenConversation extends Pick<ConversationAddress, 'userId' | 'conversation'> {
  readonly title: string
  readonly agent: string
  readonly state: 'working' | 'waiting'
  /** Its open request that was sent to the person. */
  readonly request?: ChannelRequest
}

/** What people do with a conversation besides writing, such as with buttons. Channels only. */
export interface Conversations {
  /** Stops the current task. Whether there was one. */
  stop(at: ConversationAddress): Promise<boolean>
  /** Sends the last message of the person again, if no task runs. Whether it could. */
  retry(at: ConversationAddress): Promise<boolean>
  /** The calls and children of the last turn, as text. */
  details(at: ConversationAddress): Promise<string>
  /** The session as JSON. Secrets are replaced. `undefined`: there is none, or `by` did not begin it. */
  export(at: ConversationAddress): Promise<OutgoingFile | undefined>
  /** The address of the session in the web chat, if there is a server. */
  link(at: ConversationAddress): string | undefined
  /** Conversations of a person that work or wait, the latest first. */
  open(personId: string): Promise<readonly OpenConversation[]>
}

/** Mounts addresses on the server of the assistant. The platform's signature is the credential: the handler checks it. */
export interface HttpRoutes {
  /** Where the server is reached from outside, as far as it knows, with `/channels/ID`: `headends.publicUrl` of the configuration, or its address. */
  readonly url: string
  /**
   * Every request to `/channels/ID` and `path` goes to the handler, with any method and without a token. A body may have 1 MB, an answer may
   * take ten seconds. Returns a function that removes it, as the end of the extension does. @throws if `path` is wrong or taken.
   */
  route(path: string, handler: (request: Request) => MaybePromise<Response>): () => void
}

/** The terminal of `troupe up`. */
export interface TerminalPort {
  readonly input: AsyncIterable<string>
  write(text: string): void
}

export interface StartAgentOptions {
  readonly context?: JsonObject
  readonly signal?: AbortSignal
  /** Added after the instructions. */
  readonly instructions?: string
  /** The answer is JSON of this schema. */
  readonly output?: JsonSchema
}

/** A tool for code inside of `invoke` or of a tool. Default of `context`: that of the call. */
export interface ResolvedTool extends Omit<Tool, 'execute'> {
  execute(input: JsonObject, context?: ToolContext): ReturnType<Tool['execute']>
}

/** The only door of an extension to Troupe. */
export interface ExtensionContext {
  readonly id: string
  /** `config` of the manifest, with what `setup` stored, and over both `extensions.ID` of the configuration. */
  readonly config: JsonObject
  readonly logger: ExtensionLogger
  /** The folder of the extension. Absolute. */
  readonly folder: string
  /** A folder for its files, which outlives restarts. Absolute. */
  readonly dataDir: string
  /** The folder of the project. Absolute. */
  readonly workspace: string
  /** The tools of the extensions in `uses_tools`, and nothing else. */
  readonly resolvedTools: readonly ResolvedTool[]
  readonly schedules: Schedules
  /** Extensions inside the kernel only. */
  readonly extensions?: ExtensionAdmin
  /** Only in `troupe up` at a terminal, for extensions inside the kernel. */
  readonly terminal?: TerminalPort
  /** Channels inside the kernel only. */
  readonly conversations?: Conversations
  /** Extensions inside the kernel only, if there is a server. From `start` on: before, nobody knows its address. */
  readonly http?: HttpRoutes | undefined
  /** Milliseconds since 1970. */
  now(): number
  /** A secret that the manifest names in `secrets`. @throws if it is not named there or not set. */
  secret(name: string): string
  /** Built-in tools, such as `read_file` or `shell`, for the project or one folder inside it. Extensions inside the kernel only. */
  builtinTools(names: readonly string[], options?: { readonly folder?: string }): readonly Tool[]
  /**
   * Runs the agent of the `agent` section of this extension, with all its limits. Inside `invoke` or a tool it is a child of that
   * call; elsewhere it is a session of its own.
   */
  startAgent(task: string, options?: StartAgentOptions): Promise<AgentResult>
  /** Asks the agent of an extension in `depends_on`. */
  invokeAgent(id: string, task: string, context?: JsonObject): Promise<AgentResult>
  /** Hands in a message of a person. Resolves when it is stored. Channels only. */
  onUserMessage(message: IncomingMessage): Promise<void>
  /** Sends a person a message. Without a recipient: the person of the current call, or the one who wrote last. Kept until it can be delivered. */
  notifyUser(text: string, to?: Recipient): Promise<void>
  /** Returns a function that ends the subscription. Throw in the handler to have the event delivered again. */
  subscribe(name: string, handler: (event: BusEvent) => MaybePromise<void>): () => void
  publish(name: string, data: Json, options?: PublishOptions): Promise<void>
  /** The instance of an extension in `depends_on`. Extensions inside the kernel only. */
  getExtension<T = AnyExtension>(id: string): T
  /** Restarts the kernel when running turns have ended. Conversations continue. */
  requestRestart(reason: string): Promise<void>
  requestShutdown(reason: string): Promise<void>
}
