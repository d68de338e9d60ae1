import {
  type AgentCard,
  type AgentSpec,
  type Clock,
  type Diagnostic,
  type DriverId,
  type InputPart,
  type MaybePromise,
  type SchemaValidator,
  type SessionId,
  type Tool,
  type ToolSource,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { agentLoop } from '../../core/index.ts'
import { Queues, queueNames, type StepPorts, sharedModelHealth, ToolRegistry, type TreePort } from '../../steps/index.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import {
  agentCard,
  agentDirectory,
  agentTool,
  agentToolName,
  childControlTools,
  readOutputTool,
  replacementOf,
  schemaValidator,
  toolSearch,
} from '../../tools/index.ts'
import { shortHash } from '../../util/hash.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { messageOf } from '../../util/message-of.ts'
import { configError } from '../../util/option-problems.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import { TreeCache } from '../journal/tree-cache.ts'
import type { RuntimeOptions } from '../options/agent-runtime.ts'
import { matchAgent, type Selected } from '../selection/select-agent.ts'
import { checkAllowlist } from '../validation/check-agent.ts'
import { checkTools } from '../validation/check-tools.ts'
import { noSandbox, randomIds, seededRandom, systemClock } from './default-ports.ts'
import { Hosting } from './hosting.ts'
import { listTools } from './list-tools.ts'
import { ModelCache } from './model-cache.ts'
import { type ResolvedConfig, resolveConfig } from './resolve-config.ts'
import { mcpHostOf, ServerSources } from './server-sources.ts'
import { type TreeOverlay, TreeOverlays, type Variables } from './session-overlays.ts'
import { SessionSetup } from './session-setup.ts'
import { SessionSources } from './session-sources.ts'
import { sourcesFor, type TreeSources, type TreeSourcesOptions } from './tree-sources.ts'

/** The options of a runtime with their defaults. */
interface PartsOptions extends Required<Omit<RuntimeOptions, 'config' | 'grants' | 'origin' | 'mcp' | 'budgetOf' | 'approver'>> {
  readonly config: ResolvedConfig
  readonly grants: RuntimeOptions['grants']
  readonly origin: RuntimeOptions['origin']
  readonly validator: SchemaValidator
}

const withDefaults = (options: RuntimeOptions, servers: ServerSources): PartsOptions => ({
  config: resolveConfig(options.config, servers),
  ...replaceable(options),
  recipe: options.recipe ?? agentLoop,
  store: options.store ?? memoryStore(),
  grants: options.grants,
  clock: options.clock ?? systemClock,
  ids: options.ids ?? randomIds,
  modelHealth: options.modelHealth ?? sharedModelHealth,
  validator: schemaValidator(),
  origin: options.origin,
})

/** What `update` can replace besides the configuration. */
const replaceable = ({
  adapter,
  sandbox = noSandbox,
  hooks = [],
}: RuntimeOptions): Pick<PartsOptions, 'adapter' | 'sandbox' | 'hooks'> => ({
  adapter,
  sandbox,
  hooks,
})

/** How long `close` waits for tool sources and hooks. */
const closingMs = 5_000

/**
 * What all trees of a runtime share: tools, models, ports. Created on first use; synchronous after that.
 *
 * 1. Sources are listed once, models resolved once.
 * 2. Wrong tools and models are reported before anything starts.
 */
export class RuntimeParts {
  readonly options: PartsOptions
  /** By name. A session keeps the definition that it began with; agents that it names may have been removed since. */
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** This process, as the driver of trees. */
  readonly driver: DriverId
  /** Shared by all configurations of a runtime: a turn begins with the newest. */
  readonly catalogue: { newest: RuntimeParts }
  /** A fingerprint of sandbox, hooks and rules: approvals hold under it only. */
  readonly policy: string
  readonly models: ModelCache
  readonly sessionSetup: SessionSetup
  readonly trees: TreeCache
  readonly overlays: TreeOverlays
  /** What a server may add. */
  readonly hosting: Hosting
  /** The keys that the models of this adapter use. */
  readonly modelKeys: Variables
  /** Absent if no source is opened for sessions. */
  readonly sources: SessionSources | undefined
  /** Unchanged servers keep their connections. */
  readonly #servers: ServerSources
  readonly #given: RuntimeOptions['config']
  /** For every new session. */
  readonly notices: readonly Diagnostic[]
  readonly #cards = new WeakMap<AgentSpec, readonly AgentCard[]>()
  #registry: MaybePromise<ToolRegistry> | undefined
  #queues: Queues | undefined

  /** `previous`: the configuration before this one. Everything that belongs to the process is shared with it. */
  constructor(given: RuntimeOptions, previous?: RuntimeParts, notices: readonly Diagnostic[] = []) {
    this.notices = notices
    this.#servers = previous ? previous.#servers : new ServerSources(mcpHostOf(given, given.clock ?? systemClock))
    const options = previous
      ? { ...previous.options, ...replaceable(given), config: resolveConfig(given.config, this.#servers) }
      : withDefaults(given, this.#servers)
    this.options = options
    this.catalogue = previous?.catalogue ?? { newest: this }
    this.agents = new Map(options.config.agents.map((agent) => [agent.name, agent]))
    this.driver = previous?.driver ?? (options.ids.next() as DriverId)
    this.policy = policyOf(options)
    const hasSameModels =
      previous?.options.adapter === options.adapter && haveSameJson(previous.options.config.unpriced, options.config.unpriced)
    this.models = hasSameModels
      ? previous.models
      : new ModelCache(options.adapter, { unpriced: options.config.unpriced, clock: options.clock })
    this.sessionSetup = new SessionSetup({ config: options.config, models: this.models, policy: this.policy, sandbox: options.sandbox })
    this.trees = previous?.trees ?? new TreeCache(options.store)
    this.hosting = previous?.hosting ?? new Hosting(given, { usages: options.store.usages, clock: options.clock })
    this.modelKeys = ('resolve' in options.adapter ? options.adapter.secrets : undefined) ?? {}
    this.overlays = previous?.overlays ?? new TreeOverlays(options.config.overlay, this.modelKeys)
    if (previous && haveSameJson(previous.options.config.queues ?? {}, options.config.queues ?? {})) this.#queues = previous.#queues
    const { sessionSources, agentSources } = options.config
    // Sessions that have opened sources keep them until they end, also if the new configuration has none.
    this.sources = previous?.sources ?? (sessionSources.length > 0 || agentSources.size > 0 ? new SessionSources(options.clock) : undefined)
    this.#given = given.config
    if (!previous) this.#servers.prepare(given.config)
    if (options.config.sources.length === 0 && !this.#hasSkills) this.#registry = registryOf(options.config.tools, { ...options, own: [] })
  }

  /** Makes this the newest configuration. Nothing that sessions use has changed before. */
  adopt(): void {
    this.catalogue.newest = this
    this.overlays.replaceShared(this.options.config.overlay, this.modelKeys)
    this.#servers.prepare(this.#given)
  }

  /** Whether sources are listed and the models of the agent resolved. */
  isReady(agent: AgentSpec): boolean {
    return !this.sources && this.#registry instanceof ToolRegistry && this.models.hasAll(agent)
  }

  /** The tools of an agent in a tree. Opens the sources that the agent may use. */
  toolsFor(treeId: TreeId, agent: AgentSpec): MaybePromise<ToolRegistry> {
    return this.sources ? this.#refreshSources(treeId, agent) : this.registry()
  }

  async #refreshSources(treeId: TreeId, agent: AgentSpec): Promise<ToolRegistry> {
    const base = await this.registry()
    return this.sourcesOf(treeId, base).refresh(agent)
  }

  /** The opened sources of a tree. */
  sourcesOf(treeId: TreeId, base: ToolRegistry): TreeSources {
    if (!this.sources) throw new TroupeError('internal', 'This runtime has no sources for sessions.')
    return this.sources.open(treeId, () => this.sourceOptions(treeId, base))
  }

  sourceOptions(treeId: TreeId, base: ToolRegistry): TreeSourcesOptions {
    const { sessionSources: shared, agentSources } = this.options.config
    const { overlay, redactor } = this.overlays.of(treeId)
    return {
      session: { sessionId: treeId as string as SessionId, overlay },
      clock: this.options.clock,
      redactor,
      base,
      sourcesOf: (agent) => sourcesFor(agent, { own: agentSources.get(agent.name) ?? [], shared }),
    }
  }

  /** Absent if no owner can have a budget. */
  get accounts(): Hosting['accounts'] {
    return this.hosting.accounts
  }

  get isNewest(): boolean {
    return this.catalogue.newest === this
  }

  registry(): MaybePromise<ToolRegistry> {
    this.#registry ??= this.#listSources()
    return this.#registry
  }

  /** The agents that a caller may call. */
  cardsFor(caller: AgentSpec): readonly AgentCard[] {
    const known = this.#cards.get(caller)
    if (known) return known
    const found = caller.agents
      .flatMap((name) => this.agents.get(name) ?? [])
      .map((agent) => agentCard(agent, replacementOf(agent, this.options.config.tools)))
    this.#cards.set(caller, found)
    return found
  }

  /** Input may contain secrets, too: it is stored and shown. */
  withoutSecrets(input: readonly InputPart[], { redactor }: TreeOverlay): readonly InputPart[] {
    return input.map((part) => (part.type === 'text' ? { ...part, text: redactor.text(part.text) } : part))
  }

  /** Asks a model to select the agent: the first healthy model of the first candidate. */
  async askModelForAgent(
    candidates: readonly AgentSpec[],
    input: readonly InputPart[],
    {
      startInterrupt,
      redactor,
      account,
    }: { readonly startInterrupt: Interrupt; readonly account: TreeAccount | undefined } & Pick<TreeOverlay, 'redactor'>,
  ): Promise<Selected> {
    const [first] = candidates
    if (!first) return matchAgent(candidates, input)
    await this.models.resolve(first)
    const { modelHealth } = this.options
    const isLeftOut = (each: string) => modelHealth.until(this.models.all.get(each), this.options.clock.now()) > 0
    const name = first.models.find((each) => !isLeftOut(each)) ?? first.models[0] ?? ''
    const model = this.models.all.get(name)
    if (!model) return matchAgent(candidates, input)
    const asked = { ...first, models: [name] }
    this.models.checkPrices(asked, account?.isCostBound || candidates.some(({ limits }) => limits.maxCostUsd !== undefined))
    const { config, clock } = this.options
    const inquiryOptions = {
      model,
      price: this.models.prices(asked)[name],
      llmTimeout: first.limits.llmTimeout,
      queues: config.queues && this.#queuesOf(config.queues, await this.registry()),
      clock,
      redact: (text: string) => redactor.text(text),
    }
    const { askModelForAgent } = await import('../selection/ask-model-for-agent.ts')
    const selected = await askModelForAgent(candidates, input, { inquiryOptions, startInterrupt, account })
    if (selected.asked?.failure) modelHealth.note(model, selected.asked.failure, clock.now())
    return selected
  }

  /** Ports of all sessions of a tree. `registry`: of sessions without sources of their own. */
  ports(treeId: TreeId, { tree, registry }: { tree: TreePort; registry: ToolRegistry }): StepPorts {
    const { validator, grants, sandbox, hooks, store, config } = this.options
    return {
      tree,
      models: this.models.all,
      modelHealth: this.options.modelHealth,
      registry,
      validator,
      approver: this.hosting.approver,
      rules: config.approvals,
      grants,
      sandbox,
      hooks,
      blobs: store.blobs,
      random: seededRandom(treeId),
      ...this.overlays.of(treeId),
      skills: config.skills,
      flags: config.flags,
      queues: config.queues && this.#queuesOf(config.queues, registry),
    }
  }

  #queuesOf(queues: NonNullable<ResolvedConfig['queues']>, { tools }: ToolRegistry): Queues {
    const { clock, config } = this.options
    const sources = [...config.sessionSources, ...[...config.agentSources.values()].flat()].map(({ name }) => name)
    const usedByCalls = new Set([...tools.flatMap(({ tool }) => queueNames(tool)), ...sources])
    this.#queues ??= new Queues(queues, { clock, usedByCalls })
    return this.#queues
  }

  get #hasSkills(): boolean {
    return this.options.config.agents.some((agent) => agent.skills !== undefined)
  }

  /** Everything that a runtime closes at its end. */
  get closeable(): readonly { close?(): unknown }[] {
    const { config, hooks } = this.options
    return [...config.sources, ...config.sessionSources, ...[...config.agentSources.values()].flat(), ...hooks]
  }

  async close(): Promise<void> {
    const { clock } = this.options
    const release = keepAlive()
    const late = Promise.withResolvers<void>()
    const cancel = clock.after(closingMs, () => late.resolve())
    const closing = this.sources ? this.sources.close().then(() => closeAll(this.closeable)) : closeAll(this.closeable)
    await Promise.race([closing, late.promise])
    cancel()
    release()
  }

  async #listSources(): Promise<ToolRegistry> {
    const { config } = this.options
    try {
      const lists: unknown[] = await Promise.all(config.sources.map((source, index) => listed(source, index, this.options.clock)))
      const wrong = lists.findIndex((list) => !Array.isArray(list))
      if (wrong >= 0)
        throw configError([
          {
            place: `source ${wrong + 1}`,
            message: 'expected list() to return a list of tools',
            remedy: 'Return an empty list if there are none.',
          },
        ])
      const tools = [...config.tools, ...(lists.flat() as Tool[])]
      const problems = [
        ...checkTools(tools, 'tools'),
        ...config.agents.flatMap((agent) =>
          checkAllowlist(agent, tools, { place: `agent ${agent.name}`, sources: sourceNames(config, agent.name) }),
        ),
      ]
      if (problems.length > 0) throw configError(problems)
      const own = this.#hasSkills ? [(await import('../../tools/builtin/index.ts')).loadSkillTool()] : []
      this.#registry = registryOf(tools, { ...this.options, own })
      return this.#registry
    } catch (error) {
      // A source that failed may answer the next time.
      this.#registry = undefined
      throw error
    }
  }
}

export const closeAll = (all: readonly { close?(): unknown }[]): Promise<unknown> =>
  Promise.allSettled(all.map(async (each) => each.close?.()))

/** Names of the sources whose tools an agent may have. */
const sourceNames = ({ sessionSources, agentSources }: ResolvedConfig, agent: string): readonly string[] =>
  [...sessionSources, ...(agentSources.get(agent) ?? [])].map(({ name }) => name)

async function listed(source: ToolSource, index: number, clock: Clock): Promise<unknown> {
  try {
    return await listTools(source, clock)
  } catch (cause) {
    if (cause instanceof TroupeError) throw cause
    throw new TroupeError('tools_unavailable', `Source ${index + 1} could not list its tools: ${messageOf(cause)}`, {
      remedy: `Fix list() of source ${index + 1}, or remove the source; then try again.`,
      cause,
    })
  }
}

function policyOf({ sandbox, hooks, config }: PartsOptions): string {
  return shortHash(JSON.stringify([sandbox.confinement, hooks.map(({ name, onFailure }) => [name, onFailure]), config.approvals]))
}

/** Children are tools of the runtime: `agents` allows them, not the allowlist of tools. So are tools that replace them. */
function registryOf(
  given: readonly Tool[],
  { config: { agents }, validator, own: others }: PartsOptions & { own: readonly Tool[] },
): ToolRegistry {
  const children = new Set(agents.flatMap((agent) => agent.agents))
  const names = new Set(agents.map(agentToolName))
  const tools = given.filter(({ name }) => !names.has(name))
  const own = agents.filter(({ name }) => children.has(name)).map((agent) => replacementOf(agent, given) ?? agentTool(agent))
  const directory = own.length > 0 ? agentDirectory(validator) : []
  const control = agents.some(({ childControl }) => childControl) ? childControlTools(validator) : []
  return new ToolRegistry(tools, [readOutputTool(), ...toolSearch, ...others, ...own, ...directory, ...control])
}
