// Connects the parts of the kernel: load → config → attach → start → stop.
//
// 1. What fails in one extension leaves the others running. `load`, `start` and `stop` do not reject because of one.
// 2. `config` reads what is loaded now: call it again after `onChange`, or with other agents of the project.
// 3. A session that was started before is continued only after `attach`: its tools need the runtime.
import type {
  BusEvent,
  Clock,
  ExtensionAdmin,
  ExtensionProblem,
  ExtensionStatus,
  Hook,
  Ids,
  JsonObject,
  OwnerBudget,
  Recipient,
  SessionService,
  Store,
} from '../contracts/index.ts'
import { projectRecords, projectScope } from '../project/index.ts'
import { asSentence } from '../util/as-sentence.ts'
import { messageOf } from '../util/message-of.ts'
import type { Redactor } from '../util/redact.ts'
import { createBus, type RunningBus } from './bus/create-bus.ts'
import { kernelEvents } from './bus/event-names.ts'
import { currentCall } from './calls/current-call.ts'
import { StatusRecorder } from './kernel-status.ts'
import { type KernelLease, type LeaseOptions, takeKernelLease } from './lease/kernel-lease.ts'
import type { KernelPorts } from './loader/extension-context.ts'
import { ExtensionLoader, type LoaderOptions } from './loader/extension-loader.ts'
import { untrustedText, workPermissions } from './loader/extension-trust.ts'
import { ExtensionAgents } from './orchestrator/extension-agents.ts'
import { type KernelBase, type KernelConfig, kernelConfig, unusableAgents } from './orchestrator/kernel-config.ts'
import { contextHook } from './orchestrator/provided-context.ts'
import { createRouter } from './router/create-router.ts'
import { ExtensionRoutes } from './routes/extension-routes.ts'
import { createScheduler, type FiredTask, type RunningScheduler } from './scheduler/create-scheduler.ts'
import type { KernelDiagnostic, KernelServer, LoadedExtension, Notice, ReportDiagnostic, Router } from './shared/kernel-types.ts'

type HostPorts = Pick<
  KernelPorts,
  'supervisor' | 'terminal' | 'workspace' | 'dataFolder' | 'logger' | 'secret' | 'storedConfig' | 'builtinTools'
>

export interface KernelOptions extends HostPorts, Omit<LoaderOptions, 'ports' | 'onChange' | 'onUntrusted'> {
  readonly store: Pick<Store, 'records'>
  readonly clock: Clock
  readonly ids: Ids
  /** Where new extensions are written, absolute. */
  readonly extensionsFolder: string
  validate: ExtensionAdmin['validate']
  sandboxProblem: ExtensionAdmin['sandboxProblem']
  /** Who has the store. A second kernel is refused: both would deliver. Default: the caller keeps others away. */
  readonly lease?: Pick<LeaseOptions, 'holder' | 'supervisor'>
  readonly onDiagnostic: ReportDiagnostic
  /** Of what channels get. Default: tokens of Troupe only. */
  redactor?(): Redactor
  /** The tools or agents of an extension have changed: `config` has another result. */
  onChange?(): void
  /** The state, the health or the problems of an extension have changed. */
  onStatus?(): void
}

export class Kernel {
  readonly bus: RunningBus
  readonly router: Router
  readonly #options: KernelOptions
  readonly #loader: ExtensionLoader
  readonly #agents: ExtensionAgents
  readonly #scheduler: RunningScheduler
  readonly #routes: ExtensionRoutes
  readonly #hook: Hook
  /** Agents whose model cannot be used, by extension. */
  #unusable: ReadonlyMap<string, ExtensionProblem> = new Map()
  readonly #undo: (() => void)[] = []
  #lease: KernelLease | undefined
  #recorder: StatusRecorder | undefined
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
    const isTrusted = (id: string): boolean => this.#loader.get(id)?.found.trusted === true
    const isBundled = (id: string): boolean => this.#loader.get(id)?.found.source === 'bundled'
    const scope = projectScope(options.workspace)
    this.router = createRouter({
      ...{ records, clock, ids, bus: this.bus, report, isTrusted, isBundled, scope },
      ...(options.redactor && { redactor: options.redactor }),
    })
    const fire = (task: FiredTask): Promise<void> => this.#fire(task)
    this.#scheduler = createScheduler({ records, clock, ids, bus: this.bus, fire, onDiagnostic: options.onDiagnostic })
    this.#routes = new ExtensionRoutes(clock)
    const find = (id: string): LoadedExtension | undefined => this.#loader.get(id)
    const notify = (notice: Notice): Promise<void> => this.router.notify(notice)
    this.#agents = new ExtensionAgents({ bus: this.bus, clock, ids, supervisor, onDiagnostic: report, find, notify })
    this.#hook = contextHook({ clock, supervisor, router: this.router, onDiagnostic: report, list: () => this.#loader.list() })
    const { extensionsFolder: folder, validate, sandboxProblem } = options
    const ports: KernelPorts = {
      ...options,
      bus: this.bus,
      router: this.router,
      currentPerson: () => this.router.personOf(currentCall()?.context.treeId ?? ''),
      agents: this.#agents,
      scheduler: this.#scheduler,
      routes: this.#routes,
      extensions: { folder, list: () => this.status(), validate, sandboxProblem },
    }
    this.#loader = new ExtensionLoader({
      ...options,
      ports,
      onChange: (extension, problems) => this.#changed(extension, problems),
      onUntrusted: (ids) => report({ level: 'warn', source: 'kernel', message: untrustedText(ids) }),
    })
  }

  /** @throws if another kernel of the project has the store. */
  async load(): Promise<void> {
    const { store, workspace, clock, ids, lease } = this.#options
    const records = projectRecords(store.records, workspace)
    if (lease) this.#lease = await takeKernelLease(records, { clock, ids, ...lease, onLost: (holder) => this.#lostLease(holder) })
    await this.#loader.load()
    if (lease) this.#recorder = new StatusRecorder({ ...this.#recorded(), records, clock, holder: lease.holder })
    await this.#recorder?.record()
  }

  /** Adds the orchestrator, and the agents and tools of extensions. */
  async config(base: KernelBase): Promise<KernelConfig> {
    const extensions = this.#loader.list().filter(({ state }) => state === 'running')
    this.#offered = this.#offering()
    const before = this.#unusable
    this.#unusable = await unusableAgents(extensions, base)
    for (const [id, { message, remedy = '' }] of this.#unusable)
      if (before.get(id)?.message !== message)
        this.#report({ level: 'warn', source: id, message: `its agent cannot run: ${asSentence(message)} ${remedy}`.trimEnd() })
    void this.#recorder?.record()
    const { config, served } = kernelConfig(base, {
      ...{ extensions, unusable: this.#unusable },
      toolOf: (extension, handoff) => this.#agents.toolOf(extension, handoff),
      status: () => this.status(),
    })
    return { config, served, hooks: [this.#hook] }
  }

  /** `server`: the one that hosts it. */
  async attach(sessions: SessionService, server?: KernelServer): Promise<void> {
    this.#agents.sessions = sessions
    if (server) this.#routes.attach(server)
    await this.router.attach(sessions, server)
  }

  /** A request to an address of an extension. `undefined`: there is no such address. */
  answer(request: Request): Promise<Response | undefined> {
    return this.#routes.answer(request)
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
      this.bus.subscribe({ id: 'kernel:notices', name: kernelEvents.scheduleMissed, handle: (event) => this.#tellMissed(event) }),
    )
    await this.#loader.start()
    this.#routes.isReady = true
    this.#options.onStatus?.()
    this.bus.start()
    for (const { found, state } of this.#loader.list())
      if (state === 'running')
        await this.bus.publish({ name: kernelEvents.extensionStarted, data: { id: found.id }, source: 'kernel', durable: false })
    await this.#scheduler.start()
    await this.#recorder?.record()
    this.#options.supervisor.ready()
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    // What is known of the last kernel stays.
    await this.#recorder?.record()
    this.#recorder = undefined
    for (const undo of this.#undo.splice(0)) undo()
    this.#routes.isReady = false
    await this.#scheduler.stop()
    await this.bus.stop()
    // Channels finish what they deliver. What extensions send from now on is kept for the next process.
    await this.router.close()
    await this.#loader.stop()
    await this.#lease?.release()
  }

  /** It may have changed since it added the task. */
  async #fire({ kind, from, ...task }: FiredTask): Promise<void> {
    this.#loader.checkPermitted(from, workPermissions.tasks)
    await (kind === 'reminder' ? this.router.notify({ ...task, speaker: from }) : this.router.task({ ...task, from }))
  }

  #lostLease(holder: string): void {
    const message = `${holder} has taken over, because this process did not run for some seconds. It stops its extensions.`
    this.#options.onDiagnostic({ level: 'error', source: 'kernel', message })
    // The status is that of the other one now.
    this.#recorder = undefined
    void this.stop()
  }

  notify(notice: Notice): Promise<void> {
    return this.router.notify(notice)
  }

  /** For the runtime of its sessions. */
  budgetOf(owner: string): Promise<OwnerBudget | undefined> {
    return this.router.budgetOf(owner)
  }

  announce(text: string): Promise<void> {
    return this.router.announce(text)
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

  #recorded(): Pick<ConstructorParameters<typeof StatusRecorder>[0], 'status' | 'onFailure'> {
    const hashOf = (id: string): string => this.#loader.get(id)?.found.hash ?? ''
    return {
      status: () => this.status().map(({ id, state, problems }) => ({ id, hash: hashOf(id), state, problems })),
      onFailure: (error) => this.#options.onDiagnostic({ level: 'warn', source: 'kernel', message: messageOf(error) }),
    }
  }

  /** `events` of the manifest. */
  #startByEvents({ state, found: { id, manifest } }: LoadedExtension): void {
    for (const name of state === 'running' && manifest?.agent ? manifest.events : [])
      this.#undo.push(this.bus.subscribe({ id: `kernel:agent:${id}`, name, handle: (event) => this.#agents.onEvent(id, event) }))
  }

  async #tellMissed({ id, data, source }: BusEvent): Promise<void> {
    // An extension would speak as Troupe.
    if (source !== 'kernel') return
    const { text, to } = data as unknown as { readonly text: string; readonly to?: Recipient }
    await this.router.notify({ id, text, ...(to && { to }) })
  }

  #changed({ found, state }: LoadedExtension, problems: readonly ExtensionProblem[]): void {
    for (const { place, message, remedy } of problems)
      this.#report({
        level: state === 'running' ? 'warn' : 'error',
        source: found.id,
        message: [asSentence(`${place}: ${message}`), remedy].filter((part) => part !== undefined).join(' '),
      })
    void this.#recorder?.record()
    this.#options.onStatus?.()
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
