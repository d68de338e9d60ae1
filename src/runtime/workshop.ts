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
import { checkTools, Stage, ToolRegistry } from '../steps/index.ts'
import { readOutputTool } from '../tools/index.ts'
import { shortHash } from '../util/hash.ts'
import { type Redactor, redactor } from '../util/redact.ts'
import { checkAllowlist, invalid, type ResolvedConfig } from './resolve-config.ts'
import { seededRandom } from './system.ts'

export interface WorkshopOptions {
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
export class Workshop {
  readonly options: WorkshopOptions
  readonly owner: OwnerId
  readonly redactor: Redactor
  readonly #models = new Map<string, Model>()
  readonly #shapes = new Map<AgentSpec, AgentShape>()
  readonly #states = new Map<TreeId, SessionState>()
  #registry: ToolRegistry | undefined

  constructor(options: WorkshopOptions) {
    this.options = options
    this.owner = options.ids.next() as OwnerId
    this.redactor = redactor(options.config.overlay)
    if (options.config.sources.length === 0) this.#registry = registryOf(options.config.tools)
  }

  registry(): MaybePromise<ToolRegistry> {
    return this.#registry ?? this.#listSources()
  }

  /** Every model that an agent names. A name that can not be resolved fails the whole: nothing is started on half of them. */
  models(agent: AgentSpec): MaybePromise<ReadonlyMap<string, Model>> {
    return agent.models.every((name) => this.#models.has(name)) ? this.#models : this.#resolve(agent)
  }

  /** The names that the agent may be offered, and how much of a request they take. */
  shape(agent: AgentSpec, registry: ToolRegistry): AgentShape {
    const known = this.#shapes.get(agent)
    if (known) return known
    const allowed = registry.allowed(agent.tools).filter((each) => each.name !== 'read_output')
    const chars = allowed.reduce(
      (sum, { spec, tool }) => sum + JSON.stringify(spec).length + (tool.instructions?.length ?? 0),
      agent.prompt.length,
    )
    const names = allowed.map((each) => each.name)
    const shape = { tools: names.length > 0 ? [...names, 'read_output'].toSorted() : [], promptChars: chars, policy: this.#policy() }
    this.#shapes.set(agent, shape)
    return shape
  }

  stage({ ledger, state }: { ledger: Ledger; state: SessionState }, registry: ToolRegistry): Stage {
    const { recipe, validator, approver, sandbox, hooks, store, clock, config } = this.options
    return new Stage(
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
        redactor: this.redactor,
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

  /** The state of a tree at `seq`, or at the end of its journal. */
  async stateOf(treeId: TreeId, seq?: number): Promise<SessionState> {
    const known = this.#states.get(treeId)
    if (known && known.seq === seq) return known
    const events = await this.options.store.journal.read(treeId, 0)
    if (events.length === 0) throw unknownTree(treeId)
    return fold(events)
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.options.config.sources.map((source) => source.close?.()))
  }

  async #listSources(): Promise<ToolRegistry> {
    const { config } = this.options
    const listed = (await Promise.all(config.sources.map((source) => source.list()))).flat()
    const tools = [...config.tools, ...listed]
    const problems = [
      ...checkTools(tools, 'tools'),
      ...config.agents.flatMap((agent) => checkAllowlist(agent, tools, `agent ${agent.name}`)),
    ]
    if (problems.length > 0) throw invalid(problems)
    this.#registry ??= registryOf(tools)
    return this.#registry
  }

  async #resolve(agent: AgentSpec): Promise<ReadonlyMap<string, Model>> {
    const { adapter } = this.options
    for (const name of agent.models) {
      if (!this.#models.has(name)) this.#models.set(name, 'stream' in adapter ? adapter : await adapter.resolve(name))
    }
    return this.#models
  }

  /** What approvals were given under. */
  #policy(): string {
    const { sandbox, hooks } = this.options
    return shortHash(JSON.stringify([sandbox.confinement, hooks.map((hook) => [hook.name, hook.onFailure])]))
  }
}

const mostRemembered = 32

export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('tree_unknown', `There is no tree ${treeId}.`, { remedy: 'List the trees to see what there is.' })

export interface AgentShape {
  readonly tools: readonly string[]
  readonly promptChars: number
  readonly policy: string
}

const registryOf = (tools: readonly Tool[]): ToolRegistry => new ToolRegistry([...tools, readOutputTool()])
