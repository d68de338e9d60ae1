import { closeSync, realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { defaultSandboxPolicy, type SandboxPolicy, type ToolFailure } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { isProgram } from '../is-program.ts'
import { realOrSame } from '../real-or-same.ts'
import { bindsOpenFolders } from './binds-open-folders.ts'
import { bubblewrapArguments, insideHome } from './bubblewrap.ts'
import { bridgeSource } from './door-bridge.ts'
import { firstProcess, isBoundPerNamespace } from './first-process.ts'
import { FolderWalk } from './folder-walk.ts'
import { gitIdentity } from './git-identity.ts'
import { type HostDoor, openHostDoor } from './host-door.ts'
import { type HostView, hostView } from './host-view.ts'
import { identityInPlace, openedInPlace } from './in-its-folder.ts'
import { leadsAround } from './leads-around.ts'
import { noRetries } from './no-retries.ts'
import { type EscapeReport, tryToEscape } from './probe.ts'
import { type ProcessCap, processCap } from './process-cap.ts'
import { Replaced } from './replaced.ts'
import type { Availability, Command, Launch, ProcessSandbox, ProcessSandboxOptions, StartResult } from './sandbox-types.ts'
import { seccompFilter } from './seccomp.ts'
import { SpecialFiles } from './special-files.ts'
import { startAgain } from './start-again.ts'
import { howToGetIt, unavailable } from './unavailable.ts'
import type { WallPlan } from './wall-check.ts'
import { startWalled, wallDescriptors } from './walled-command.ts'
import { type Guard, guardShared, undone } from './workspace-guard.ts'
import { writablePlaces } from './writable-folders.ts'

const name = 'bubblewrap'
const firstDescriptor = 3

/** Linux. */
export class BubblewrapSandbox implements ProcessSandbox {
  readonly name = name
  readonly #options: ProcessSandboxOptions
  readonly #root: string
  /** Which folder that is. A command in one above it may put another there, or a link. */
  readonly #rootThen: string | undefined
  readonly #home: string
  /** What is known of each place that may be written to. */
  readonly #walks = new Map<string, FolderWalk>()
  readonly #filter = seccompFilter(process.arch)
  readonly #special: SpecialFiles
  #probed: Promise<Availability> | undefined
  #identity: Promise<string | undefined> | undefined

  constructor(options: ProcessSandboxOptions) {
    this.#options = options
    this.#root = realpathSync(options.root)
    this.#rootThen = this.#rootNow()
    this.#home = realOrSame(options.home)
    this.#special = new SpecialFiles({ clock: options.clock, root: this.#root })
  }

  probe(): Promise<Availability> {
    this.#probed ??= this.#probe()
    return this.#probed
  }

  async start(command: Command): Promise<StartResult> {
    const availability = await this.probe()
    if (availability.kind === 'unavailable') return { ok: false, failure: availability.failure }
    return startAgain(() => this.#enter(command, { isTrial: false }))
  }

  async #probe(): Promise<Availability> {
    if (this.#root === '/')
      return unavailable('The workspace is the whole file system, so there is nothing to keep a command out of.', 'Choose a folder.')
    const { policy = defaultSandboxPolicy } = this.#options
    const found = writablePlaces({ root: this.#root, scratch: this.#scratch, policy })
    if (!found.ok) return { kind: 'unavailable', failure: found.failure }
    const program = this.#program(found.places)
    if (program === undefined) return unavailable('Commands need a sandbox, and bubblewrap (bwrap) was not found on the PATH.', howToGetIt)
    const place = { root: this.#root, scratch: this.#scratch, home: this.#home, clock: this.#options.clock }
    const report = await tryToEscape((command) => startAgain(() => this.#enter(command, { isTrial: true })), place)
    const seen = this.#walk(this.#root).look({ isAfter: false })
    const isFollowed = !(await bindsOpenFolders(program))
    return judged(report, [...weaknesses(), ...(isFollowed ? [onlyPaths] : []), ...(seen.isWhole ? [] : [tooMany]), hardToFind])
  }

  #rootNow(): string | undefined {
    return identityInPlace(this.#root)
  }

  get #scratch(): string {
    return realOrSame(this.#options.scratch ?? '/tmp')
  }

  /** Never one that a command could have put there, or a link to one. */
  #program(places: readonly string[], program = 'bwrap'): string | undefined {
    const folders = this.#options.path.split(delimiter).filter((folder) => isAbsolute(folder))
    return folders.flatMap((folder) => leadsAround(places, join(folder, program))).find(isProgram)
  }

  /** Looked up once: before the first command. */
  #gitIdentity(places: readonly string[]): Promise<string | undefined> {
    const git = this.#program(places, 'git')
    this.#identity ??= git === undefined ? Promise.resolve(undefined) : gitIdentity({ git, root: this.#root, home: this.#home })
    return this.#identity
  }

  /** `isTrial`: whether the walls hold is found out by running against them. */
  async #enter(command: Command, { isTrial }: { readonly isTrial: boolean }): Promise<StartResult> {
    const policy = command.policy ?? this.#options.policy ?? defaultSandboxPolicy
    const found = writablePlaces({ root: this.#root, scratch: this.#scratch, policy })
    if (!found.ok) return found
    const { places } = found
    const program = this.#program(places)
    if (program === undefined) return { ok: false, failure: gone }
    const guards: Guard[] = []
    const opened = new Map<string, number>()
    let door: HostDoor | undefined
    let cap: ProcessCap | undefined
    try {
      if (this.#rootNow() !== this.#rootThen) throw new Error(`${this.#root} is another folder now; begin again in it`)
      const view = this.#view(places)
      const bound = new Map(places.map((folder) => [folder, identityInPlace(folder) ?? '']))
      for (const folder of places) guards.push(await this.#guard(folder, view.hidden))
      for (const { planned } of guards) for (const [path, identity] of planned) bound.set(path, identity)
      if (await bindsOpenFolders(program)) {
        for (const path of [...places, ...guards.flatMap(({ fixed }) => fixed)])
          opened.set(path, openedInPlace(path, bound.get(path) ?? ''))
      }
      if (policy.hosts.length > 0) door = await openHostDoor({ ...policy, scratch: this.#scratch })
      const identity = isTrial ? undefined : await this.#gitIdentity(places)
      cap = boundBy() === 'group' ? processCap(policy.processes) : undefined
      const running = await startWalled({
        launch: this.#launch({
          program,
          command,
          policy,
          places,
          opened,
          view,
          guards,
          door,
          cap,
          identity,
        }),
        cap,
        stdin: command.stdin,
        clock: this.#options.clock,
        policy,
        plan: isTrial ? noPlan : { bound, covered: coveredIn(places, [...view.hidden, ...guards.flatMap(({ hidden }) => hidden)]) },
        afterwards: async () => {
          door?.close()
          return { refusedHosts: door?.refused ?? [], undone: await undone(guards) }
        },
      })
      return { ok: true, running }
    } catch (error) {
      door?.close()
      cap?.release()
      await undone(guards)
      const failure = { class: 'sandbox_unavailable', message: `The sandbox could not be built: ${messageOf(error)}` } as const
      return { ok: false, failure, isReplaced: error instanceof Replaced }
    } finally {
      for (const descriptor of opened.values()) closeSync(descriptor)
    }
  }

  #walk(folder: string): FolderWalk {
    const walk = this.#walks.get(folder) ?? new FolderWalk(folder)
    this.#walks.set(folder, walk)
    return walk
  }

  #view(places: readonly string[]): HostView {
    const { path, hidden = [] } = this.#options
    return hostView({ places, home: this.#home, path, hidden, special: this.#special.paths() })
  }

  #guard(folder: string, hidden: readonly string[]): Promise<Guard> {
    const { guarded = [] } = this.#options
    const home = isInside(folder, this.#home) ? { home: this.#home } : {}
    return guardShared({ folder, guarded: guarded.map(realOrSame), hidden, walk: this.#walk(folder), ...home })
  }

  #launch({ program, command, policy, places, opened, view, guards, door, cap, identity }: Build): Launch {
    const filter = this.#filter ? [this.#filter] : []
    const inputs = identity === undefined ? filter : [...filter, Buffer.from(identity)]
    const { gate, info, group, lent } = wallDescriptors(inputs, cap)
    const walls = bubblewrapArguments({
      places,
      opened: new Map([...opened.keys()].map((path, index) => [path, lent + index])),
      cwd: command.cwd,
      policy,
      guards,
      view,
      infoDescriptor: info,
      // The filter keeps them away, where there is one.
      disableNamespaces: this.#filter === undefined,
      node: process.execPath,
      ...(this.#filter && { filterDescriptor: firstDescriptor }),
      ...(identity !== undefined && { gitSettings: firstDescriptor + filter.length }),
      ...(door && { door: door.socket }),
    })
    const argv = door ? [process.execPath, '-e', bridgeSource(policy.hosts), '--', ...command.argv] : command.argv
    const first = firstProcess({ processes: policy.processes, gate, group })
    return {
      file: program,
      args: [...walls, '/bin/sh', '-c', first, 'sh', ...argv],
      environment: { ...(policy.hosts.length === 0 && noRetries), ...command.environment, HOME: insideHome, TMPDIR: '/tmp' },
      inputs,
      lent: [...opened.values()],
    }
  }
}

/** What lies elsewhere no command can move. */
const coveredIn = (places: readonly string[], hidden: readonly string[]): readonly string[] =>
  hidden.filter((path) => places.some((place) => isInside(place, path)))

const noPlan: WallPlan = { bound: new Map(), covered: [] }

interface Build {
  readonly program: string
  readonly command: Command
  readonly policy: SandboxPolicy
  readonly places: readonly string[]
  readonly opened: ReadonlyMap<string, number>
  readonly view: HostView
  readonly guards: readonly Guard[]
  readonly door: HostDoor | undefined
  readonly cap: ProcessCap | undefined
  readonly identity: string | undefined
}

const gone: ToolFailure = { class: 'sandbox_unavailable', message: 'bubblewrap (bwrap) is no longer on the PATH.', remedy: howToGetIt }

/** What keeps a command from having more processes than it may, besides whoever watches. */
function boundBy(): 'user' | 'group' {
  return process.getuid?.() === 0 ? 'group' : 'user'
}

function weaknesses(): readonly string[] {
  if (boundBy() === 'group') {
    const cap = processCap(1)
    cap?.release()
    return cap ? [] : [`${slowBound} we are root, whom limits per user do not bind, and no control group can be made`]
  }
  return isBoundPerNamespace() ? [] : [`${slowBound} this kernel counts processes per user only`]
}

const slowBound = 'a command that forks without end is ended, but may slow the machine down first:'

const onlyPaths =
  'a command that runs beside another one may have empty folders made outside of the workspace: bubblewrap 0.10 or newer binds folders that are open'
const tooMany = 'the workspace has more folders than are searched: repositories and keys of providers deep inside of it are not guarded'
const hardToFind =
  'local sockets and named pipes are covered where they can be found; a service that keeps its own in an unusual folder can be called from inside'

function judged(report: EscapeReport, known: readonly string[]): Availability {
  if (report.kind === 'kept') return { kind: 'available', weaknesses: known }
  if (report.kind === 'not started') {
    return unavailable(`Commands need a sandbox, and this system does not let bubblewrap build one: ${report.why}`, howToGetIt)
  }
  return unavailable(`The sandbox does not hold here: a try to ${report.escapes.join(', to ')} succeeded.`, howToGetIt)
}
