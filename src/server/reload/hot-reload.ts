import { createHash } from 'node:crypto'
import { readFileSync, type Stats, unwatchFile, watchFile } from 'node:fs'
import { resolve } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { type Clock, type Log, TroupeError } from '../../contracts/index.ts'
import { isAboutTrust, leftOutAgents, type Project, sentenceOf } from '../../project/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { ServerHealth } from '../health/server-health.ts'
import { foldersToWatch, isRelevant, isSearched, type WatchedPaths } from './watched-paths.ts'

// Changed files take effect with the next turn.
//
// 1. Changes that come together are loaded once. One load runs at a time; a change during it leads to another one.
// 2. What cannot be loaded, or would lose trust or an agent, changes nothing: the last valid version stays, and the reason is reported.
// 3. What a process reads once (modules with tools, extensions, `headends`, `store`, `telemetry`, `webhooks`) is reported, not applied.

/** Editors write files in several steps. */
const quietMs = 150

export interface HotReloadOptions {
  readonly first: Project
  readonly clock: Pick<Clock, 'after'>
  readonly health: ServerHealth
  readonly log: Pick<Log, 'note' | 'warn'>
  load(): Promise<Project>
  /** Makes it the current version. Rejects if it cannot. */
  apply(project: Project): Promise<void>
  /** After each change, applied or not. */
  reloaded(): void
  pathsOf(project: Project): WatchedPaths
  /** Which files are trusted. It is in a data folder, where journals change all the time: it is looked at once a second. */
  readonly trustFile: string
}

export class HotReload {
  readonly #options: HotReloadOptions
  readonly #modules: Map<string, string>
  #current: Project
  #paths: WatchedPaths
  #folders: ReadonlySet<string>
  #watcher: FSWatcher | undefined
  #cancelTimer: (() => void) | undefined
  #loading: Promise<void> | undefined
  #hasChanged = false
  #isClosed = false
  /** Also called once if the file does not exist. */
  readonly #onTrust = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size) this.#changed()
  }

  constructor(options: HotReloadOptions) {
    this.#options = options
    this.#current = options.first
    this.#paths = options.pathsOf(options.first)
    this.#folders = foldersToWatch(this.#paths)
    this.#modules = new Map(moduleFiles(options.first).map((path) => [path, contentOf(path)]))
  }

  /** Resolves when changes are noticed. */
  async start(): Promise<void> {
    const watcher = watch([...this.#folders], {
      ignoreInitial: true,
      ignored: (path, stats) => !this.#isWatched(path, stats),
    })
    this.#watcher = watcher
    watcher.on('all', (_event, path) => {
      if (isRelevant(path, this.#paths)) this.#changed()
    })
    watcher.on('error', (error) => this.#options.log.warn(`Some files cannot be watched: ${messageOf(error)}. Restart after changes.`))
    watchFile(this.#options.trustFile, { interval: 1_000, persistent: false }, this.#onTrust)
    await new Promise<void>((resolve) => watcher.once('ready', resolve))
  }

  /** The agents or tools of extensions have changed. */
  applyAgain(): void {
    this.#changed()
  }

  /** Applies the files as they are now. Rejects if they are invalid. */
  async applyNow(): Promise<void> {
    await this.#start()
    const [reason] = this.#options.health.stale
    if (reason !== undefined) throw new TroupeError('agent_file_invalid', reason)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer?.()
    unwatchFile(this.#options.trustFile, this.#onTrust)
    await this.#watcher?.close()
    await this.#loading
  }

  /** Without `stats` it is not known yet whether it is a folder. */
  #isWatched(path: string, stats: Stats | undefined): boolean {
    if (this.#folders.has(path) || isRelevant(path, this.#paths)) return true
    return (!stats || stats.isDirectory()) && isSearched(path, this.#paths)
  }

  #changed(): void {
    if (this.#isClosed) return
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.clock.after(quietMs, () => void this.#start())
  }

  #start(): Promise<void> {
    this.#hasChanged = true
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #load(): Promise<void> {
    while (this.#hasChanged && !this.#isClosed) {
      this.#hasChanged = false
      await this.#reload()
      this.#options.reloaded()
    }
  }

  async #reload(): Promise<void> {
    const { health, log } = this.#options
    try {
      const project = await this.#options.load()
      const lost = [...lostTrust(project, this.#current), ...lostAgents(project, this.#current)]
      if (lost.length > 0) return this.#keep(lost)
      if (this.#isClosed) return
      await this.#options.apply(project)
      health.stale = []
      health.pending = this.#needingStart(project)
      health.leftOut = leftOutAgents(project)
      this.#watch(this.#options.pathsOf(project))
      log.note(`Reloaded. Agents: ${project.served.join(', ')}.`)
      const known = new Set(this.#current.diagnostics.map(sentenceOf))
      for (const each of project.diagnostics.map(sentenceOf)) if (!known.has(each)) log.warn(each)
      for (const each of health.pending) log.warn(each)
      this.#current = project
    } catch (error) {
      if (!this.#isClosed) this.#keep(linesOf(error))
    }
  }

  #keep(reasons: readonly string[]): void {
    const { health, log } = this.#options
    health.stale = reasons.map((reason) => `Not reloaded: ${reason}`)
    for (const line of health.stale) log.warn(line)
    log.note('The last valid version stays in use.')
  }

  #watch(paths: WatchedPaths): void {
    const before = this.#folders
    this.#paths = paths
    this.#folders = foldersToWatch(paths)
    this.#watcher?.add([...this.#folders].filter((folder) => !before.has(folder)))
    this.#watcher?.unwatch([...before].filter((folder) => !this.#folders.has(folder)))
  }

  #needingStart(project: Project): readonly string[] {
    const { first } = this.#options
    const modules = moduleFiles(project).filter((path) => {
      const content = contentOf(path)
      const loaded = this.#modules.get(path)
      if (loaded === undefined) this.#modules.set(path, content)
      return loaded !== undefined && loaded !== content
    })
    const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
    return [
      ...modules.map((path) => `${path} has changed. Modules with tools are loaded once: restart to use it.`),
      ...changedExtensions(project, first),
      ...(isSame(configsOf(project), configsOf(first))
        ? []
        : [`${restartFor('extensions')} Of a running assistant: troupe extensions reload`]),
      ...(isSame(project.headends, first.headends) ? [] : [restartFor('headends')]),
      ...(isSame(project.telemetry, first.telemetry) ? [] : [restartFor('telemetry')]),
      ...(isSame(project.webhooks, first.webhooks) ? [] : [restartFor('webhooks')]),
      ...(project.folder === first.folder && isSame(project.database, first.database) ? [] : [restartFor('store')]),
    ]
  }
}

const restartFor = (section: string): string => `\`${section}\` of the configuration has changed: restart to use it.`

const configsOf = ({ extensions = [] }: Project): readonly unknown[] => extensions.map(({ id, configured }) => [id, configured?.values])

function changedExtensions({ extensions = [] }: Project, first: Project): readonly string[] {
  const hashes = (all: Project['extensions'] = []): string => all.map(({ id, hash }) => `${id} ${hash}`).join()
  if (hashes(extensions) === hashes(first.extensions)) return []
  return ['Extensions have changed. They are loaded once: restart to use them.']
}

const moduleFiles = ({ report }: Project): readonly string[] => report.moduleTools.files

const contentOf = (path: string): string => {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return ''
  }
}

/** Files that were in effect, and parts of which are withheld after a change until a person trusts them again. */
function lostTrust(project: Project, before: Project): readonly string[] {
  const used = usedFiles(before)
  return untrustedParts(project)
    .filter(({ place }) => used.has(fileOf(place, project)))
    .map(sentenceOf)
}

/** Agents that were in use with all their tools, some of which are missing now. */
const lostAgents = ({ leftOut }: Project, { agents, leftOut: before }: Project): readonly string[] =>
  leftOut
    .filter(({ name }) => agents.some(({ definition }) => definition.name === name) && before.every((each) => each.name !== name))
    .flatMap(({ problems }) => problems.map(sentenceOf))

const untrustedParts = ({ report }: Project) => report.diagnostics.filter(isAboutTrust)

/** Without those that were not trusted then. */
function usedFiles(project: Project): ReadonlySet<string> {
  const { setup, registry, moduleTools } = project.report
  const { config, workingDirectory } = setup
  const variables = config.layers.flatMap((layer) => layer.variables).filter(({ state }) => state === 'read')
  const files = new Set([
    ...config.files.map(({ path }) => path),
    ...variables.map(({ file }) => file.path),
    ...registry.files.map((file) => resolve(workingDirectory, file)),
    ...moduleTools.files,
  ])
  for (const { place } of untrustedParts(project)) files.delete(fileOf(place, project))
  return files
}

const fileOf = (place: string, { report }: Project): string => resolve(report.setup.workingDirectory, place.replace(/(?::\d+)+$/, ''))

function linesOf(error: unknown): readonly string[] {
  if (!(error instanceof TroupeError)) return [messageOf(error)]
  const { message, remedy, problems } = error
  if (problems.length > 0) return problems.map(sentenceOf)
  return [remedy === undefined ? message : `${message} ${remedy}`]
}
