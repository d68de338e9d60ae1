import type { Hook, ModelAdapter, Problem, Sandbox, Store, TroupeError } from '../contracts/index.ts'
import type { AgentLoopConfig, McpOptions } from '../runtime/index.ts'
import type { ExtensionConfig } from './config/extension-configs.ts'
import type { DatabaseAddress, HeadendSettings, OnUnavailable, TelemetrySettings } from './config/section-values.ts'
import type { Registry } from './registry/load-registry.ts'
import type { LeftOutAgent } from './registry/missing-tools.ts'
import type { RegisteredAgent } from './registry/registered-agent.ts'
import type { ReadSetup } from './setup/read-setup.ts'
import type { StartDiagnostic } from './setup/start-diagnostics.ts'
import type { UntrustedFile } from './trust/untrusted-files.ts'
import type { WebhookSettings } from './webhooks/webhook-settings.ts'
import type { KitAt } from './workspace/open-workspace-kit.ts'
import type { ModuleTools } from './workspace/tool-modules.ts'

/** Everything that was read of a project, with all problems and their places. */
export interface ProjectReport extends ReadSetup {
  /** Whether `open` can succeed as far as files tell: models and programs are checked when it is opened. */
  readonly ok: boolean
  /** All problems of the configuration and the agents. */
  readonly problems: readonly Problem[]
  /** Settings without effect, or with less effect than written. */
  readonly diagnostics: readonly StartDiagnostic[]
  /** Files that are ignored, in part or whole, until a person trusts them. */
  readonly untrusted: readonly UntrustedFile[]
  /** The agents. */
  readonly registry: Registry
  readonly moduleTools: ModuleTools
  /** Files that agents use besides agent files: schemas and included files. */
  readonly usedFiles: readonly string[]
  /** The agent files that were asked for, relative to the folder. */
  readonly files: readonly string[]
  /** What `loadProject` was asked for. */
  readonly asked: AskedFor
  /** Names of the agents that were asked for; empty if that is every agent of the project. */
  readonly named: readonly string[]
  /** The errors that `open` throws, joined. */
  readonly error?: TroupeError
  /** Resolves models and servers, and creates tools. Starts nothing. Throws all problems together. */
  open(options?: OpenProjectOptions): Promise<Project>
  /** Reads the files again. */
  reload(): Promise<ProjectReport>
}

/** The agents and the configuration file that a person or a program named. */
interface AskedFor {
  readonly agents: readonly string[]
  readonly configFile: string | undefined
}

/** How a project is opened. */
export interface OpenProjectOptions {
  /** The data folder. Default: that of the configuration, or the user's. */
  readonly dataDir?: string | undefined
  /** Tools and calls that need no approval, such as `shell(npm test)`. */
  readonly allow?: readonly string[]
  /** Tools and calls that are refused. */
  readonly deny?: readonly string[]
  /** Report tools that cannot run here, and contact servers on this machine that a model needs. */
  readonly dryRun?: boolean
  /** For a server: checks that the agents can be served, and prepares those that can be asked. */
  readonly serves?: boolean
  /** Further errors, which are reported with those of the files. */
  readonly errors?: readonly TroupeError[]
  /** Other agents than those that were read. */
  readonly agents?: readonly RegisteredAgent[]
  /** Agents that the files do not have, such as an orchestrator. They are served first. */
  readonly addedAgents?: readonly RegisteredAgent[]
  /** Models that others use, such as extensions: the adapter resolves them if their providers are configured. */
  readonly otherModels?: readonly string[]
  /** Whether agents may have no model that is available: their turns fail until a key or a server is there. Default: `false`. */
  readonly allowsMissingModels?: boolean
  /** Whether extensions may use built-in tools, whatever the agents have. */
  readonly hasExtensions?: boolean
}

/** A project that is ready to run, checked. */
export interface Project {
  readonly report: ProjectReport
  /** For `createAgentRuntime`. The root agent is selected if one agent was named. */
  readonly config: AgentLoopConfig
  readonly adapter: ModelAdapter
  /** Models of agents that have none that is available. */
  readonly missingModels: readonly string[]
  readonly hooks: readonly Hook[]
  readonly sandbox?: Sandbox
  readonly mcp: McpOptions
  /** With the models that are available. A named agent comes before those that it calls. */
  readonly agents: readonly RegisteredAgent[]
  /** Names of the agents that can be asked. Their children cannot. */
  readonly served: readonly string[]
  /** Agents that did not start because tools are missing. */
  readonly leftOut: readonly LeftOutAgent[]
  readonly workspace: string
  /** The data folder. */
  readonly folder: string
  /** The database with the sessions, if they are not in the data folder. */
  readonly database?: DatabaseAddress
  /** The project root: grants for the project are stored under it. */
  readonly root: string
  /** What happens to calls that need approval where nobody can be asked. */
  readonly onUnavailable: OnUnavailable
  /** The built-in tools for other folders. Absent if nobody uses them. */
  readonly kitAt?: KitAt
  /** The extensions that a kernel loads for it. */
  readonly extensions?: readonly { readonly id: string; readonly hash: string; readonly configured?: ExtensionConfig }[]
  readonly headends: HeadendSettings
  readonly telemetry: TelemetrySettings
  readonly webhooks: WebhookSettings
  /** About the selected models and missing parts. */
  readonly notices: readonly string[]
  /** The notices about missing parts. */
  readonly warnings: readonly Problem[]
  /** Settings that are ignored, or applied only in part. */
  readonly diagnostics: readonly StartDiagnostic[]
  /** How it was opened. */
  readonly options: OpenProjectOptions
  /** Reads the files again, and opens them in the same way. */
  reload(): Promise<Project>
  /** The store of the data folder, which is opened once. */
  openStore(): Promise<Store>
  /** Closes the store. */
  close(): Promise<void>
}
