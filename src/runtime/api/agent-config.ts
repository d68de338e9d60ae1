import type {
  AgentLimits,
  AgentTrust,
  ApprovalPolicy,
  ApprovalRule,
  InputContract,
  JsonObject,
  ModelParameters,
  OutputContract,
  ReasoningEffort,
  SandboxPolicy,
  SkillCard,
  Tool,
  ToolSource,
} from '../../contracts/index.ts'
import type { QueueLimits } from '../../steps/index.ts'
import type { AgentSelection } from '../selection/select-agent.ts'

/** An agent as an embedder writes it. Its agent-file twin is read by `agents/`. */
export interface AgentDefinition {
  readonly name: string
  readonly displayName?: string
  readonly description: string
  readonly prompt: string
  /** One model, or several in the order in which they are tried. */
  readonly model?: string
  readonly models?: readonly string[]
  /** Names and `prefix*` patterns out of `config.tools`. Omitted means all of them. */
  readonly tools?: readonly string[]
  readonly limits?: Partial<AgentLimits>
  readonly parameters?: ModelParameters
  /** The same as `parameters.reasoning`, by the name that it has in other programs. */
  readonly reasoningEffort?: ReasoningEffort
  /** Default: text; a schema alone means json. */
  readonly output?: OutputContract | SchemaAlone
  /** One example of its input, for whoever calls it. */
  readonly usage?: string
  /** The name that parents know it by; default: its name. */
  readonly toolName?: string
  /** What it is given when it is called as a tool. Default: text; a schema alone means json. */
  readonly input?: InputContract | SchemaAlone
  /** Names of other agents of the config that it may call like any tool. */
  readonly agents?: readonly string[]
  /** Whether it may be chosen by what is asked. Default: unless another agent calls it. */
  readonly infer?: boolean
  /** Names of skills out of `config.skills`. Omitted means all of them. */
  readonly skills?: readonly string[]
  /** Rules of its own; they can only be stricter than those of the session. */
  readonly approvals?: readonly ApprovalRule[]
  /** What its commands may do less than those of the session. */
  readonly sandbox?: Partial<SandboxPolicy>
  /** For an agent that has fewer tools while nobody trusts it. Sessions that are taken up have no more of them than it has now. */
  readonly trust?: AgentTrust
}

/** A contract whose schema says that it is about JSON. */
export interface SchemaAlone {
  readonly format?: never
  readonly schema: JsonObject
}

/** A text that every session is told at its beginning, such as the rules of a project. */
export interface ContextText {
  /** Where it comes from. */
  readonly source: string
  readonly text: string
}

/** What agents there are and what they may use; fixed for the life of a runtime. */
export interface AgentLoopConfig {
  readonly agents: readonly AgentDefinition[]
  /**
   * Which agent speaks. Without it the only one that no other calls; of several such, the one that fits the request best
   * by its words.
   */
  readonly agentSelection?: AgentSelection
  readonly tools?: readonly (Tool | ToolSource)[]
  /** Flags that tools may require. */
  readonly features?: { readonly [flag: string]: boolean }
  /** The variables of every session; tools get them, and nothing else of the environment. */
  readonly overlay?: { readonly [name: string]: string }
  /** Children as a tool each, or through `find_agents` and `delegate_task`. Default: a directory beyond ten. */
  readonly childrenOffered?: 'each' | 'directory'
  /** Models without a price that may be asked under a cost budget all the same. */
  readonly unpriced?: readonly string[]
  /**
   * Caps across all trees: `{ openai: { concurrent: 8, perMinute: 300 }, agent: { concurrent: 4 } }`. A queue is for
   * whatever bears its name: a provider (what the id of a model begins with), a tool, or the namespace of tools.
   */
  readonly queues?: { readonly [name: string]: QueueLimits }
  /** What is done without asking, or not at all; from each place that has a say in it. */
  readonly approvals?: ApprovalPolicy | readonly ApprovalPolicy[]
  /** What agents may load when they need it, as `findSkills` finds it. */
  readonly skills?: readonly SkillCard[]
  readonly context?: readonly ContextText[]
  /** Defaults for every agent. */
  readonly limits?: Partial<AgentLimits>
}
