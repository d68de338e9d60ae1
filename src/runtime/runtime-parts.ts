import type {
  AgentSpec,
  Approver,
  Clock,
  Diagnostic,
  Hook,
  Ids,
  InputPart,
  MaybePromise,
  Model,
  ModelAdapter,
  OwnerId,
  ProjectGrants,
  RunOrigin,
  Sandbox,
  SchemaValidator,
  SkillCard,
  Store,
  Tool,
  TreeId,
} from '../contracts/index.ts'
import { childLimits, noUsage, type TokenPrice, TroupeError, type Usage } from '../contracts/index.ts'
import type { Pen, Recipe, SessionState } from '../core/index.ts'
import { ActiveSession, offeredName, Queues, type StepPorts, ToolRegistry, type TreePort } from '../steps/index.ts'
import { agentDirectory, agentTool, agentToolName, directoryNames, readOutputName, readOutputTool } from '../tools/index.ts'
import { shortHash } from '../util/hash.ts'
import { inherited } from '../util/inherited.ts'
import type { Interrupt } from '../util/interrupt.ts'
import { type Redactor, redactor } from '../util/redact.ts'
import { type SkillCatalogue, skillCatalogue } from '../util/skill-catalogue.ts'
import { checkAllowlist } from './check-allowlist.ts'
import { checkTools } from './check-tools.ts'
import { invalid } from './config-problems.ts'
import { findAgent } from './find-agent.ts'
import type { ResolvedConfig } from './resolve-config.ts'
import { matchAgent, type Selected } from './select-agent.ts'
import { seededRandom } from './system.ts'
import { foldTree, type TreeState } from './tree-state.ts'

export interface PartsOptions {
  readonly config: ResolvedConfig
  readonly adapter: Model | ModelAdapter
  readonly recipe: Recipe
  readonly store: Store
  readonly approver: Approver
  readonly grants: ProjectGrants | undefined
  readonly sandbox: Sandbox
  readonly hooks: readonly Hook[]
  readonly clock: Clock
  readonly ids: Ids
  readonly validator: SchemaValidator
  readonly origin: RunOrigin | undefined
}

/**
 * What all trees of a runtime share: tools, models, ports. Built on first use; synchronous after that.
 *
 * 1. Sources are listed once, models resolved once.
 * 2. Wrong tools or models are reported before anything is started.
 */
export class RuntimeParts {
  readonly options: PartsOptions
  readonly owner: OwnerId
  /** What approvals are given under. */
  readonly policy: string
  readonly #redactor: Redactor
  readonly #models = new Map<string, Model>()
  readonly #effective = new WeakMap<AgentSpec, EffectiveAgent>()
  readonly #states = new Map<TreeId, TreeState>()
  readonly #asChild = new Map<string, AgentSpec>()
  /** Children bound by the rules and walls of those who call them. */
  readonly #boundBy = new WeakMap<AgentSpec, Map<string, AgentSpec>>()
  readonly #equipped = new WeakMap<AgentSpec, AgentSpec>()
  #registry: MaybePromise<ToolRegistry> | undefined
  #queues: Queues | undefined

  constructor(options: PartsOptions) {
    this.options = options
    this.owner = options.ids.next() as OwnerId
    this.policy = policyOf(options)
    this.#redactor = redactor({ ...('resolve' in options.adapter ? options.adapter.secrets : {}), ...options.config.overlay })
    if (options.config.sources.length === 0 && !this.#hasSkills) this.#registry = registryOf(options.config.tools, { ...options, own: [] })
  }

  /** Sources are listed and the agent's models resolved: nothing is waited for. */
  isReady(agent: AgentSpec): boolean {
    return this.#registry instanceof ToolRegistry && agent.models.every((name) => this.#models.has(name))
  }

  registry(): MaybePromise<ToolRegistry> {
    this.#registry ??= this.#listSources()
    return this.#registry
  }

  /** Every model that an agent names. A name that cannot be resolved fails the whole: nothing is started on half of them. */
  models(agent: AgentSpec): MaybePromise<unknown> {
    return agent.models.every((name) => this.#models.has(name)) ? undefined : this.#resolve(agent)
  }

  /** What people send may hold a key as well; it is kept for long, and shown to many. */
  withoutSecrets(input: readonly InputPart[]): readonly InputPart[] {
    if (!this.#redactor.veil()) return input
    return input.map((part) => (part.type === 'text' ? { ...part, text: this.#redactor.text(part.text) } : part))
  }

  /** Asks the first model of the first candidate which of them is to speak. */
  async askForAgent(candidates: readonly AgentSpec[], input: readonly InputPart[], opening: Interrupt): Promise<Selected> {
    const [first] = candidates
    const [name] = first?.models ?? []
    if (!first || name === undefined) return matchAgent(candidates, input)
    await this.models(first)
    const model = this.#models.get(name)
    if (!model) return matchAgent(candidates, input)
    const asked = { ...first, models: [name] }
    this.checkPrices(
      asked,
      candidates.some(({ limits }) => limits.maxCostUsd !== undefined),
    )
    const { config, clock } = this.options
    const adviser = {
      model,
      price: this.#prices(asked)[name],
      llmTimeout: first.limits.llmTimeout,
      queues: config.queues && this.#queuesOf(config.queues, await this.registry()),
      clock,
      veiled: (text: string) => this.#redactor.text(text),
    }
    const { askForAgent } = await import('./ask-for-agent.ts')
    return askForAgent(candidates, input, { adviser, opening })
  }

  /** The names that the agent may be offered, and how much of a request they take. */
  effective(agent: AgentSpec, registry: ToolRegistry): EffectiveAgent {
    const known = this.#effective.get(agent)
    if (known) return known
    const allowed = registry.allowed(agent.tools)
    const size = allowed.reduce(
      (sum, { spec, tool }) => sum + JSON.stringify(spec).length + (tool.instructions?.length ?? 0),
      agent.prompt.length,
    )
    const offered = [...allowed.map((each) => each.name), ...this.#childTools(agent), ...(agent.skills ? ['load_skill'] : [])]
    // Whoever has tools may have outputs that are too large to show.
    const tools = offered.length > 0 ? [...offered, readOutputName].toSorted() : []
    const prices = this.#isCostBound ? this.#prices(agent) : {}
    const windows = this.#windows(agent)
    const effective = {
      tools,
      promptChars: size,
      policy: this.policy,
      ...(Object.keys(prices).length > 0 && { prices }),
      ...(windows && { windows }),
    }
    this.#effective.set(agent, effective)
    return effective
  }

  /** What all sessions of a tree reach the world through. */
  ports(treeId: TreeId, { tree, registry }: { tree: TreePort; registry: ToolRegistry }): StepPorts {
    const { validator, approver, grants, sandbox, hooks, store, config } = this.options
    return {
      tree,
      models: this.#models,
      registry,
      validator,
      approver,
      rules: config.approvals,
      grants,
      sandbox,
      hooks,
      blobs: store.blobs,
      random: seededRandom(treeId),
      redactor: this.#redactor,
      overlay: config.overlay,
      skills: config.skills,
      flags: config.flags,
      queues: config.queues && this.#queuesOf(config.queues, registry),
    }
  }

  session(pen: Pen, state: SessionState, ports: StepPorts): ActiveSession {
    const { recipe, clock } = this.options
    return new ActiveSession({ recipe, clock, pen, state }, ports)
  }

  /** One set for all trees: tools are listed once. */
  #queuesOf(queues: NonNullable<ResolvedConfig['queues']>, { tools }: ToolRegistry): Queues {
    this.#queues ??= new Queues(queues, { clock: this.options.clock, tools })
    return this.#queues
  }

  /** An agent with the limits that a child has where it states none. */
  childAgent(name: string, parent?: AgentSpec): AgentSpec {
    const known = this.#asChild.get(name) ?? this.#limitedAsChild(name)
    if (!parent || (!parent.approvals && !parent.bounds && !parent.sandbox)) return known
    const bound = this.#boundBy.get(parent) ?? new Map<string, AgentSpec>()
    this.#boundBy.set(parent, bound)
    const child = bound.get(name) ?? inherited(parent, known)
    bound.set(name, child)
    return child
  }

  #limitedAsChild(name: string): AgentSpec {
    const agent = findAgent(this.options.config.agents, name)
    const child = this.equipped({ ...agent, limits: { ...childLimits, ...agent.limits } })
    this.#asChild.set(name, child)
    return child
  }

  /** An agent as its sessions know it: with the list of its skills in its prompt. Its models are known by now. */
  equipped(agent: AgentSpec): AgentSpec {
    if (!agent.skills) return agent
    const known = this.#equipped.get(agent)
    if (known) return known
    const { text } = this.#catalogue(agent.skills, agent)
    const equipped = text === '' ? agent : { ...agent, prompt: `${agent.prompt}\n\n${text}` }
    this.#equipped.set(agent, equipped)
    return equipped
  }

  /** What a session of an agent should know when it begins: which of its skills its prompt has no room for. */
  notices(agent: AgentSpec): readonly Diagnostic[] {
    const notice = agent.skills && this.#catalogue(agent.skills, agent).notice
    if (notice === undefined) return []
    const remedy = 'Give it fewer skills, shorten their descriptions, or take a model with a larger window.'
    return [{ code: 'skills_cut', severity: 'warning', message: `Skills of "${agent.name}": ${notice}`, remedy }]
  }

  #catalogue(skills: readonly SkillCard[], agent: AgentSpec): SkillCatalogue {
    const windows = Object.values(this.#windows(agent) ?? {})
    return skillCatalogue(skills, windows.length > 0 ? { windowTokens: Math.min(...windows) } : {})
  }

  /** Under a cost budget a model must have a price, or be allowed by name. */
  checkPrices(agent: AgentSpec, isBound: boolean): void {
    if (!isBound) return
    const prices = this.#prices(agent)
    const unpriced = agent.models.filter((name) => !Object.hasOwn(prices, name) && !this.options.config.unpriced.includes(name))
    if (unpriced.length > 0)
      throw new TroupeError('config_invalid', `There is a cost budget, and ${unpriced.join(', ')} has no price.`, {
        remedy: 'Name it in `unpriced` to ask it all the same, or take the budget off.',
      })
  }

  get #hasSkills(): boolean {
    return this.options.config.agents.some((agent) => agent.skills !== undefined)
  }

  get #isCostBound(): boolean {
    return this.options.config.agents.some(({ limits }) => limits.maxCostUsd !== undefined)
  }

  /** The most that a token may cost, by what each of the agent's models says. */
  #prices(agent: AgentSpec): { readonly [model: string]: TokenPrice } {
    const prices: Record<string, TokenPrice> = {}
    for (const name of agent.models) {
      const model = this.#models.get(name)
      const input = perToken(model, (tokens) => ({ ...noUsage, input: tokens }))
      const output = perToken(model, (tokens) => ({ ...noUsage, output: tokens }))
      if (input !== undefined && output !== undefined) prices[name] = { input, output }
    }
    return prices
  }

  /** How much each of the agent's models can take in, where it says so. */
  #windows({ models }: AgentSpec): EffectiveAgent['windows'] {
    const known = models.flatMap((name) => {
      const tokens = this.#models.get(name)?.contextTokens
      return tokens === undefined ? [] : [[name, tokens] as const]
    })
    return known.length > 0 ? Object.fromEntries(known) : undefined
  }

  /** Few children are tools of their own; many are found through a directory. */
  #childTools({ agents }: AgentSpec): readonly string[] {
    const { childrenOffered = agents.length > mostOffered ? 'directory' : 'each' } = this.options.config
    if (agents.length > 0 && childrenOffered === 'directory') return directoryNames
    return agents.map((name) => offeredName(agentToolName(findAgent(this.options.config.agents, name))))
  }

  /** Keeps the state of a tree that was let go, so that a conversation need not be folded anew at each turn. */
  remember(state: TreeState): void {
    const { treeId } = state.root
    this.#states.delete(treeId)
    this.#states.set(treeId, state)
    if (this.#states.size > mostRemembered) this.#states.delete(this.#states.keys().next().value as TreeId)
  }

  forget(treeId: TreeId): void {
    this.#states.delete(treeId)
  }

  /** The state of a tree at the end of its journal, from what is known of it. */
  async stateOf(treeId: TreeId, known = this.#states.get(treeId)): Promise<TreeState> {
    const events = await this.options.store.journal.read(treeId, known?.seq ?? 0)
    if (events.length === 0 && !known) throw unknownTree(treeId)
    return foldTree(events, known)
  }

  async close(): Promise<void> {
    const { config, hooks } = this.options
    await Promise.allSettled([...config.sources, ...hooks].map(async (each) => each.close?.()))
  }

  async #listSources(): Promise<ToolRegistry> {
    const { config } = this.options
    try {
      const lists: unknown[] = await Promise.all(config.sources.map((source) => source.list()))
      const wrong = lists.findIndex((list) => !Array.isArray(list))
      if (wrong >= 0)
        throw invalid([
          {
            place: `source ${wrong + 1}`,
            message: 'expected list() to give a list of tools',
            remedy: 'Give an empty list where there are none.',
          },
        ])
      const listed = lists.flat() as Tool[]
      const tools = [...config.tools, ...listed]
      const problems = [
        ...checkTools(tools, 'tools'),
        ...config.agents.flatMap((agent) => checkAllowlist(agent, tools, `agent ${agent.name}`)),
      ]
      if (problems.length > 0) throw invalid(problems)
      const own = this.#hasSkills ? [(await import('../tools/builtin/index.ts')).loadSkillTool()] : []
      this.#registry = registryOf(tools, { ...this.options, own })
      return this.#registry
    } catch (error) {
      // A source that failed once may answer the next time.
      this.#registry = undefined
      throw error
    }
  }

  async #resolve(agent: AgentSpec): Promise<void> {
    const { adapter } = this.options
    for (const name of agent.models) {
      if (!this.#models.has(name)) this.#models.set(name, 'stream' in adapter ? adapter : await adapter.resolve(name))
    }
  }
}

/** A fingerprint of what approvals are given under. */
function policyOf({ sandbox, hooks, config }: PartsOptions): string {
  return shortHash(JSON.stringify([sandbox.confinement, hooks.map(({ name, onFailure }) => [name, onFailure]), config.approvals]))
}

const mostRemembered = 32
/** Beyond this many children the list of tools would be about them alone. */
const mostOffered = 10

export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('tree_unknown', `There is no tree ${treeId}.`, { remedy: 'List the trees to see what there is.' })

export interface EffectiveAgent {
  readonly tools: readonly string[]
  readonly promptChars: number
  readonly policy: string
  readonly prices?: { readonly [model: string]: TokenPrice }
  readonly windows?: { readonly [model: string]: number }
}

/** Prices may rise with the size of a request: the highest that is seen counts. */
function perToken(model: Model | undefined, usage: (tokens: number) => Usage): number | undefined {
  const found = [1_000, 1_000_000].map((tokens) => {
    const cost = model?.costOf?.(usage(tokens))
    return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost / tokens : undefined
  })
  return found.includes(undefined) ? undefined : Math.max(...(found as number[]))
}

/** Children are tools of the runtime's own: no allowlist names them, only `agents` does. */
function registryOf(
  tools: readonly Tool[],
  { config: { agents }, validator, own: given }: PartsOptions & { own: readonly Tool[] },
): ToolRegistry {
  const children = new Set(agents.flatMap((agent) => agent.agents))
  const own = agents.filter(({ name }) => children.has(name)).map(agentTool)
  return new ToolRegistry(tools, [readOutputTool(), ...given, ...own, ...(own.length > 0 ? agentDirectory(validator) : [])])
}
