import {
  type AgentSpec,
  childLimits,
  type Diagnostic,
  jsonInstruction,
  plainTextInstruction,
  type Sandbox,
  type SkillCard,
  type TokenPrice,
} from '../../contracts/index.ts'
import { mergeSandbox } from '../../policy/merge-sandbox.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { isSearchable, toolSearchNames } from '../../policy/tool-search.ts'
import type { ToolRegistry } from '../../steps/index.ts'
import { agentToolName, childControlNames, directoryNames, readOutputName } from '../../tools/index.ts'
import { textWeight } from '../../util/text-weight.ts'
import { findAgent } from '../selection/select-agent.ts'
import { sandboxNotice } from '../validation/check-sandbox.ts'
import type { ModelCache } from './model-cache.ts'
import type { ResolvedConfig } from './resolve-config.ts'
import { type SkillCatalogue, skillCatalogue } from './skill-catalogue.ts'

interface SessionSetupOptions {
  readonly config: ResolvedConfig
  readonly models: ModelCache
  readonly policy: string
  readonly sandbox: Sandbox
}

/** What is recorded with the agent when a session is created. */
export interface EffectiveAgent {
  readonly tools: readonly string[]
  readonly promptChars: number
  readonly policy: string
  readonly prices?: { readonly [model: string]: TokenPrice }
  readonly windows?: { readonly [model: string]: number }
  readonly maxOutputs?: { readonly [model: string]: number }
}

interface EffectiveAgents {
  readonly plain: WeakMap<AgentSpec, EffectiveAgent>
  /** With prices, for sessions under a cost limit. */
  readonly priced: WeakMap<AgentSpec, EffectiveAgent>
}

const noNotices: readonly Diagnostic[] = []

/** With more children, a directory replaces the tool for each child. */
const maxDirectChildren = 10

/** Beyond this share of the context window, tools are found by search. */
const maxToolShare = 0.1
/** For models whose window is unknown, or larger. */
const assumedWindow = 200_000
const charsPerToken = 4

/** Characters that a provider adds to the specification of a tool. */
const specOverhead = 32

/** Without `read_output`, which is offered only once there is something to read. */
function toolChars(names: readonly string[], registry: ToolRegistry): number {
  const offered = new Set(names)
  const tools = registry.tools.filter(({ name }) => offered.has(name))
  return registry
    .sent(tools, offered)
    .reduce((sum, { spec, tool }) => sum + textWeight(JSON.stringify(spec)) + specOverhead + textWeight(tool.instructions ?? ''), 0)
}

/** The output format, as instructions or as a schema for the provider. */
const outputChars = ({ output }: AgentSpec): number =>
  output.format === 'json' ? textWeight(jsonInstruction(output)) : output.format === 'text' ? textWeight(plainTextInstruction) : 0

/** Prepares agents for sessions. Computes everything once for each agent. */
export class SessionSetup {
  readonly #options: SessionSetupOptions
  readonly #effective = new WeakMap<ToolRegistry, EffectiveAgents>()
  /** Cached for the last registry: usually there is only one. */
  #last: { readonly registry: ToolRegistry; readonly agents: EffectiveAgents } | undefined
  readonly #asChild = new Map<string, AgentSpec>()
  /** Children with the rules and sandbox settings of their parents. */
  readonly #boundBy = new WeakMap<AgentSpec, Map<string, AgentSpec>>()
  readonly #withSkillList = new WeakMap<AgentSpec, AgentSpec>()

  readonly #isCostBound: boolean

  constructor(options: SessionSetupOptions) {
    this.#options = options
    this.#isCostBound = options.config.agents.some(({ limits }) => limits.maxCostUsd !== undefined)
  }

  /** The tool names of an agent, and how many characters of a request they take. */
  effective(agent: AgentSpec, registry: ToolRegistry, isBoundFromAbove = false): EffectiveAgent {
    const isCostBound = this.#isCostBound || isBoundFromAbove
    const { priced, plain } = this.#last?.registry === registry ? this.#last.agents : this.#agentsWith(registry)
    const agents = isCostBound ? priced : plain
    const known = agents.get(agent)
    if (known) return known
    const { models, policy } = this.#options
    const allowed = registry.allowed(agent.tools).map((each) => each.name)
    const all = [...allowed, ...this.#childTools(agent), ...(agent.skills ? ['load_skill'] : []), ...registry.brought]
    const isSearched = this.#areTooMany(agent, all, registry)
    const offered = isSearched ? [...all, ...toolSearchNames] : all
    const promptChars = textWeight(agent.prompt) + outputChars(agent) + (this.#takesTools(agent) ? toolChars(offered, registry) : 0)
    // Outputs of tools may be too large to show.
    const tools = offered.length > 0 ? [...offered, readOutputName].toSorted() : []
    const prices = isCostBound ? models.prices(agent) : {}
    const windows = models.windows(agent)
    const maxOutputs = models.maxOutputs(agent)
    const effective = {
      tools,
      promptChars,
      policy,
      ...(Object.keys(prices).length > 0 && { prices }),
      ...(Object.keys(windows).length > 0 && { windows }),
      ...(Object.keys(maxOutputs).length > 0 && { maxOutputs }),
    }
    agents.set(agent, effective)
    return effective
  }

  #agentsWith(registry: ToolRegistry): EffectiveAgents {
    const agents = this.#effective.get(registry) ?? { plain: new WeakMap(), priced: new WeakMap() }
    this.#effective.set(registry, agents)
    this.#last = { registry, agents }
    return agents
  }

  /** An agent with the default limits of children. */
  childAgent(name: string, parent?: AgentSpec): AgentSpec {
    const known = this.#asChild.get(name) ?? this.#limitedAsChild(name)
    if (!parent || (!parent.approvals && !parent.bounds && !parent.sandbox)) return known
    const bound = this.#boundBy.get(parent) ?? new Map<string, AgentSpec>()
    this.#boundBy.set(parent, bound)
    const child = bound.get(name) ?? applyInheritedRules(parent, known)
    bound.set(name, child)
    return child
  }

  /** An agent with the list of its skills in its prompt. Needs resolved models. */
  withSkillList(agent: AgentSpec): AgentSpec {
    if (!agent.skills) return agent
    const known = this.#withSkillList.get(agent)
    if (known) return known
    const { text } = this.#catalogue(agent.skills, agent)
    const equipped = text === '' ? agent : { ...agent, prompt: `${agent.prompt}\n\n${text}` }
    this.#withSkillList.set(agent, equipped)
    return equipped
  }

  /** Warnings for a new session: a missing sandbox, skills that do not fit into the prompt, and nothing to spawn. */
  notices(agent: AgentSpec): readonly Diagnostic[] {
    if (!agent.sandbox && !agent.skills && !agent.childControl) return noNotices
    return [this.#missingSandbox(agent), this.#cutSkills(agent), unusedControl(agent)].filter((each) => each !== undefined)
  }

  #missingSandbox(agent: AgentSpec): Diagnostic | undefined {
    const { config, sandbox } = this.#options
    const acts = agent.tools.length > 0 && config.tools.length + config.sources.length + config.sessionSources.length > 0
    return acts ? sandboxNotice(agent, sandbox.confinement) : undefined
  }

  #cutSkills(agent: AgentSpec): Diagnostic | undefined {
    const notice = agent.skills && this.#catalogue(agent.skills, agent).notice
    if (notice === undefined) return undefined
    const remedy = 'Give it fewer skills, shorten their descriptions, or use a model with a larger context window.'
    return { code: 'skills_cut', severity: 'warning', message: `Skills of "${agent.name}": ${notice}`, remedy }
  }

  #limitedAsChild(name: string): AgentSpec {
    const agent = findAgent(this.#options.config.agents, name)
    const child = this.withSkillList({ ...agent, limits: { ...childLimits, ...agent.limits } })
    this.#asChild.set(name, child)
    return child
  }

  #catalogue(skills: readonly SkillCard[], agent: AgentSpec): SkillCatalogue {
    const windows = Object.values(this.#options.models.windows(agent))
    return skillCatalogue(skills, windows.length > 0 ? { windowTokens: Math.min(...windows) } : {})
  }

  #childTools({ agents, childControl }: AgentSpec): readonly string[] {
    const { config } = this.#options
    const { childrenOffered = agents.length > maxDirectChildren ? 'directory' : 'each' } = config
    const control = childControl && agents.length > 0 ? childControlNames : []
    const children = agents.map((name) => agentToolName(findAgent(config.agents, name)))
    if (agents.length === 0 || childrenOffered === 'each') return [...children.map(offeredName), ...control]
    // `delegate_task` finds them; they are not sent.
    const replaced = children.filter((name) => config.tools.some((tool) => tool.name === name)).map(offeredName)
    return [...directoryNames, ...replaced, ...control]
  }

  /** Whether tools are found by search: there are some, and all together would take too much of each request. */
  #areTooMany(agent: AgentSpec, names: readonly string[], registry: ToolRegistry): boolean {
    const { config, models } = this.#options
    const offered = new Set(names)
    if (config.toolsOffered === 'each' || !registry.tools.some(({ name, tool }) => offered.has(name) && isSearchable(tool))) return false
    if (config.toolsOffered === 'search') return true
    const window = Math.min(...Object.values(models.windows(agent)), assumedWindow)
    return toolChars(names, registry) > window * charsPerToken * maxToolShare
  }

  #takesTools({ models }: AgentSpec): boolean {
    const { all } = this.#options.models
    return models.some((name) => all.get(name)?.abilities.includes('tools') ?? true)
  }
}

/** A child with the rules and the sandbox settings of its parent and of all ancestors, besides its own. */
export function applyInheritedRules(parent: AgentSpec, child: AgentSpec): AgentSpec {
  const rules = parent.approvals ?? []
  const bounds = [...(parent.bounds ?? []), ...(rules.length > 0 ? [{ name: `agent ${parent.name}`, rules }] : []), ...(child.bounds ?? [])]
  const sandbox = parent.sandbox ? mergeSandbox(parent.sandbox, child.sandbox ?? {}) : child.sandbox
  return { ...child, ...(bounds.length > 0 && { bounds }), ...(sandbox && { sandbox }) }
}

function unusedControl({ name, agents, childControl }: AgentSpec): Diagnostic | undefined {
  if (!childControl || agents.length > 0) return undefined
  const message = `"${name}" has childControl, but no agents that it could spawn.`
  return { code: 'child_control_unused', severity: 'warning', message, remedy: 'List them in `agents`, or remove childControl.' }
}
