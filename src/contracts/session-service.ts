import type { ClientToolRule, InputContract, ModelParameters, OutputContract } from './agent.ts'
import type { ApprovalDecision, ApprovalRequest, GivenAnswer } from './approvals.ts'
import type { ClientCall, ClientTool, ToolChoice } from './client-tool.ts'
import type { InputMode, InteractionEvent, StreamEvent, TraceContext } from './events.ts'
import type { ApprovalId, BlobId, ClientId, SessionId, StepId } from './ids.ts'
import type { AgentLimits } from './limits.ts'
import type { InputPart, Message } from './messages.ts'
import type { ModelRequest } from './model.ts'
import type { Outcome } from './outcome.ts'
import type { Principal } from './principal.ts'
import type { TreeEntry, TreeFilter } from './store.ts'
import type { UsageQuery, UsageReport } from './turn-records.ts'

/** Limits of titles and labels: each is one line. */
export const sessionFieldLimits = { titleChars: 200, labels: 20, labelChars: 64 } as const

/** Settings of a session that its caller sets instead of the definition of the agent. */
export interface SessionSettings {
  /** In order of preference. */
  readonly models?: readonly string[]
  /** A limit can only be lower than that of the agent; a higher one has no effect. */
  readonly limits?: Partial<AgentLimits>
  readonly parameters?: ModelParameters
  /** Tools that the client runs, all of them. The agent must allow them. Empty: there are none. */
  readonly clientTools?: readonly ClientTool[]
  /** Whether the next step has to call a tool of the client. */
  readonly toolChoice?: ToolChoice
}

export interface StartOptions extends SessionSettings {
  /** Default: the agent that `agentSelection` selects. */
  readonly agent?: string
  /** Variables for the tools of this session. They are not stored. */
  readonly overlay?: { readonly [name: string]: string }
  /** Who opens the session and owns it. Default: nobody. */
  readonly principal?: Principal
  /** A key of another system. If a session has it, `start` returns that session and ignores the input. */
  readonly key?: string
  readonly labels?: readonly string[]
  /** The same id of the same principal returns the same session: the input is taken once. Another agent or input throws `client_id_taken`. */
  readonly clientId?: ClientId | string
  /**
   * Earlier messages of a client that keeps its own history. They enter the session before the first turn. Each call has its result. An
   * image, audio or file in a result has its bytes as base64 in `data`.
   */
  readonly history?: readonly Message[]
  /** Added after the prompt of the agent. */
  readonly instructions?: string
  /** The format of the answers, instead of the agent's. */
  readonly output?: OutputContract
  /** The first turn belongs to this trace. Recorded with the input. */
  readonly traceContext?: TraceContext
}

export interface SendOptions extends SessionSettings {
  readonly mode?: InputMode
  /**
   * A child of the session, by its session id or agent path (`root/researcher#1`): a spawned one, or one that works. If it is not
   * live when the message is read, the session records a diagnostic. Default: the child that talks to the person, else the root.
   */
  readonly to?: SessionId | string
  /** If a child talks to the person, the message ends that handoff, and no model reads it. Otherwise it is an ordinary message. */
  readonly endsHandoff?: boolean
  /** A message that is sent twice under one id is accepted once. Another input under that id throws `client_id_taken`. */
  readonly clientId?: ClientId | string
  /** Replaces the instructions of the start, from the next turn on. Empty: there are none. */
  readonly instructions?: string
  /** The format of the answers from the next turn on. `null`: the agent's. */
  readonly output?: OutputContract | null
  /** The turn that the message begins belongs to this trace. */
  readonly traceContext?: TraceContext
}

/** What a client may change with its results. */
export type StepSettings = Pick<SendOptions, 'clientTools' | 'toolChoice' | 'instructions'>

export interface ApprovalAnswer {
  readonly approvalId: ApprovalId | string
  readonly decision: ApprovalDecision
  /** Who decided. Recorded in the journal. */
  readonly by?: string
  /** With the result of a call of the client: what the client adds for the next step. It is stored with the result, or not at all. */
  readonly message?: { readonly input: readonly InputPart[]; readonly clientId: ClientId | string }
  /** With the result of a call of the client: its tools, the choice and its instructions, from the next step on. */
  readonly settings?: StepSettings
}

/** The message is stored in the inbox of its session. */
export interface Receipt {
  /** The id of the message. An input appears under it in `interaction.input.accepted`. */
  readonly clientId: ClientId
  /** Whether a process drives the session. If not, the message takes effect when the session is opened next. */
  readonly driven: boolean
  /** For an answer: the request has the same one already. This one changed nothing. */
  readonly first?: GivenAnswer
  /** Another process drives it. If that ends before it has seen the message, the message stays unread. */
  readonly elsewhere?: true
  /** From a server, if nobody drives the session: why, and what continues it. */
  readonly continue?: ContinuesElsewhere
}

/** Whether a server continues a session when it gets a message, an answer or a stop. If not, it refuses them. */
export type Continuation = { readonly here: true } | ContinuesElsewhere

export interface ContinuesElsewhere {
  readonly here: false
  readonly reason: string
  /** Continues it in a shell. Absent if no command does, or the caller must not see paths. */
  readonly command?: string
}

/** A root session in a list. */
export interface SessionEntry extends Omit<TreeEntry, 'treeId'> {
  readonly sessionId: SessionId
  /** From a server: whether the session belongs to its folder. */
  readonly project?: 'here' | 'elsewhere'
  /** From a server. */
  readonly continue?: Continuation
  /** From a server: the process of a turn has ended, so the turn is suspended. */
  readonly reason?: 'released'
}

export interface EventsOptions {
  /** The `seq` of the last event that the reader has. Default 0. */
  readonly after?: number
  /**
   * When the iteration ends. `turn`: when no turn is running, or it is suspended. `idle` (default): when the session is idle; it waits while a turn
   * is suspended. `closed`: when the session is deleted or the service is closed.
   */
  readonly until?: 'turn' | 'idle' | 'closed'
  /** Whether to yield live events. A new reader first gets the text so far of each open item. Default `true`. */
  readonly live?: boolean
}

/** A change of the list of sessions. */
export type SessionChange =
  | { readonly kind: 'changed'; readonly session: SessionEntry }
  | { readonly kind: 'deleted'; readonly sessionId: SessionId }

/** What callers need to know of an agent that they can ask. */
export interface AgentDescription {
  readonly name: string
  readonly displayName?: string
  readonly description: string
  /** An example input. */
  readonly usage?: string
  /** Example prompts for people. */
  readonly examples?: readonly string[]
  readonly input: InputContract
  readonly output: OutputContract
  readonly limits: AgentLimits
  readonly parameters: ModelParameters
  /** Parameters that callers may set, by name. */
  readonly overrides: readonly (keyof ModelParameters)[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
  /** Which tools clients may bring, if the agent says so. */
  readonly clientTools?: ClientToolRule
  /** Servers keep its sessions also for requests with `store: false`. */
  readonly keepSessions?: true
  /** Names of the agents that it may call. */
  readonly agents: readonly string[]
  /** Those agents and the agents below them, by name. */
  readonly team?: readonly Omit<AgentDescription, 'team'>[]
  /** Frontmatter for a new agent file with the same settings, if the agent comes from a file. */
  readonly template?: string
}

/** Of a tool before its arguments are known. `depends`: some calls need approval. Others are decisions of rules for all its calls. */
export const toolApprovals = ['none', 'depends', 'allow', 'ask', 'deny'] as const
export type ToolApproval = (typeof toolApprovals)[number]

/** A tool that an agent has. */
export interface AgentTool {
  readonly name: string
  readonly description: string
  readonly approval: ToolApproval
}

/** What models get of an agent, without secrets. */
export interface AgentSetup {
  readonly prompt: string
  /** Without those of `sources` and without agents. */
  readonly tools: readonly AgentTool[]
  /** Servers that list their tools when a session begins. */
  readonly sources: readonly string[]
}

/** A session with its journal, without secrets. */
export interface SessionExport {
  readonly format: 'troupe.session'
  readonly version: 1
  readonly session: SessionEntry
  readonly events: readonly InteractionEvent[]
  /** Stored texts by handle. Bytes are in base64 with their media type. */
  readonly blobs: { readonly [handle: string]: string | { readonly mediaType: string; readonly data: string } }
}

/** A stored output: a text, or bytes with their media type. */
export type StoredOutput = { readonly text: string } | { readonly mediaType: string; readonly bytes: Uint8Array }

/** A model request of a session. */
export interface ModelRequestPlace {
  /** Default: the root. */
  readonly sessionId?: SessionId | string
  /** Unique in its session. */
  readonly stepId: StepId | string
  /** Default: the last one. */
  readonly attempt?: number
}

/** The interface for user interfaces and servers. Ids may be plain strings. Unknown ids throw `session_unknown`. */
export interface SessionService {
  /** Starts a new session. Resolves when it is durable. */
  start(input: string | readonly InputPart[], options?: StartOptions): Promise<SessionId>
  /**
   * `send`, `approve`, `revoke` and `cancel` store a message in the inbox, from any process. Only the runtime that started or
   * opened the session, and has not released it, continues an idle session. Settings apply from the next turn on; they are refused
   * while another process drives the session.
   */
  send(sessionId: SessionId | string, input: string | readonly InputPart[], options?: SendOptions): Promise<Receipt>
  /** Replays the events after `after`, then follows. No event is missed or repeated. A number is `after`. */
  events(sessionId: SessionId | string, options?: EventsOptions | number): AsyncIterable<StreamEvent>
  /** Changes of the list of sessions from now on, by any process. */
  watch(filter?: Pick<TreeFilter, 'owner'>): AsyncIterable<SessionChange>
  /** Calls that wait for a result of the client, in their order. `approve` takes the results. */
  clientCalls(sessionId: SessionId | string): Promise<readonly ClientCall[]>
  /** Open requests of the session and its descendants to people, oldest first. */
  requests(sessionId: SessionId | string): Promise<readonly ApprovalRequest[]>
  /**
   * A request is answered once. The same answer again has `first` in its receipt; another one throws `approval_answered`. A decision
   * that does not fit the request throws `usage`, and one to a request that has ended `approval_unknown`.
   */
  approve(sessionId: SessionId | string, answer: ApprovalAnswer): Promise<Receipt>
  /** Revokes approvals for the whole session. */
  revoke(sessionId: SessionId | string, keys: readonly string[], by?: string): Promise<Receipt>
  /**
   * `stop`: the agent finishes with a short answer. `interrupt`: the turn ends immediately. The text so far is kept; calls and children
   * that do not end within a second are given up. Messages that no step has read are held until `sendHeld` or the next message.
   */
  cancel(sessionId: SessionId | string, mode: 'stop' | 'interrupt', by?: string): Promise<Receipt>
  /** Sends the messages that an interrupt held, in their order. */
  sendHeld(sessionId: SessionId | string, by?: string): Promise<Receipt>
  /** Resolves when the session is idle or suspended. */
  outcome(sessionId: SessionId | string): Promise<Outcome>
  /** `undefined` if there is no such session. */
  get(sessionId: SessionId | string): Promise<SessionEntry | undefined>
  /** The session with that external key. */
  find(key: string): Promise<SessionEntry | undefined>
  /** Newest first. Reads no journals. */
  list(filter?: TreeFilter): Promise<readonly SessionEntry[]>
  /** Changes title and labels. */
  update(sessionId: SessionId | string, changes: { readonly title?: string; readonly labels?: readonly string[] }): Promise<SessionEntry>
  /**
   * Copies the events up to `seq` into a new session. Open work is recorded as interrupted and never runs again; approvals for the
   * session are dropped. Default: all events.
   */
  fork(sessionId: SessionId | string, options?: { readonly seq?: number; readonly principal?: Principal }): Promise<SessionId>
  /** Ends a running turn and removes the session with its journal. Refused while another process drives it. */
  delete(sessionId: SessionId | string): Promise<void>
  export(sessionId: SessionId | string): Promise<SessionExport>
  /** A stored output of the session, by its handle. */
  output(sessionId: SessionId | string, handle: BlobId | string): Promise<StoredOutput | undefined>
  /**
   * What a model was sent, built again from the journal. `step_unknown` if there was no such request; `request_not_recorded` if an
   * older version sent it, which did not record the tools.
   */
  modelRequest(sessionId: SessionId | string, place: ModelRequestPlace): Promise<ModelRequest>
  /** Sums over ended turns. */
  usage(query: UsageQuery): Promise<UsageReport>
  /** Number of sessions, of this owner or all, that a search and costs do not cover. `troupe store reindex` adds them. */
  unindexed(owner?: string): Promise<number>
  /** The agents that can be asked, by name. */
  agents(): readonly AgentDescription[]
  /** Also of an agent that only others can ask. Throws `agent_unknown`. */
  agentSetup(name: string): Promise<AgentSetup>
}
