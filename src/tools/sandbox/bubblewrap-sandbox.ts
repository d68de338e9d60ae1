import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative } from 'node:path'
import { defaultSandboxPolicy, type SandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { isProgram, realOrSame, trustedPath } from '../trusted-path.ts'
import { type BubblewrapOptions, bubblewrapArguments, insideHome } from './bubblewrap-arguments.ts'
import { commandEnvironment, gitIdentity } from './command-environment.ts'
import { identityAt, ReplacedError } from './file-identity.ts'
import { type HostView, hostView } from './host-view.ts'
import { initScript, isCountedPerNamespace, isLoaderVariable } from './init-process.ts'
import type { MountPlan } from './mount-check.ts'
import { networkProxy } from './network-proxy.ts'
import { type EscapeReport, tryToEscape } from './probe.ts'
import { type ProcessCgroup, processCgroup } from './process-cgroup.ts'
import { type ProtectedFiles, WritableFolder } from './protected-files.ts'
import { bridgeSource } from './proxy-bridge.ts'
import type { Availability, Command, ProcessSandbox, ProcessSandboxOptions, RunningCommand, StartResult } from './sandbox-types.ts'
import { descriptorsFor, type Launch, startSandboxed } from './sandboxed-command.ts'
import { seccompFilter } from './seccomp.ts'
import { howToInstall, sandboxUnavailable } from './unavailable.ts'
import { writableFolders } from './writable-folders.ts'

const firstDescriptor = 3
/** A path may be replaced while the sandbox is built. Then it is built again from what exists. */
const mostAttempts = 3

/** Linux. */
export class BubblewrapSandbox implements ProcessSandbox {
  readonly name = 'bubblewrap'
  readonly #options: ProcessSandboxOptions
  readonly #root: string
  /** The identity of the workspace. A command that can write to the folder above could replace it. */
  readonly #rootIdentity: string | undefined
  readonly #home: string
  readonly #scratch: string
  readonly #folders = new Map<string, WritableFolder>()
  readonly #filter = seccompFilter(process.arch)
  #probed: Promise<Availability> | undefined
  #identity: Promise<string | undefined> | undefined

  constructor(options: ProcessSandboxOptions) {
    this.#options = options
    this.#root = realpathSync(options.root)
    this.#rootIdentity = identityAt(this.#root)
    this.#home = realOrSame(options.home)
    this.#scratch = realOrSame(options.scratch ?? '/tmp')
  }

  probe(): Promise<Availability> {
    this.#probed ??= this.#options.probe?.() ?? this.#probe()
    return this.#probed
  }

  async start(command: Command): Promise<StartResult> {
    const availability = await this.probe()
    if (availability.kind === 'unavailable') return { ok: false, failure: availability.failure }
    return this.#start(command, { isProbe: false })
  }

  async #probe(): Promise<Availability> {
    if (this.#root === '/') return sandboxUnavailable('The workspace is the whole file system.', 'Choose a folder.')
    const found = writableFolders({ root: this.#root, scratch: this.#scratch, policy: this.#options.policy ?? defaultSandboxPolicy })
    if (!found.ok) return { kind: 'unavailable', failure: found.failure }
    if (this.#program('bwrap', found.folders) === undefined) return notFound
    const place = { root: this.#root, scratch: this.#scratch, home: this.#home, clock: this.#options.clock }
    const report = await tryToEscape((command) => this.#start(command, { isProbe: true }), place)
    const isSearched = this.#folder(this.#root).isSearched()
    return judge(report, [...processWeaknesses(), ...(this.#filter ? [] : [noFilter]), ...(isSearched ? [] : [tooManyFolders])])
  }

  /** Never a program that a command could have put there, or linked to. */
  #program(name: string, writable: readonly string[]): string | undefined {
    const folders = this.#options.path.split(delimiter).filter((folder) => isAbsolute(folder))
    return folders.flatMap((folder) => trustedPath(writable, join(folder, name))).find(isProgram)
  }

  /** Read once, before the first command. */
  #gitIdentity(writable: readonly string[]): Promise<string | undefined> {
    const git = this.#program('git', writable)
    this.#identity ??= git === undefined ? Promise.resolve(undefined) : gitIdentity(git, this.#root, this.#home)
    return this.#identity
  }

  #folder(path: string): WritableFolder {
    const folder = this.#folders.get(path) ?? new WritableFolder(path)
    this.#folders.set(path, folder)
    return folder
  }

  async #start(command: Command, { isProbe, attempt = 1 }: { readonly isProbe: boolean; readonly attempt?: number }): Promise<StartResult> {
    const policy = command.policy ?? this.#options.policy ?? defaultSandboxPolicy
    const found = writableFolders({ root: this.#root, scratch: this.#scratch, policy })
    if (!found.ok) return found
    const writable = found.folders
    const program = this.#program('bwrap', writable)
    if (program === undefined) return { ok: false, failure: notFound.failure }
    try {
      if (identityAt(this.#root) !== this.#rootIdentity) throw new Error(`${this.#root} is another folder now. Restart in it`)
      const gitSettings = isProbe || this.#options.onlyReadable ? undefined : await this.#gitIdentity(writable)
      return { ok: true, running: await this.#run({ program, command, policy, writable, gitSettings, isProbe }) }
    } catch (error) {
      if (error instanceof ReplacedError && attempt < mostAttempts) return this.#start(command, { isProbe, attempt: attempt + 1 })
      const failure = { class: 'sandbox_unavailable', message: `The sandbox could not be built: ${messageOf(error)}` } as const
      return { ok: false, failure }
    }
  }

  async #run(start: Start): Promise<RunningCommand> {
    const { command, policy, writable, isProbe } = start
    const { path, hidden = [], guarded = [], onlyReadable } = this.#options
    const view = hostView({ writable, home: this.#home, path, hidden, onlyReadable })
    const shown = view.readOnly.filter((path) => onlyReadable?.includes(path))
    const files = writable.map((folder) => {
      const home = isInside(folder, this.#home) ? this.#home : undefined
      const found = this.#folder(folder).protectedFiles({ home, guarded, hidden: view.hidden })
      // Nothing can be mounted in a folder that is hidden as a whole.
      const whole = view.hidden.filter((path) => isInside(folder, path))
      return { ...found, hidden: found.hidden.filter((path) => !whole.some((above) => isInside(above, path))) }
    })
    const cgroup = isRoot() ? processCgroup(policy.processes) : undefined
    const proxy = policy.hosts.length > 0 ? networkProxy(policy) : undefined
    try {
      return await startSandboxed({
        launch: this.#launch(start, { view, files }, cgroup),
        stdin: command.stdin,
        isPiped: command.isPiped ?? false,
        clock: this.#options.clock,
        policy,
        cgroup,
        // The probe itself tries whether the sandbox works.
        plan: isProbe ? { mounted: new Map(), covered: [] } : planOf([...writable, ...shown], view, files),
        proxy,
        readOnly: files.flatMap((each) => each.readOnly).map((file) => (isInside(this.#root, file) ? relative(this.#root, file) : file)),
      })
    } catch (error) {
      proxy?.close()
      cgroup?.release()
      throw error
    }
  }

  #launch(start: Start, { view, files }: Pick<BubblewrapOptions, 'view' | 'files'>, cgroup: ProcessCgroup | undefined): Launch {
    const { program, command, policy, writable, gitSettings } = start
    const filter = this.#filter ? [this.#filter] : []
    const inputs = gitSettings === undefined ? filter : [...filter, Buffer.from(gitSettings)]
    const descriptors = descriptorsFor(inputs, cgroup)
    const hasNetwork = policy.hosts.length > 0
    const args = bubblewrapArguments({
      writable,
      cwd: command.cwd,
      policy,
      view,
      files,
      filterDescriptor: this.#filter && firstDescriptor,
      node: process.execPath,
      gitSettings: gitSettings === undefined ? undefined : firstDescriptor + filter.length,
    })
    const bridge = hasNetwork ? [process.execPath, '-e', bridgeSource(policy.hosts, descriptors.bridge), '--'] : []
    const variables = Object.entries(commandEnvironment({ given: command.environment, hasNetwork, home: insideHome, temporary: '/tmp' }))
    const loaderVariables = Object.fromEntries(variables.filter(([name]) => isLoaderVariable(name)))
    const init = initScript({
      processes: policy.processes,
      gate: descriptors.gate,
      cgroup: descriptors.cgroup,
      loaderVariables,
      separatesErrors: command.isPiped ?? false,
    })
    return {
      file: program,
      args: [...args, '/bin/sh', '-c', init, 'sh', ...bridge, ...command.argv],
      environment: Object.fromEntries(variables.filter(([name]) => !isLoaderVariable(name))),
      inputs,
    }
  }
}

interface Start {
  readonly program: string
  readonly command: Command
  readonly policy: SandboxPolicy
  readonly writable: readonly string[]
  readonly gitSettings: string | undefined
  readonly isProbe: boolean
}

/** What is hidden elsewhere no command can move, and is not checked. */
function planOf(shown: readonly string[], view: HostView, files: readonly ProtectedFiles[]): MountPlan {
  const folders = shown.map((folder) => [folder, identityAt(folder) ?? ''] as const)
  const hidden = [...view.hidden, ...files.flatMap((each) => each.hidden)]
  return {
    mounted: new Map([...folders, ...files.flatMap(({ identities }) => [...identities])]),
    covered: hidden.filter((path) => shown.some((folder) => isInside(folder, path))),
  }
}

const notFound = sandboxUnavailable('Commands need a sandbox, and bubblewrap (bwrap) was not found on the PATH.', howToInstall)

/** Limits per user do not apply to root, so its processes are limited by a control group. */
const isRoot = (): boolean => process.getuid?.() === 0

function processWeaknesses(): readonly string[] {
  if (!isRoot()) return isCountedPerNamespace() ? [] : [`${slowLimit} this kernel counts processes per user only`]
  const cgroup = processCgroup(1)
  cgroup?.release()
  return cgroup ? [] : [`${slowLimit} the user is root, to whom limits per user do not apply, and no control group can be created`]
}

const slowLimit = 'a command that forks without end is ended, but may slow the machine down first:'
const noFilter = `there is no seccomp filter for ${process.arch}: commands can open Unix sockets and set setuid bits`
const tooManyFolders = 'the workspace has too many folders to search: nested repositories and key files deep inside are not protected'

function judge(report: EscapeReport, weaknesses: readonly string[]): Availability {
  if (report.kind === 'kept') return { kind: 'available', weaknesses }
  if (report.kind === 'not started')
    return sandboxUnavailable(`Commands need a sandbox, and this system does not let bubblewrap build one: ${report.why}`, howToInstall)
  return sandboxUnavailable(`The sandbox does not work here: a test was able to ${report.escapes.join(', to ')}.`, howToInstall)
}
