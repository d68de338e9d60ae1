import type { AgentSpec, ClientId, InboxMessage, Outcome, TreeId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { agentLoop, created } from '../core/index.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { schemaValidator } from '../tools/index.ts'
import { Feed } from './feed.ts'
import { Handle } from './handle.ts'
import { firstEvent, haltOf, LiveTree } from './live-tree.ts'
import { outcomeOf } from './outcome.ts'
import { findAgent, resolveConfig } from './resolve-config.ts'
import { partsOf, sessionService } from './session-service.ts'
import { denyAll, noSandbox, randomIds, systemClock } from './system.ts'
import type { Beginning, TreeHouse } from './tree-house.ts'
import type { AgentRuntime, RunHandle, RunInput, RunOptions, RuntimeOptions } from './types.ts'
import { Workshop } from './workshop.ts'

/**
 * Puts agents, models, tools and a store together.
 *
 * @example
 * const runtime = createAgentRuntime({ config: { agents: [agent], tools: [search] }, adapter: model })
 * const outcome = await runtime.run('What is new?')
 *
 * @throws TroupeError `config_invalid` with every problem at once; nothing is started.
 */
export function createAgentRuntime(options: RuntimeOptions): AgentRuntime {
  const config = resolveConfig(options.config)
  const workshop = new Workshop({
    config,
    adapter: options.adapter,
    recipe: options.recipe ?? agentLoop,
    store: options.store ?? memoryStore(),
    approver: options.approver ?? denyAll,
    sandbox: options.sandbox ?? noSandbox,
    hooks: options.hooks ?? [],
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    validator: schemaValidator(),
  })
  return new Runtime(workshop)
}

class Runtime implements AgentRuntime, TreeHouse {
  readonly workshop: Workshop
  readonly sessions = sessionService(this)
  readonly #starting = new Map<TreeId, Promise<unknown>>()
  readonly #trees = new Map<TreeId, LiveTree>()
  #closed = false

  constructor(workshop: Workshop) {
    this.workshop = workshop
  }

  async run(input: RunInput, options: RunOptions = {}): Promise<Outcome> {
    const { treeId, outcome } = this.begin(input, this.agent(options.agent))
    this.#interruptOn(options.signal, treeId)
    return outcome
  }

  stream(input: RunInput, options: RunOptions = {}): RunHandle {
    const { treeId, outcome, feed } = this.begin(input, this.agent(options.agent))
    this.#interruptOn(options.signal, treeId)
    return new Handle(this, { treeId, outcome, events: feed.subscribe() })
  }

  async open(treeId: TreeId): Promise<RunHandle> {
    this.#refuseWhenClosed()
    const tree = this.live(treeId) ?? (await this.#resume(treeId, true))
    return new Handle(this, { treeId, outcome: tree.settled, events: tree.feed.subscribe() })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#starting.values())
    await Promise.all([...this.#trees.values()].map((tree) => this.#end(tree)))
    await this.workshop.close()
  }

  agent(name: string = this.workshop.options.config.selected): AgentSpec {
    return findAgent(this.workshop.options.config.agents, name)
  }

  live(treeId: TreeId): LiveTree | undefined {
    return this.#trees.get(treeId)
  }

  begin(input: RunInput, agent: AgentSpec): Beginning {
    this.#refuseWhenClosed()
    const treeId = this.workshop.options.ids.next() as TreeId
    const feed = new Feed()
    const started = LiveTree.start(this.workshop, { treeId, agent, parts: partsOf(input), feed })
      .then((tree) => this.#keep(tree))
      .finally(() => this.#starting.delete(treeId))
    this.#starting.set(treeId, started)
    const outcome = started.then(
      (tree) => tree.settled,
      (error: unknown) => {
        feed.close()
        return neverStarted({ treeId, agent, error, at: this.workshop.options.clock.now() })
      },
    )
    return { treeId, feed, started, outcome }
  }

  async deliver(treeId: TreeId, message: InboxMessage, clientId?: ClientId): Promise<void> {
    const { store, ids } = this.workshop.options
    await this.#starting.get(treeId)
    if (!this.#trees.has(treeId) && !(await store.trees.get(treeId))) throw new TroupeError('tree_unknown', `There is no tree ${treeId}.`)
    await store.inbox.add(treeId, clientId ?? (ids.next() as ClientId), message)
    if (!this.#trees.has(treeId) && !this.#closed) await this.#attend(treeId)
  }

  /** Takes up a tree that nobody here drives. Another process that drives it has been told by the inbox. */
  async #attend(treeId: TreeId): Promise<void> {
    try {
      await this.#resume(treeId, false)
    } catch (error) {
      if (!(error instanceof TroupeError && error.code === 'tree_owned')) throw error
    }
  }

  async #resume(treeId: TreeId, patient: boolean): Promise<LiveTree> {
    const tree = await LiveTree.resume(this.workshop, treeId, patient)
    return this.#keep(tree)
  }

  #keep(tree: LiveTree): LiveTree {
    this.#trees.set(tree.treeId, tree)
    void tree.settled.then(() => {
      this.#trees.delete(tree.treeId)
      if (tree.leftOver && !this.#closed) void this.#attend(tree.treeId).catch(() => {})
    })
    return tree
  }

  async #end(tree: LiveTree): Promise<void> {
    if (!tree.retire()) await this.deliver(tree.treeId, { kind: 'cancel', mode: 'interrupt', by: 'runtime' })
    await tree.settled
  }

  #interruptOn(signal: AbortSignal | undefined, treeId: TreeId): void {
    if (!signal) return
    const interrupt = () => void this.deliver(treeId, { kind: 'cancel', mode: 'interrupt', by: 'signal' }).catch(() => {})
    if (signal.aborted) interrupt()
    else signal.addEventListener('abort', interrupt, { once: true })
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new TroupeError('runtime_closed', 'The runtime was closed.', { remedy: 'Create a new one.' })
  }
}

/** The outcome of a run that could not be started: nothing of it was stored. */
function neverStarted({ treeId, agent, error, at }: { treeId: TreeId; agent: AgentSpec; error: unknown; at: number }): Outcome {
  return outcomeOf(created(firstEvent({ treeId, agent, at }, { tools: [], promptChars: 0, policy: '' })), haltOf(error))
}
