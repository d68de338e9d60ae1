import type { ExtensionLogger, ExtensionProblem, ExtensionStatus, Log, SessionService, Store, Tool } from '../contracts/index.ts'
import { homeFolder, overlayFor, type Project, type ProjectPlace, projectExtensions } from '../project/index.ts'
import { randomIds, systemClock } from '../runtime/index.ts'
import { asSentence } from '../util/as-sentence.ts'
import { shortHash } from '../util/hash.ts'
import { knownNames } from '../util/nearest-names.ts'
import { type ExtensionAdmissions, extensionAdmissions } from './admission/extension-admission.ts'
import { createKernel, type Kernel, type KernelOptions } from './create-kernel.ts'
import { type ExtensionSettings, readExtensionSettings } from './extension-settings.ts'
import type { KernelHost } from './kernel-host.ts'
import { withheldOf } from './loader/extension-trust.ts'
import type { KernelProject } from './open-kernel-project.ts'
import { type ExtensionSandbox, extensionSandbox } from './process/extension-sandbox.ts'
import { extensionData, findProjectExtensions } from './project-extensions.ts'
import { projectRecords } from './project-records.ts'
import { type Quarantined, quarantineNotice, withoutSupervisor } from './supervisor/index.ts'

export interface ProjectKernelOptions {
  readonly project: KernelProject
  readonly store: Store
  readonly log: Log
  /** Under `troupe up`. */
  readonly kernelHost?: KernelHost | undefined
  readonly quarantined: readonly Quarantined[]
  /** The agents or tools of extensions have changed: apply `extend` again. */
  onChange(): void
  /** The status of an extension has changed. */
  onStatus(): void
}

/** The kernel of a project. */
export class ProjectKernel {
  readonly #options: ProjectKernelOptions
  readonly #kernel: Kernel
  #isStarted = false
  /** Secrets of extensions: they are redacted in journals and logs. */
  readonly #secrets: { readonly [name: string]: string }

  private constructor(options: ProjectKernelOptions, kernel: Kernel, secrets: { readonly [name: string]: string }) {
    this.#options = options
    this.#kernel = kernel
    this.#secrets = secrets
  }

  /** Loads the extensions. */
  static async open(options: ProjectKernelOptions): Promise<ProjectKernel> {
    const settings = await kernelOptions(options)
    let opened: ProjectKernel | undefined
    const onStatus = (): void => {
      options.onStatus()
      opened?.tellChange()
    }
    const kernel = createKernel({ ...settings, onChange: () => options.onChange(), onStatus })
    await kernel.load()
    const names = settings.found.flatMap(({ manifest, trusted }) => (trusted ? (manifest?.secrets ?? []) : []))
    const secrets = names.map((name) => [name, settings.secret(name) ?? ''] as const).filter(([, value]) => value !== '')
    opened = new ProjectKernel(options, kernel, Object.fromEntries(secrets))
    return opened
  }

  /** The project with the orchestrator, and the agents and tools of extensions. */
  async extend(project: Project): Promise<Project> {
    const { adapter, config, served } = project
    const extended = await this.#kernel.config({ config, served, resolveModel: (name) => adapter.resolve(name) })
    return {
      ...project,
      config: extended.config,
      served: extended.served,
      hooks: [...project.hooks, ...extended.hooks],
      adapter: { ...adapter, secrets: { ...adapter.secrets, ...this.#secrets } },
    }
  }

  attach(sessions: SessionService): Promise<void> {
    return this.#kernel.attach(sessions)
  }

  async start(): Promise<void> {
    const { log, quarantined } = this.#options
    await this.#kernel.start()
    const running = this.status().filter(({ state }) => state === 'running')
    log.note(`Extensions: ${running.map(({ id }) => id).join(', ') || 'none'}.`)
    for (const each of quarantined) await this.#kernel.notify(quarantineNotice(each))
    this.#isStarted = true
    await this.#tellFailures()
  }

  stop(): Promise<void> {
    return this.#kernel.stop()
  }

  status(): readonly ExtensionStatus[] {
    return this.#kernel.status()
  }

  /** Problems of extensions that do not run as they should. */
  get problems(): readonly string[] {
    return this.status().flatMap(({ id, state, problems, health }) => [
      ...(state === 'running' || state === 'disabled'
        ? []
        : [[`Extension ${id}: ${state}.`, ...problems.slice(-1).map(problemText)].join(' ')]),
      ...(state === 'running' ? withheldOf(id, problems).map((problem) => noticeOf(id, 'runs in the sandbox', problem)) : []),
      ...(health?.healthy === false ? [`Extension ${id} is not healthy: ${health.message ?? 'no reason given'}`] : []),
    ])
  }

  /** Reports extensions that fail, or ask for more, after the start. */
  private tellChange(): void {
    if (this.#isStarted) void this.#tellFailures().catch((error: unknown) => this.#options.log.failure(error))
  }

  /** The same content again is not told again. */
  async #tellFailures(): Promise<void> {
    const found = new Map(this.#options.project.extensions.map((each) => [each.id, each]))
    for (const { id, state, problems, source } of this.status()) {
      if (source === 'bundled') continue
      const isDown = state === 'failed' || state === 'untrusted'
      const told = isDown ? problems.slice(-1) : state === 'running' ? withheldOf(id, problems) : []
      for (const problem of told) {
        const text = noticeOf(id, isDown ? 'is not running' : 'runs in the sandbox', problem)
        await this.#kernel.notify({ text, id: `extension:${id}:${found.get(id)?.hash}:${isDown ? state : shortHash(problem.message)}` })
      }
    }
  }
}

const problemText = ({ message, remedy }: ExtensionProblem): string => [asSentence(message), remedy ?? ''].join(' ').trimEnd()

const noticeOf = (id: string, what: string, problem: ExtensionProblem): string => `Extension ${id} ${what}: ${problemText(problem)}`

async function kernelOptions(options: ProjectKernelOptions): Promise<KernelOptions> {
  const { project, store, log, kernelHost, quarantined } = options
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
    supervisor: kernelHost?.supervisor ?? withoutSupervisor,
    ...(kernelHost?.terminal && { terminal: kernelHost.terminal }),
    workspace,
    dataFolder,
    ...(isSandboxed && { openUntrusted: admissions.open }),
    extensionsFolder: projectExtensions(workspace),
    logger: (id) => loggerOf(id, log),
    secret: secretsOf(options, settings),
    storedConfig: (id) => settings.get(id)?.config ?? {},
    builtinTools: (names, at) => toolsNamed(kitAt?.(at).tools ?? [], names),
    isDisabled: ({ id, manifest }) => !(settings.get(id)?.enabled ?? manifest?.enabled ?? true),
    quarantineOf: ({ id, hash }) => quarantined.find((each) => each.id === id && each.hash === hash)?.reason,
    validate: (id) => validateNow(id, project, admissions),
    lease: {
      holder: `troupe ${kernelHost ? 'up' : 'serve'}, process ${process.pid}`,
      ...(kernelHost && { supervisor: kernelHost.supervisorId }),
    },
    onDiagnostic: ({ level, source, message }) => (level === 'info' ? log.note : log.warn)(`${source}: ${message}`),
  }
}

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

/** For extensions that are not trusted. */
export const sandboxAt = ({ cwd, env }: ProjectPlace): ExtensionSandbox =>
  extensionSandbox({ workspace: cwd, path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin', home: homeFolder(env), clock: systemClock })

/** Secrets of the environment, the configuration, and `setup`. */
function secretsOf({ project }: ProjectKernelOptions, settings: ReadonlyMap<string, ExtensionSettings>): KernelOptions['secret'] {
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
