import { dirname, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { settingsOf } from '../config/config.ts'
import { optionDefaults } from '../config/effective-options.ts'
import { sandboxOf } from '../config/section-values.ts'
import { keysOf } from '../config/sourced.ts'
import { contentHash, type FileState, trustOf } from '../config/trust/trust-records.ts'
import type { ExternalValues } from '../options/option-values.ts'
import { type AgentDiagnostic, warningOf } from './agent-diagnostic.ts'
import { displayPath, isOwnFile, readContent, realPath, type UnreadableFile } from './agent-paths.ts'
import { configuredPaths } from './configured-agents.ts'
import { type Confined, Confinement, outsideProblem } from './confinement.ts'
import { dialectIn, loadForeignFile, looksLikeAgent } from './load-foreign-file.ts'
import { loadOwnFile } from './load-own-file.ts'
import {
  type ChildReference,
  type FileToRead,
  type LoadContext,
  type LoadedFile,
  type Loading,
  locationOfReference,
  type ReadableFile,
} from './loaded-file.ts'
import { folderAsRoot, missingRoot, unreadChild } from './missing-agents.ts'
import { agentsNamed, type NamedAgent, projectAgents } from './project-agents.ts'
import { type RegistryOptions, sourceNames, toolNames } from './registry-options.ts'
import { targetOf } from './resolve-child.ts'

/** Reads each file once and collects problems. */
export class FileLoader {
  readonly problems: Problem[] = []
  readonly diagnostics: AgentDiagnostic[] = []
  /** Untrusted foreign files that would have more permissions with trust. */
  readonly untrusted: FileState[] = []
  readonly #options: RegistryOptions
  readonly #files = new Map<string, Loading>()
  readonly #told = new Set<Loading>()
  readonly #faulty = new Set<LoadedFile>()
  readonly #asRoot: LoadContext
  readonly #asChild: LoadContext
  readonly #confinement: Confinement
  /** The confinement of each agent file. */
  readonly #within = new Map<string, Confined | undefined>()
  #configured: readonly LoadedFile[] | undefined
  #found: readonly NamedAgent[] | undefined

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#confinement = new Confinement(options.config, options.trusted)
    const { flags = new Map(), variables = new Map() } = options
    const defaults: LoadContext['defaults'] = optionDefaults(options.config)
    const baseDir = realPath(dirname(resolve(options.workingDirectory, options.roots[0] ?? '.')))
    const { workingDirectory, sandbox = sandboxOf(options.config) } = options
    const models = keysOf(settingsOf(options.config, 'models'))
    const { onFile } = options
    const context = {
      ...{ baseDir, workingDirectory, models, tools: toolNames(options), sources: sourceNames(options), sandbox },
      ...(onFile && { onFile }),
    }
    this.#asRoot = { over: new Map([...variables, ...flags]), defaults, ...context }
    this.#asChild = { over: variables, defaults: withModels(defaults, flags), ...context }
  }

  /** The display paths of all files. */
  get places(): readonly string[] {
    return [...this.#files.keys()].map((path) => this.#shown(path))
  }

  /** All enabled files that could be read, including those with problems. */
  get readable(): readonly ReadableFile[] {
    return [...this.#files.values()].flatMap((loading): readonly ReadableFile[] => {
      if (!loading.ok) return loading.partial ? [loading.partial] : []
      return loading.file.enabled ? [loading.file] : []
    })
  }

  /** Requested files with problems, as far as they could be read. */
  get faulty(): ReadonlySet<LoadedFile> {
    return this.#faulty
  }

  root(written: string): LoadedFile | undefined {
    const path = resolve(this.#options.workingDirectory, written)
    const content = readContent(path)
    if (!content.ok) {
      this.problems.push(this.#unreadRoot(written, path, content))
      return undefined
    }
    return this.#take(this.#load(realPath(path), { bytes: content.bytes, place: written, context: this.#asRoot }))
  }

  #unreadRoot(written: string, path: string, { kind, why, remedy }: UnreadableFile): Problem {
    if (kind === 'missing') {
      const called = agentsNamed(written, this.#usual()).map((agent) => this.#shown(agent.path))
      return missingRoot(written, path, { called, workingDirectory: this.#options.workingDirectory })
    }
    return kind === 'folder' ? folderAsRoot(written, path) : { place: written, message: sentence(why), remedy }
  }

  /** Resolves a reference. Reports it if there is no such agent or it cannot be called. */
  child(reference: ChildReference, from: LoadedFile): LoadedFile | undefined {
    const file = this.#named(reference, from)
    return file?.isForPeople ? this.#miss(reference, forPeople(reference, file)) : file
  }

  #named(reference: ChildReference, from: LoadedFile): LoadedFile | undefined {
    const target = targetOf(reference, from, {
      configured: () => this.configured(),
      usual: () => this.#usual(),
      shown: (path) => this.#shown(path),
    })
    if (target.kind === 'nothing') return this.#options.isConfigFaulty ? undefined : this.#miss(reference, target.problem)
    if (target.kind === 'file') return target.file
    const outside = target.isWritten ? this.#outside(target.path, from) : undefined
    if (outside) return this.#miss(reference, unreadChild(reference, target.path, outside))
    const path = realPath(target.path)
    const known = this.#files.get(path)
    if (known) return this.#follow(known, reference)
    const content = readContent(path)
    if (!content.ok) return this.#miss(reference, unreadChild(reference, path, content))
    return this.#follow(this.#load(path, { bytes: content.bytes, place: this.#shown(path), context: this.#asChild }), reference)
  }

  /** An agent on the command line needs no trust. */
  #outside(path: string, from: LoadedFile): UnreadableFile | undefined {
    const within = from.values.get('agents')?.precedence === 'override' ? undefined : this.#within.get(from.path)
    const fault = within && outsideProblem(path, within)
    return fault && { ok: false, kind: 'refused', why: fault.message, remedy: fault.remedy }
  }

  /** An optional child of a foreign agent with problems is only a warning. */
  #follow(loading: Loading, reference: ChildReference): LoadedFile | undefined {
    if (loading.ok || !reference.isOptional) return this.#take(loading)
    const [{ place, message } = { place: reference.place, message: 'it cannot be read' }] = loading.problems
    const told = `\`${reference.written}\` is left out: ${message} (${place})`
    return this.#miss(reference, { ...locationOfReference(reference), message: told, remedy: `See all of it: troupe validate ${place}` })
  }

  #usual(): readonly NamedAgent[] {
    this.#found ??= projectAgents(this.#options.workingDirectory)
    return this.#found
  }

  /** The valid agents of the configuration. */
  configured(): readonly LoadedFile[] {
    this.#configured ??= this.#findConfigured()
    return this.#configured
  }

  #findConfigured(): readonly LoadedFile[] {
    const listed = configuredPaths(this.#options, this.#confinement)
    if (!listed) return []
    this.diagnostics.push(...listed.diagnostics)
    this.#tellConfigured(listed.problems)
    const files = listed.files.flatMap(({ path, isNamed }): readonly LoadedFile[] => {
      const content = readContent(path)
      if (!content.ok) {
        const { why, remedy } = content
        this.#tellConfigured([{ place: listed.place, message: `the agent ${path} cannot be read: ${why}`, remedy }])
        return []
      }
      if (!this.#files.has(path) && !isNamed && !looksLikeAgent(path, content.bytes)) return []
      const loading = this.#load(path, { bytes: content.bytes, place: this.#shown(path), context: this.#asChild })
      if (loading.ok) return [loading.file]
      if (this.#options.scope === 'everything') this.#take(loading)
      else this.#tellConfigured(loading.problems)
      return []
    })
    return [...new Set(files)]
  }

  /** Problems of agents that were not requested are warnings. */
  #tellConfigured(problems: readonly Problem[]): void {
    if (this.#options.scope === 'everything') this.problems.push(...problems)
    else this.diagnostics.push(...problems.map((problem) => warningOf(problem, 'agent_broken')))
  }

  #miss({ isOptional }: ChildReference, problem: Problem): undefined {
    if (isOptional) this.diagnostics.push(warningOf(problem, 'foreign_agent'))
    else this.problems.push(problem)
  }

  /** Reports problems once. Follows files with problems too, to find problems of their children. */
  #take(loading: Loading): LoadedFile | undefined {
    if (loading.ok) return loading.file
    if (!this.#told.has(loading)) {
      this.#told.add(loading)
      this.problems.push(...loading.problems)
      if (loading.partial) this.#faulty.add(loading.partial)
    }
    return loading.partial
  }

  #load(
    path: string,
    { bytes, place, context }: { readonly bytes: Uint8Array; readonly place: string; readonly context: LoadContext },
  ): Loading {
    const known = this.#files.get(path)
    if (known) return known
    const loading = this.#parse({ path, place, bytes }, context)
    this.#files.set(path, loading)
    return loading
  }

  #parse(file: FileToRead, context: LoadContext): Loading {
    const { path, bytes, place } = file
    const within = this.#confinement.ofAgent(file)
    this.#within.set(path, within)
    if (isOwnFile(path)) return loadOwnFile(file, context, within)
    const dialect = dialectIn(path, bytes)
    if (dialect === undefined) {
      const remedy = 'Use a `.ai` file, or an agent file of Claude, Copilot, opencode, Gemini or Codex in its usual folder.'
      return { ok: false, problems: [{ place, message: 'this is not an agent file', remedy }] }
    }
    const { trusted } = this.#options
    const state: FileState = { path, sha256: contentHash(bytes) }
    const isTrusted = trustOf(state, trusted) === 'trusted'
    const loading = loadForeignFile(file, { dialect, isTrusted, context, within })
    const isWhole = loading.ok && loading.file.diagnostics.every(({ code }) => code !== 'agent_untrusted')
    if (!isTrusted && !isWhole) this.untrusted.push(state)
    return loading
  }

  #shown(path: string): string {
    return displayPath(path, this.#options.workingDirectory)
  }
}

/** `--model` also applies to children without models. */
function withModels(defaults: LoadContext['defaults'], flags: ExternalValues): LoadContext['defaults'] {
  const models = flags.get('models')
  return models ? new Map([...defaults, ['models', models]]) : defaults
}

function forPeople(reference: ChildReference, { agent, place }: LoadedFile): Problem {
  return {
    ...locationOfReference(reference),
    message: `\`${agent.name}\` cannot be called: its file allows only people to choose it`,
    remedy: `Remove it, or allow calls in ${place}.`,
  }
}

const sentence = (words: string): string => `${words[0]?.toUpperCase()}${words.slice(1)}.`
