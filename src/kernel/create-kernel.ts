import type { ExtensionLogger, ExtensionProblem, ExtensionStatus, Log, SessionService, Store, Tool } from '../contracts/index.ts'
import {
  type Drained,
  leftOutAgents,
  type OpenedRuntime,
  openRuntime,
  overlayFor,
  type Project,
  type ProjectReport,
  projectExtensions,
  projectRecords,
  secretName,
  trustPlaceOf,
} from '../project/index.ts'
import { type AgentRuntime, randomIds, systemClock } from '../runtime/index.ts'
import { asSentence } from '../util/as-sentence.ts'
import { shortHash } from '../util/hash.ts'
import { haveSameJson } from '../util/json-values.ts'
import { knownNames } from '../util/nearest-names.ts'
import { type Redactor, redactor } from '../util/redact.ts'
import { type ExtensionAdmissions, extensionAdmissions } from './admission/extension-admission.ts'
import { type ExtensionSettings, readExtensionSettings } from './extension-settings.ts'
import { Kernel, type KernelOptions } from './kernel.ts'
import type { KernelHost } from './kernel-host.ts'
import { untrustedText, withheldOf } from './loader/extension-trust.ts'
import { type KernelProject, type KernelProjectOptions, openKernelProject } from './open-kernel-project.ts'
import { extensionData, findProjectExtensions, sandboxAt } from './project-extensions.ts'
import { conversationSessions } from './router/conversation-sessions.ts'
import type { KernelServer } from './shared/kernel-types.ts'
import { type Quarantined, quarantineNotice, readSupervisorState, supervisorFolder, withoutSupervisor } from './supervisor/index.ts'
import { watchExtensions } from './watch-extensions.ts'

export interface CreateKernelOptions extends KernelProjectOptions {
  /** Has the agents, the configuration and the extensions. */
  readonly project: ProjectReport
  /** Default: nothing is said. `status` has the problems of extensions in any case. */
  readonly log?: Log
  /** The supervisor that restarts this process. Without one, a crash ends the kernel. */
  readonly host?: KernelHost | undefined
}

/**
 * A kernel with the extensions of a project. They are loaded, and start with `start`.
 *
 * @example
 * const kernel = await createKernel({ project: await loadProject({ cwd, env: process.env }) })
 * const server = await createServer({ kernel })
 *
 * @throws TroupeError with all problems of the project. Nothing is started then.
 */
export async function createKernel({ project: report, log = silent, host, ...opening }: CreateKernelOptions): Promise<ProjectKernel> {
  const project = await openKernelProject(report, opening)
  try {
    return await ProjectKernel.open({ project, log, host })
  } catch (error) {
    await project.close()
    throw error
  }
}

const none = (): void => {}
const silent: Log = { debug: none, note: none, warn: none, failure: none }

interface OpeningKernel {
  readonly project: KernelProject
  readonly log: Log
  readonly host: KernelHost | undefined
}

interface Opened extends OpeningKernel {
  readonly store: Store
  readonly quarantined: readonly Quarantined[]
}

/** Whom a kernel tells that something has changed. */
export interface KernelListeners {
  /** The agents or tools of extensions have changed: apply `extend` again. */
  onChange(): void
  /** The status of an extension has changed. */
  onStatus(): void
}

/** The kernel of a project, and the runtime of its agents. */
export class ProjectKernel {
  /** With the orchestrator, and the agents and tools of extensions. */
  readonly project: Project
  readonly store: Store
  readonly runtime: AgentRuntime
  readonly #opened: Opened
  readonly #kernel: Kernel
  readonly #running: OpenedRuntime
  readonly #listeners: { current: KernelListeners }
  readonly #secrets: KnownSecrets
  #isAttached = false
  #isStarted = false
  #endWatch = none
  #starting: Promise<void> | undefined
  #draining: Promise<Drained> | undefined
  #closing: Promise<Drained> | undefined

  private constructor(opened: Opened, kernel: Kernel, { project, running, listeners, secrets }: KernelParts) {
    this.#opened = opened
    this.#kernel = kernel
    this.#secrets = secrets
    this.#listeners = listeners
    this.#running = running
    this.project = project
    this.store = opened.store
    this.runtime = running.runtime
    listeners.current = { onChange: none, onStatus: () => this.#tellChange() }
  }

  /** Loads the extensions. */
  static async open(opening: OpeningKernel): Promise<ProjectKernel> {
    const { project: first, host } = opening
    const store = await first.openStore()
    const quarantined = host?.quarantined ?? readSupervisorState(supervisorFolder(first.folder, first.workspace)).quarantined
    const opened = { ...opening, store, quarantined }
    const settings = await kernelOptions(opened)
    const listeners = { current: { onChange: none, onStatus: none } }
    const secrets = new KnownSecrets(secretsIn(settings))
    const kernel = new Kernel({
      ...settings,
      redactor: () => secrets.redactor,
      onChange: () => listeners.current.onChange(),
      onStatus: () => listeners.current.onStatus(),
    })
    try {
      await kernel.load()
      const project = await extended(first, kernel, secrets)
      const running = openRuntime(project, { store, origin: { command: 'serve' }, budgetOf: (owner) => kernel.budgetOf(owner) })
      return new ProjectKernel(opened, kernel, { project, running, listeners, secrets })
    } catch (error) {
      await kernel.stop()
      throw error
    }
  }

  /** A changed project, with the orchestrator, and the agents and tools of extensions. */
  extend(project: Project): Promise<Project> {
    return extended(project, this.#kernel, this.#secrets)
  }

  /** The sessions, as conversations use them. */
  sessions(own: SessionService): SessionService {
    return conversationSessions(own)
  }

  /** Its conversations use these sessions. Default: those of its runtime. `server`: the one that hosts it, if there is one. */
  async attach(
    sessions: SessionService,
    listeners: KernelListeners = { onChange: none, onStatus: none },
    server?: KernelServer,
  ): Promise<void> {
    this.#isAttached = true
    await this.#kernel.attach(sessions, server)
    this.#listeners.current = {
      onChange: () => listeners.onChange(),
      onStatus: () => {
        listeners.onStatus()
        this.#tellChange()
      },
    }
  }

  /** A request to an address of an extension, below `/channels`. `undefined`: there is no such address. */
  answer(request: Request): Promise<Response | undefined> {
    return this.#kernel.answer(request)
  }

  /** Starts the extensions. Can be repeated. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    const { log, quarantined, project } = this.#opened
    if (!this.#isAttached) await this.attach(this.sessions(this.runtime.sessions))
    await this.#kernel.start()
    if (this.#opened.host?.watches) this.#endWatch = this.#watch(this.#opened.host)
    const running = this.status().filter(({ state }) => state === 'running')
    log.note(`Extensions: ${running.map(({ id }) => id).join(', ') || 'none'}.`)
    // It may have been the channel of this person.
    for (const each of quarantined) await this.#kernel.notify({ ...quarantineNotice(each), anyChannel: true })
    for (const text of leftOutAgents(project)) await this.#kernel.notify({ text, id: `left_out:${shortHash(text)}` })
    // What fails now may need an extension that is left out of this start.
    if (this.#opened.host?.held.length) return
    this.#isStarted = true
    await this.#tellFailures()
  }

  /** Running turns may continue for `ms` milliseconds. Then it stops its extensions. The store stays open until `close`. */
  drain(ms: number): Promise<Drained> {
    this.#draining ??= this.#drain(ms)
    return this.#draining
  }

  #watch({ supervisor }: KernelHost): () => void {
    const { log, project } = this.#opened
    const { setup } = project.report
    const place = { cwd: setup.workingDirectory, env: setup.environment }
    return watchExtensions({
      clock: systemClock,
      loaded: project.extensions,
      find: async () => findProjectExtensions({ ...setup, trusted: await trustPlaceOf(place).store.list() }),
      onChange: (ids) => void supervisor.requestRestart(`changed extensions: ${ids.join(', ')}`, { isForced: true }),
      onUntrusted: (id) => {
        const text = `Extension ${id} has changed, and runs in its former form. To load it as it is: troupe extensions trust ${id}`
        log.note(text)
        void this.#kernel.notify({ text }).catch((error: unknown) => log.failure(error))
      },
    })
  }

  async #drain(ms: number): Promise<Drained> {
    this.#endWatch()
    try {
      return await this.#running.drain(ms)
    } finally {
      // Its channels deliver the answers of the last turns.
      await this.#kernel.stop()
    }
  }

  /** Drains for `drain` milliseconds. Then it closes its runtime and its store. */
  close({ drain = 0 }: { readonly drain?: number } = {}): Promise<Drained> {
    this.#closing ??= this.#close(drain)
    return this.#closing
  }

  async #close(drainMs: number): Promise<Drained> {
    try {
      const result = await this.drain(drainMs)
      await this.#running.close()
      return result
    } finally {
      await this.#opened.project.close()
    }
  }

  /** Tells the person who wrote last, also while the store fails. */
  announce(text: string): Promise<void> {
    return this.#kernel.announce(text)
  }

  status(): readonly ExtensionStatus[] {
    return this.#kernel.status()
  }

  get webhooks(): OpenedRuntime['webhooks'] {
    return this.#running.webhooks
  }

  /** Problems of extensions that do not run as they should. */
  get problems(): readonly string[] {
    const untrusted = this.#untrusted
    const found = this.status().flatMap(({ id, state, problems, health }) => [
      ...(['running', 'disabled', 'untrusted'].includes(state)
        ? []
        : [[`Extension ${id}: ${state}.`, ...problems.slice(-1).map(problemText)].join(' ')]),
      ...(state === 'running' ? withheldOf(id, problems).map((problem) => noticeOf(id, 'runs in the sandbox', problem)) : []),
      ...(health?.healthy === false ? [`Extension ${id} is not healthy: ${health.message ?? 'no reason given'}`] : []),
    ])
    return [...(untrusted.length > 0 ? [untrustedText(untrusted)] : []), ...found]
  }

  get #untrusted(): readonly string[] {
    return this.status().flatMap(({ id, state }) => (state === 'untrusted' ? [id] : []))
  }

  /** Reports extensions that fail, or ask for more, after the start. */
  #tellChange(): void {
    if (this.#isStarted) void this.#tellFailures().catch((error: unknown) => this.#opened.log.failure(error))
  }

  /** The same content again is not told again. */
  async #tellFailures(): Promise<void> {
    const found = new Map(this.#opened.project.extensions.map((each) => [each.id, each]))
    await this.#tellUntrusted((id) => found.get(id)?.hash ?? '')
    for (const { id, state, problems, source } of this.status()) {
      if (source === 'bundled') continue
      const isDown = state === 'failed'
      const told = isDown ? problems.slice(-1) : state === 'running' ? withheldOf(id, problems) : []
      for (const problem of told) {
        const text = noticeOf(id, isDown ? 'is not running' : 'runs in the sandbox', problem)
        await this.#kernel.notify({ text, id: `extension:${id}:${found.get(id)?.hash}:${isDown ? state : shortHash(problem.message)}` })
      }
    }
  }

  /** One notice for all that are new or changed since the last one. */
  async #tellUntrusted(hashOf: (id: string) => string): Promise<void> {
    const { store, project } = this.#opened
    const records = projectRecords(store.records, project.workspace)
    const told = new Map((await records.list(toldNamespace)).map(({ key, value }) => [key, value]))
    const news = this.#untrusted.filter((id) => told.get(id) !== hashOf(id))
    if (news.length === 0) return
    const contents = news.map((id) => `${id} ${hashOf(id)}`).join('\n')
    await this.#kernel.notify({ text: untrustedText(news), id: `untrusted:${shortHash(contents)}` })
    for (const id of news) await records.update(toldNamespace, id, () => ({ value: hashOf(id) }))
  }
}

/** The records of what people were told about extensions: id → hash. */
const toldNamespace = 'untrusted_extension'

type Secrets = { readonly [name: string]: string }

/** What channels are not sent. Replaced values stay secret. */
class KnownSecrets {
  /** Of extensions: they are redacted in journals and logs, too. */
  readonly ofExtensions: Secrets
  redactor: Redactor
  #known: readonly Secrets[]

  constructor(ofExtensions: Secrets) {
    this.ofExtensions = ofExtensions
    this.#known = [ofExtensions]
    this.redactor = redactor(ofExtensions)
  }

  add(secrets: Secrets): void {
    if (this.#known.some((each) => haveSameJson(each, secrets))) return
    this.#known = [...this.#known, secrets]
    this.redactor = redactor(...this.#known)
  }
}

interface KernelParts {
  readonly project: Project
  readonly running: OpenedRuntime
  readonly listeners: { current: KernelListeners }
  readonly secrets: KnownSecrets
}

async function extended(project: Project, kernel: Kernel, known: KnownSecrets): Promise<Project> {
  const { adapter, config, served } = project
  const secrets = { ...adapter.secrets, ...known.ofExtensions }
  known.add(secrets)
  const found = await kernel.config({ config, served, resolveModel: (name) => adapter.resolve(name) })
  return {
    ...project,
    config: found.config,
    served: found.served,
    hooks: [...project.hooks, ...found.hooks],
    adapter: { ...adapter, secrets },
  }
}

function secretsIn({ found, secret }: KernelOptions): Secrets {
  const configured = Object.assign({}, ...found.map(({ configured }) => configured?.secrets))
  const names = found.flatMap(({ manifest, trusted }) => (trusted ? (manifest?.secrets ?? []) : []))
  return {
    ...configured,
    ...Object.fromEntries(names.map((name) => [secretName(name), secret(name) ?? ''] as const).filter(([, value]) => value !== '')),
  }
}

const problemText = ({ message, remedy }: ExtensionProblem): string => [asSentence(message), remedy ?? ''].join(' ').trimEnd()

const noticeOf = (id: string, what: string, problem: ExtensionProblem): string => `Extension ${id} ${what}: ${problemText(problem)}`

async function kernelOptions({ project, store, log, host, quarantined }: Opened): Promise<KernelOptions> {
  const settings = await readExtensionSettings(projectRecords(store.records, project.workspace))
  const { workspace, folder, kitAt } = project
  const dataFolder = extensionData(folder, workspace)
  const sandbox = sandboxAt({ cwd: workspace, env: project.report.setup.environment })
  const admissions = extensionAdmissions({ sandbox, clock: systemClock, workspace, dataFolder })
  const found = project.extensions
  // Trying the sandbox takes time.
  const isSandboxed = found.some(({ trusted }) => !trusted) && (await sandbox.unavailable()) === undefined
  return {
    found,
    store,
    clock: systemClock,
    ids: randomIds,
    supervisor: host?.supervisor ?? withoutSupervisor,
    ...(host?.terminal && { terminal: host.terminal }),
    workspace,
    dataFolder,
    ...(isSandboxed && { openUntrusted: admissions.open }),
    extensionsFolder: projectExtensions(workspace),
    logger: (id) => loggerOf(id, log),
    secret: secretsOf(project, settings),
    storedConfig: (id) => settings.get(id)?.config ?? {},
    builtinTools: (names, at) => toolsNamed(kitAt?.(at).tools ?? [], names),
    isDisabled: ({ id, manifest }) => !(settings.get(id)?.enabled ?? manifest?.enabled ?? true),
    quarantineOf: ({ id, hash }) =>
      host?.held.includes(id) ? leftOut : quarantined.find((each) => each.id === id && each.hash === hash)?.reason,
    validate: (id) => validateNow(id, project, admissions),
    sandboxProblem: async () => (await sandbox.unavailable())?.message,
    lease: {
      holder: `troupe ${host ? 'up' : 'serve'}, process ${process.pid}`,
      ...(host && { supervisor: host.supervisorId }),
    },
    onDiagnostic: ({ level, source, message }) => (level === 'info' ? log.note : log.warn)(`${source}: ${message}`),
  }
}

const leftOut = 'it is left out of this start, because the kernel crashed before it was ready'

/** As it is on the disk now. */
async function validateNow(id: string, { report }: Project, admissions: ExtensionAdmissions): Promise<readonly ExtensionProblem[]> {
  const all = await findProjectExtensions(report.setup)
  const found = all.find((each) => each.id === id)
  // What was written does not get the id.
  if (found && found.source !== 'project' && found.problems.length > 0) return found.problems
  if (found) return (await admissions.validate(found)).problems
  const known = all.map((each) => each.id)
  return [{ place: id, message: `there is no extension \`${id}\``, remedy: knownNames(id, known, 'extension') }]
}

/** Secrets of the environment, the configuration, and `setup`. */
function secretsOf(project: Project, settings: ReadonlyMap<string, ExtensionSettings>): KernelOptions['secret'] {
  const { config, environment } = project.report.setup
  const { variables } = overlayFor([], { config, environment })
  const stored = Object.assign({}, ...[...settings.values()].map(({ secrets }) => secrets)) as { readonly [name: string]: string }
  return (name) => stored[name] ?? variables[name] ?? environment[name]
}

function loggerOf(id: string, log: Log): ExtensionLogger {
  const line = (message: string, fields?: object): string => `${id}: ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`
  return {
    debug: (message, fields) => log.debug(line(message, fields)),
    info: (message, fields) => log.note(line(message, fields)),
    warn: (message, fields) => log.warn(line(message, fields)),
    error: (message, fields) => log.warn(line(message, fields)),
  }
}

function toolsNamed(tools: readonly Tool[], names: readonly string[]): readonly Tool[] {
  return names.map((name) => {
    const tool = tools.find((each) => each.name === name)
    if (!tool) throw new Error(`There is no built-in tool ${name}. Available: ${tools.map((each) => each.name).join(', ')}.`)
    return tool
  })
}
