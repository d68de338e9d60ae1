// Connects the parts of the kernel: load → config → attach → start → stop.
//
// 1. What fails in one extension leaves the others running. `load`, `start` and `stop` do not reject because of one.
// 2. `config` reads what is loaded now: call it again after `onChange`, or with other agents of the project.
// 3. A session that was started before is continued only after `attach`: its tools need the runtime.
import type {
  Clock,
  ExtensionAdmin,
  ExtensionProblem,
  ExtensionStatus,
  Hook,
  Ids,
  Json,
  JsonObject,
  Recipient,
  SessionService,
  Store,
  Tool,
} from '../contracts/index.ts'
import { matchesSource, matchesTool } from '../policy/tool-name-patterns.ts'
import type { AgentDefinition, AgentLoopConfig } from '../runtime/index.ts'
import { messageOf } from '../util/message-of.ts'
import { createBus, type RunningBus } from './bus/create-bus.ts'
import { kernelEvents } from './bus/event-names.ts'
import { handoffTool, returnControlTool } from './handoff/handoff-tool.ts'
import type { KernelDiagnostic, LoadedExtension, Notice, ReportDiagnostic, Router } from './kernel-types.ts'
import { type KernelLease, type LeaseOptions, takeKernelLease } from './lease/kernel-lease.ts'
import type { KernelPorts } from './loader/extension-context.ts'
import { ExtensionLoader, type LoaderOptions } from './loader/extension-loader.ts'
import { currentCall, insideCall } from './orchestrator/current-call.ts'
import { agentDescription, ExtensionAgents } from './orchestrator/extension-agents.ts'
import { listExtensionsTool } from './orchestrator/list-extensions-tool.ts'
import { agentDefinition, autoModel, orchestratorDefinition, orchestratorName } from './orchestrator/orchestrator-definition.ts'
import { contextHook } from './orchestrator/provided-context.ts'
import { projectRecords, projectScope } from './project-records.ts'
import { createRouter } from './router/create-router.ts'
import { createScheduler, type RunningScheduler } from './scheduler/create-scheduler.ts'

type HostPorts = Pick<
  KernelPorts,
  'supervisor' | 'terminal' | 'workspace' | 'dataFolder' | 'logger' | 'secret' | 'storedConfig' | 'builtinTools'
>

export interface KernelOptions extends HostPorts, Omit<LoaderOptions, 'ports' | 'onChange'> {
  readonly store: Pick<Store, 'records'>
  readonly clock: Clock
  readonly ids: Ids
  /** Where new extensions are written, absolute. */
  readonly extensionsFolder: string
  validate: ExtensionAdmin['validate']
  /** Who has the store. A second kernel is refused: both would deliver. Default: the caller keeps others away. */
  readonly lease?: Pick<LeaseOptions, 'holder' | 'supervisor'>
  readonly onDiagnostic: ReportDiagnostic
  /** The tools or agents of an extension have changed: `config` has another result. */
  onChange?(): void
}

/** The agents of the project, without the kernel. */
export interface KernelBase {
  readonly config: AgentLoopConfig
  /** Names of those that can be asked. One of them is the orchestrator. */
  readonly served: readonly string[]
  /** @throws if the model cannot be used. */
  resolveModel(name: string): unknown
}

export interface KernelConfig {
  readonly config: AgentLoopConfig
  readonly served: readonly string[]
  readonly hooks: readonly Hook[]
}

export class Kernel {
  readonly bus: RunningBus
  readonly router: Router
  readonly #options: KernelOptions
  readonly #loader: ExtensionLoader
  readonly #agents: ExtensionAgents
  readonly #scheduler: RunningScheduler
  readonly #hook: Hook
  /** Agents whose model cannot be used, by extension. */
  #unusable: ReadonlyMap<string, ExtensionProblem> = new Map()
  readonly #undo: (() => void)[] = []
  #lease: KernelLease | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  /** What the last `config` contained. */
  #offered: string | undefined

  constructor(options: KernelOptions) {
    this.#options = options
    const { clock, ids, store, supervisor } = options
    // Projects may share a data folder.
    const records = projectRecords(store.records, options.workspace)
    const report: ReportDiagnostic = (diagnostic) => this.#report(diagnostic)
    this.bus = createBus({ records, clock, ids, onDiagnostic: options.onDiagnostic })
    this.router = createRouter({ records, clock, ids, bus: this.bus, report, scope: projectScope(options.workspace) })
    const fire = (task: Pick<Notice, 'text' | 'to' | 'id'>): Promise<void> => this.router.task(task)
    this.#scheduler = createScheduler({ records, clock, ids, bus: this.bus, fire, onDiagnostic: options.onDiagnostic })
    const find = (id: string): LoadedExtension | undefined => this.#loader.get(id)
    this.#agents = new ExtensionAgents({ bus: this.bus, clock, supervisor, onDiagnostic: report, find })
    this.#hook = contextHook({ clock, supervisor, router: this.router, onDiagnostic: report, list: () => this.#loader.list() })
    const { extensionsFolder: folder, validate } = options
    const ports: KernelPorts = {
      ...options,
      bus: this.bus,
      router: this.router,
      currentPerson: () => this.router.personOf(currentCall()?.context.treeId ?? ''),
      agents: this.#agents,
      scheduler: this.#scheduler,
      extensions: { folder, list: () => this.status(), validate },
    }
    this.#loader = new ExtensionLoader({ ...options, ports, onChange: (extension, problems) => this.#changed(extension, problems) })
  }

  /** @throws if another kernel of the project has the store. */
  async load(): Promise<void> {
    const { store, workspace, clock, ids, lease } = this.#options
    const records = projectRecords(store.records, workspace)
    if (lease) this.#lease = await takeKernelLease(records, { clock, ids, ...lease, onLost: (holder) => this.#lostLease(holder) })
    await this.#loader.load()
  }

  /** Adds the orchestrator, and the agents and tools of extensions. */
  async config({ config, served, resolveModel }: KernelBase): Promise<KernelConfig> {
    const extensions = this.#loader.list().filter(({ state }) => state === 'running')
    this.#offered = this.#offering()
    this.#unusable = await this.#unusableAgents(extensions, config.agents, resolveModel)
    const agents = extensions.filter(({ found }) => found.manifest?.agent && !this.#unusable.has(found.id))
    const callable = new Set(agents.map(({ found }) => found.id))
    const tools = extensions.flatMap((each) => each.tools.map(withCall))
    const own = config.agents.map((agent) => withoutTools(agent, [...tools, returnControlTool], config))
    const base = own.find(({ name }) => name === orchestratorName)
    const others = own.filter((agent) => agent !== base)
    const orchestrator =
      base &&
      orchestratorDefinition({
        extensions,
        agents: callable,
        projectAgents: others.filter(({ name }) => served.includes(name) && !base.agents?.includes(name)),
        base,
      })
    return {
      config: {
        ...config,
        ...(orchestrator && { agentSelection: config.agentSelection ?? { agent: orchestratorName } }),
        tools: [
          ...(config.tools ?? []),
          ...tools,
          ...agents.map((each) => this.#agents.toolOf(each, handoffToolOf(each))),
          returnControlTool,
          listExtensionsTool(() => this.status()),
        ],
        agents: [
          ...(orchestrator ? [orchestrator] : []),
          ...others,
          ...agents.flatMap((each) => agentDefinition(each, { callable, orchestrator }) ?? []),
        ],
      },
      served: [...served, ...callable],
      hooks: [this.#hook],
    }
  }

  /** Returns the sessions as people use them. */
  async attach(sessions: SessionService): Promise<void> {
    this.#agents.sessions = sessions
    await this.router.attach(sessions)
  }

  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Waits for `start`. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #start(): Promise<void> {
    for (const each of this.#loader.list()) this.#startByEvents(each)
    this.#undo.push(
      this.bus.subscribe({ id: 'kernel:notices', name: kernelEvents.scheduleMissed, handle: ({ id, data }) => this.#tellMissed(id, data) }),
    )
    await this.#loader.start()
    this.bus.start()
    await this.#scheduler.start()
    this.#options.supervisor.ready()
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    for (const undo of this.#undo.splice(0)) undo()
    await this.#scheduler.stop()
    await this.bus.stop()
    await this.#loader.stop()
    await this.router.close()
    await this.#lease?.release()
  }

  #lostLease(holder: string): void {
    const message = `${holder} has taken over, because this process did not run for some seconds. It stops its extensions.`
    this.#options.onDiagnostic({ level: 'error', source: 'kernel', message })
    void this.stop()
  }

  notify(notice: Notice): Promise<void> {
    return this.router.notify(notice)
  }

  status(): readonly ExtensionStatus[] {
    return this.#loader.list().map((extension) => {
      const { found, state, runs, capabilities, health } = extension
      const unusable = this.#unusable.get(found.id)
      const { name = found.id, version = '', description = '' } = found.manifest ?? {}
      return {
        ...{ id: found.id, name, version, description, state, source: found.source, runs, trusted: found.trusted },
        capabilities: [...capabilities].filter((each) => each !== 'agent' || !unusable),
        ...(health && { health }),
        problems: [...extension.problems, ...(unusable ? [unusable] : [])],
      }
    })
  }

  /** A model that cannot be used costs its agent, and nothing else. */
  async #unusableAgents(
    extensions: readonly LoadedExtension[],
    others: readonly AgentDefinition[],
    resolveModel: KernelBase['resolveModel'],
  ): Promise<ReadonlyMap<string, ExtensionProblem>> {
    const taken = new Set(others.map(({ name }) => name))
    const models = new Map<string, Promise<Omit<ExtensionProblem, 'place'> | undefined>>()
    const problemOf = async ({ found: { id, manifest } }: LoadedExtension) => {
      if (taken.has(id)) return { message: `the project has an agent \`${id}\`, which is used instead`, remedy: 'Rename one of them.' }
      const model = manifest?.agent?.model ?? ''
      // The models of the orchestrator are checked.
      if (model === autoModel && taken.has(orchestratorName)) return undefined
      if (!models.has(model)) models.set(model, modelProblem(model, resolveModel))
      return models.get(model)
    }
    const unusable = new Map<string, ExtensionProblem>()
    for (const extension of extensions.filter(({ found }) => found.manifest?.agent)) {
      const { id, folder } = extension.found
      const problem = await problemOf(extension)
      if (!problem) continue
      unusable.set(id, { place: `${folder}/manifest.yaml`, ...problem })
      if (this.#unusable.get(id)?.message !== problem.message)
        this.#report({ level: 'warn', source: id, message: `its agent cannot run: ${problem.message}` })
    }
    return unusable
  }

  /** `events` of the manifest. */
  #startByEvents({ found: { id, manifest } }: LoadedExtension): void {
    for (const name of manifest?.agent ? manifest.events : [])
      this.#undo.push(
        this.bus.subscribe({
          id: `kernel:agent:${id}`,
          name,
          // It may take longer than a delivery: its end is an event, too.
          handle: ({ data, id: eventId }) => {
            void this.#agents.invoke(id, `The event ${name} has happened.`, { event: name, id: eventId, data })
          },
        }),
      )
  }

  #tellMissed(id: string, data: Json): Promise<void> {
    const { text, to } = data as unknown as { readonly text: string; readonly to?: Recipient }
    return this.router.notify({ id, text, ...(to && { to }) })
  }

  #changed({ found, state }: LoadedExtension, problems: readonly ExtensionProblem[]): void {
    for (const { place, message, remedy } of problems)
      this.#report({
        level: state === 'running' ? 'warn' : 'error',
        source: found.id,
        message: [`${place}: ${message}.`, remedy].join(' '),
      })
    if (this.#offered !== undefined && this.#offered !== this.#offering()) this.#options.onChange?.()
  }

  #offering(): string {
    const running = this.#loader.list().filter((each) => each.state === 'running')
    return JSON.stringify(running.map(({ found, tools }) => [found.id, ...tools.map(({ name, description }) => [name, description])]))
  }

  #report(diagnostic: KernelDiagnostic): void {
    const { level, source, message } = diagnostic
    this.#options.onDiagnostic(diagnostic)
    if (level === 'info') return
    const data: JsonObject = { level, source, message }
    void this.bus.publish({ name: kernelEvents.extensionError, data, source: 'kernel' }).catch(() => {})
  }
}

export const createKernel = (options: KernelOptions): Kernel => new Kernel(options)

async function modelProblem(model: string, resolveModel: KernelBase['resolveModel']): Promise<Omit<ExtensionProblem, 'place'> | undefined> {
  try {
    await resolveModel(model)
    return undefined
  } catch (error) {
    const { remedy } = error as { readonly remedy?: string }
    return { message: `the model ${model} cannot be used: ${messageOf(error)}`, ...(remedy !== undefined && { remedy }) }
  }
}

/** Code of the tool finds the call, for `startAgent`. */
const withCall = (tool: Tool): Tool => ({
  ...tool,
  execute: (input, context) => insideCall({ context }, () => tool.execute(input, context)),
})

/** For agents that talk to the person. */
function handoffToolOf(extension: LoadedExtension): Tool | undefined {
  const { id, manifest } = extension.found
  const { integrationMode, limits } = manifest?.agent ?? {}
  if (!limits || integrationMode !== 'handoff') return undefined
  return handoffTool({ agent: id, description: agentDescription(extension), limits })
}

/** Agents of the project have no tools of extensions, whatever their patterns match: `*` becomes what it was without extensions. */
function withoutTools(
  agent: AgentDefinition,
  tools: readonly Tool[],
  { tools: given = [], mcpServers = {} }: AgentLoopConfig,
): AgentDefinition {
  const { tools: wanted = ['*'] } = agent
  if (!wanted.some((pattern) => tools.some(({ name }) => matchesTool(pattern, name)))) return agent
  const names = given.flatMap((each) => ('execute' in each ? [each.name] : []))
  const sources = [...given.flatMap((each) => ('open' in each ? [each.name] : [])), ...Object.keys({ ...mcpServers, ...agent.mcpServers })]
  const expanded = wanted.flatMap((pattern) =>
    pattern.includes('*')
      ? [
          ...names.filter((name) => matchesTool(pattern, name)),
          ...sources.filter((source) => matchesSource(pattern, source)).map((source) => `${source}/*`),
        ]
      : tools.some(({ name }) => matchesTool(pattern, name))
        ? []
        : [pattern],
  )
  return { ...agent, tools: [...new Set(expanded)] }
}
