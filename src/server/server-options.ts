import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import type { ExtensionStatus, Log, MaybePromise, SessionService, Store } from '../contracts/index.ts'
import type { DeliveryCounts, Drained, HeadendSettings, Project, ProjectReport } from '../project/index.ts'
import type { AgentRuntime } from '../runtime/index.ts'
import type { AccessEntry } from './http/index.ts'
import type { KernelServer } from './kernel-server.ts'
import type { StdioServed } from './mcp/index.ts'
import type { Demonstration, ModelConnections } from './rest/index.ts'

/** What a server serves: the agents of a project, a kernel with extensions, or the runtime of a program. */
export type ServerOptions = CommonOptions & (ServesProject | ServesKernel | ServesRuntime)

export interface ServesProject {
  readonly project: ProjectReport | Project
}

export interface ServesKernel {
  readonly kernel: ServedKernel
}

export interface ServesRuntime {
  /** Its `origin` says which sessions are its own: those continue after a restart. Without one, none do. */
  readonly runtime: AgentRuntime
  /** The store of the runtime. It also has the tokens. */
  readonly store: Store
  /** A folder for the token of the user of this machine. Default: a new token for each process. */
  readonly dataDir?: string
}

export interface CommonOptions {
  /** Win over `headends` of the configuration. */
  readonly settings?: HeadendSettings
  /** The path below which the server is mounted, such as `/agents`. */
  readonly basePath?: string
  /** Whether changed files of a project take effect. Default: `true`. */
  readonly reloads?: boolean
  /** What the server says. Default: nothing; `/ready` has problems and warnings in any case. */
  readonly log?: { readonly [Name in keyof ServerLog]?: ServerLog[Name] | undefined }
  /** Models that the user of this machine connects in the page. Needs a project. */
  readonly models?: ServedModels
  /** The demonstration of the web chat. */
  readonly demo?: ServedDemo
}

export interface ServerLog extends Log {
  /** One entry for each request. */
  access(entry: AccessEntry): void
}

/** What a server uses of a kernel. `createKernel` of `troupe/kernel` creates one. */
export interface ServedKernel {
  readonly project: Project
  readonly runtime: AgentRuntime
  readonly store: Store
  /** A changed project with the agents and tools of extensions. */
  extend(project: Project): Promise<Project>
  /** The sessions, as conversations of the kernel use them. */
  sessions(own: SessionService): SessionService
  attach(sessions: SessionService, listeners: KernelListeners, server: Pick<KernelServer, 'url' | 'shown'>): Promise<void>
  /** A request to an address of an extension. `undefined`: there is no such address. */
  answer(request: Request): Promise<Response | undefined>
  /** Starts the extensions. */
  start(): Promise<void>
  status(): readonly ExtensionStatus[]
  readonly problems: readonly string[]
  /** Absent without outgoing webhooks. */
  readonly webhooks?: ServedWebhooks | undefined
  /** Tells the person of the conversations something that cannot be stored. */
  announce(text: string): Promise<void>
  /** Running turns may continue for `ms` milliseconds. Then it stops its extensions. The store stays open. */
  drain(ms: number): Promise<Drained>
  /** Drains, and closes the runtime and the store. */
  close(): Promise<Drained>
}

/** Deliveries of outgoing webhooks. */
export interface ServedWebhooks {
  readonly problems: readonly string[]
  readonly counts: DeliveryCounts
  /** The address of the server, for links. */
  serverUrl: string | undefined
  /** `problems` has those of earlier processes, too. */
  recall(): Promise<void>
}

interface KernelListeners {
  /** The agents or tools of extensions have changed. */
  onChange(): void
  /** The status of an extension has changed. */
  onStatus(): void
}

export interface ServedModels extends ModelConnections {
  /** The project as it is served from now on. Looks for models, without being awaited. */
  use(project: Project): void
  /** `apply` reads the files again, and rejects if the last version stays in use. `changed`: other models may be found now. */
  attach(server: { apply(): Promise<void>; changed(): void }): void
}

export interface ServedDemo extends Demonstration {
  /** The project with the chosen model. */
  extend(project: Project): Promise<Project>
  /** `apply` applies it again. */
  attach(apply: () => Promise<void>): void
}

export interface ListenSettings {
  /** Default: that of the settings, or 127.0.0.1. */
  readonly host?: string
  /** 0: any free port. Default: that of the settings, or 3900. */
  readonly port?: number
  /** Whether to use the next free port if this one is in use. */
  readonly nearby?: boolean
  /** Is awaited before interrupted sessions continue: for what must be said first. */
  listening?(address: ServerAddress): MaybePromise<void>
}

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly url: string
}

/**
 * All protocols of Troupe and the web chat, for one runtime. Interrupted sessions continue when the server becomes reachable: with the
 * first `listen`, `attach`, `serveStdio` or request.
 */
export interface Server {
  /** Answers a request. Mount it in any framework with the standard `Request`, or use `handle`. */
  fetch(request: Request): Promise<Response>
  /** The same for Node's requests: `app.use('/agents', server.handle)` in Express. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Opens a port of its own. WebSockets need `legacyTransports` in the settings. */
  listen(options?: ListenSettings): Promise<ServerAddress>
  /** MCP over WebSockets on a server of the program. Other upgrades are not affected. */
  attach(server: HttpServer): void
  /** MCP for one client over standard input and output. */
  serveStdio(input: Readable, output: Writable): StdioServed
  /** The sessions, as clients use them. */
  readonly sessions: SessionService
  /** The token of the user of this machine, for everything. */
  readonly token: LocalToken
  /** Names of the agents that can be asked. */
  readonly agents: readonly string[]
  /**
   * Starts no further work. Running turns may continue for `drain` milliseconds; then they are suspended, and the next server continues
   * them. Closes the project or the kernel, too. Default: `drain` of the settings. The runtime of a program stays open and its turns go
   * on, whatever `drain` is: the program closes it.
   */
  close(options?: { readonly drain?: number }): Promise<Drained>
}

export interface LocalToken {
  readonly token: string
  /** The file that has it. */
  readonly path?: string
}
