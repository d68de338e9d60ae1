import type {
  AgentSpec,
  Approver,
  Clock,
  Hook,
  Ids,
  MaybePromise,
  Model,
  ModelAdapter,
  OwnerId,
  Sandbox,
  SchemaValidator,
  Store,
  Tool,
  TreeId,
} from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { fold, type Ledger, type Recipe, type SessionState } from '../core/index.ts'
import { ActiveSession, ToolRegistry } from '../steps/index.ts'
import { readOutputName, readOutputTool } from '../tools/index.ts'
import { shortHash } from '../util/hash.ts'
import { type Redactor, redactor } from '../util/redact.ts'
import { checkTools } from './check-tools.ts'
import { checkAllowlist, invalid, type ResolvedConfig } from './resolve-config.ts'
import { seededRandom } from './system.ts'

export interface PartsOptions {
  readonly config: ResolvedConfig
  readonly adapter: Model | ModelAdapter
  readonly recipe: Recipe
  readonly store: Store
  readonly approver: Approver
  readonly sandbox: Sandbox
  readonly hooks: readonly Hook[]
  readonly clock: Clock
  readonly ids: Ids
  readonly validator: SchemaValidator
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
  readonly #effective = new Map<AgentSpec, EffectiveAgent>()
  readonly #states = new Map<TreeId, SessionState>()
  #registry: MaybePromise<ToolRegistry> | undefined

  constructor(options: PartsOptions) {
    this.options = options
    this.owner = options.ids.next() as OwnerId
    this.policy = shortHash(JSON.stringify([options.sandbox.confinement, options.hooks.map((hook) => [hook.name, hook.onFailure])]))
    this.#redactor = redactor({ ...('resolve' in options.adapter ? options.adapter.secrets : {}), ...options.config.overlay })
    if (options.config.sources.length === 0) this.#registry = registryOf(options.config.tools)
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

  /** The names that the agent may be offered, and how much of a request they take. */
  effective(agent: AgentSpec, registry: ToolRegistry): EffectiveAgent {
    const known = this.#effective.get(agent)
    if (known) return known
    const allowed = registry.allowed(agent.tools)
    const size = allowed.reduce(
      (sum, { spec, tool }) => sum + JSON.stringify(spec).length + (tool.instructions?.length ?? 0),
      agent.prompt.length,
    )
    // Whoever has tools may have outputs that are too large to show.
    const tools = allowed.length > 0 ? [...allowed.map((each) => each.name), readOutputName].toSorted() : []
    const effective = { tools, promptChars: size, policy: this.policy }
    this.#effective.set(agent, effective)
    return effective
  }

  session({ ledger, state }: { ledger: Ledger; state: SessionState }, registry: ToolRegistry): ActiveSession {
    const { recipe, validator, approver, sandbox, hooks, store, clock, config } = this.options
    return new ActiveSession(
      { recipe, clock, ledger, state },
      {
        models: this.#models,
        registry,
        validator,
        approver,
        sandbox,
        hooks,
        blobs: store.blobs,
        random: seededRandom(state.treeId),
        redactor: this.#redactor,
        overlay: config.overlay,
        flags: config.flags,
      },
    )
  }

  /** Keeps the state of a tree that was let go, so that a conversation need not be folded anew at each turn. */
  remember(state: SessionState): void {
    this.#states.delete(state.treeId)
    this.#states.set(state.treeId, state)
    if (this.#states.size > mostRemembered) this.#states.delete(this.#states.keys().next().value as TreeId)
  }

  forget(treeId: TreeId): void {
    this.#states.delete(treeId)
  }

  /** The state of a tree at the end of its journal, from what is known of it. */
  async stateOf(treeId: TreeId, known = this.#states.get(treeId)): Promise<SessionState> {
    const events = await this.options.store.journal.read(treeId, known?.seq ?? 0)
    if (events.length === 0 && !known) throw unknownTree(treeId)
    return fold(events, known)
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.options.config.sources.map((source) => source.close?.()))
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
      this.#registry = registryOf(tools)
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

const mostRemembered = 32

export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('tree_unknown', `There is no tree ${treeId}.`, { remedy: 'List the trees to see what there is.' })

export interface EffectiveAgent {
  readonly tools: readonly string[]
  readonly promptChars: number
  readonly policy: string
}

const registryOf = (tools: readonly Tool[]): ToolRegistry => new ToolRegistry(tools, [readOutputTool()])
