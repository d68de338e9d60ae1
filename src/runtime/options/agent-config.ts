import type {
  AgentLimits,
  AgentTrust,
  ApprovalPolicy,
  ApprovalRule,
  ClientToolRule,
  InputContract,
  JsonObject,
  McpServerSettings,
  ModelParameters,
  OutputContract,
  OverridableParameter,
  ReasoningEffort,
  SandboxPolicy,
  SessionToolSource,
  SkillCard,
  Tool,
  ToolSource,
} from '../../contracts/index.ts'
import type { QueueLimits } from '../../steps/index.ts'

/**
 * An agent, defined in a program. Agent files have the same settings.
 *
 * @example
 * const agent: AgentDefinition = { name: 'clerk', description: 'Answers letters', prompt: 'You are …', model: 'openai/gpt-5' }
 */
export interface AgentDefinition {
  readonly name: string
  readonly displayName?: string
  readonly description: string
  readonly prompt: string
  /** Set either `model` or `models`. */
  readonly model?: string
  /** In order of preference: the next one is used if a model fails. */
  readonly models?: readonly string[]
  /** Names and `prefix*` patterns of `config.tools`, and `server/tool` or `server/*` for MCP servers. Default: all of them. */
  readonly tools?: readonly string[]
  /** MCP servers that only this agent has. They replace servers of `config.mcpServers` with the same name. */
  readonly mcpServers?: { readonly [name: string]: McpServerSettings }
  readonly limits?: Partial<AgentLimits>
  readonly parameters?: ModelParameters
  /** Parameters that callers of a server can set. Default: none. */
  readonly overrides?: readonly OverridableParameter[]
  /** Another name for `parameters.reasoning`. */
  readonly reasoningEffort?: ReasoningEffort
  /** Default: Markdown. A schema without a format means JSON. */
  readonly output?: OutputContract | SchemaAlone
  /** An example of its input, for its callers. */
  readonly usage?: string
  /** Example prompts for people, at most six. `sessions.agents` shows them. */
  readonly examples?: readonly string[]
  /** Its name as a tool of other agents. Default: `name`. */
  readonly toolName?: string
  /** Its input when it is called as a tool. Default: text. A schema without a format means JSON. */
  readonly input?: InputContract | SchemaAlone
  /** Names of other agents of the configuration that it can call as tools. */
  readonly agents?: readonly string[]
  /** It can also spawn them: start them, go on while they work, and send them further input. Default: false. */
  readonly childControl?: boolean
  /**
   * Whether clients may bring tools that they run themselves, or patterns of their names. Default: `allow` if the agent has no tools and no
   * agents, else `deny`.
   */
  readonly clientTools?: ClientToolRule
  /** Servers keep its sessions also for requests with `store: false`. Default: false. */
  readonly keepSessions?: boolean
  /** Whether it can be selected by the request. Default: true, unless another agent calls it. */
  readonly infer?: boolean
  /** Names and `prefix*` patterns of `config.skills`. Default: all of them. */
  readonly skills?: readonly string[]
  /** Names and `prefix*` patterns of skills that it never has. */
  readonly disabledSkills?: readonly string[]
  /** Its own rules. They can only be stricter than those of the session. */
  readonly approvals?: readonly ApprovalRule[]
  /** Further restrictions of the sandbox for its commands. */
  readonly sandbox?: Partial<SandboxPolicy>
  /** For an agent that has fewer tools without trust. Resumed sessions have no more tools than it has now. */
  readonly trust?: AgentTrust
  /** For an agent of a file: frontmatter for a new file with the same settings. `sessions.agents` shows it. */
  readonly template?: string
}

/** A schema without a format: JSON. */
export interface SchemaAlone {
  readonly format?: never
  readonly schema: JsonObject
}

/** A text at the beginning of every session, such as the rules of a project. */
export interface ContextText {
  /** Where it comes from. */
  readonly source: string
  readonly text: string
}

/** Which agent answers: a named one, or the best match for the request, by its words or as a model decides. */
export type AgentSelection = { readonly agent: string } | { readonly infer: 'match' | 'model' }

/** The agents of a runtime and what they can use. */
export interface AgentLoopConfig {
  readonly agents: readonly AgentDefinition[]
  /** Which agent answers. Default: the one that no other agent calls; of several, the best match for the request by words. */
  readonly agentSelection?: AgentSelection
  readonly tools?: readonly (Tool | ToolSource | SessionToolSource)[]
  /**
   * MCP servers. Agents name their tools as `server/tool` or `server/*`. Texts may contain `${NAME}` and `${NAME:-default}`, which
   * each session resolves from its overlay.
   */
  readonly mcpServers?: { readonly [name: string]: McpServerSettings }
  /** Ids of extensions. Rules and hooks can name their tools and agents, whether they run or not. */
  readonly extensions?: readonly string[]
  /** Flags that tools can require. */
  readonly features?: { readonly [flag: string]: boolean }
  /** Variables for the tools of every session. Tools see nothing else of the environment. */
  readonly overlay?: { readonly [name: string]: string }
  /** One tool for each child, or `find_agents` and `delegate_task` for all. Default: `directory` for more than ten children. */
  readonly childrenOffered?: 'each' | 'directory'
  /** All tools of servers and packages in each request, or `find_tools` and `use_tool`. Default: `search` above a tenth of the context window. */
  readonly toolsOffered?: 'each' | 'search'
  /** Models without a price that may be used under a cost budget. */
  readonly unpriced?: readonly string[]
  /**
   * Limits over all sessions, by provider (the first part of a model id), tool or tool namespace:
   * `{ openai: { concurrent: 8, perMinute: 300 }, agent: { concurrent: 4 } }`.
   */
  readonly queues?: { readonly [name: string]: QueueLimits }
  /** Rules that allow, ask for or deny calls. Of several policies the strictest wins. */
  readonly approvals?: ApprovalPolicy | readonly ApprovalPolicy[]
  /** Skills that agents can load: as returned by `findSkills`, or folders to search before the first session. */
  readonly skills?: readonly SkillCard[] | SkillFolders
  readonly context?: readonly ContextText[]
  /** Defaults for every agent. */
  readonly limits?: Partial<AgentLimits>
}

/** Folders with skills: each skill is a folder with a `SKILL.md`. */
export interface SkillFolders {
  /** Absolute paths. Of skills with the same name the first one is used. */
  readonly directories: readonly string[]
  /** Names of skills that no agent has. */
  readonly disabled?: readonly string[]
}
