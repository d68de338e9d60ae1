import { basename, dirname, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { builtinToolNames } from '../builtin-tool-names.ts'
import { agentPathsOf, contentHash, type FileState, optionDefaults, settingsOf, trustOf } from '../config/index.ts'
import { isInside } from '../is-inside.ts'
import type { SaidValues } from '../placed-value.ts'
import { listed, shellWord } from '../words.ts'
import { looksLikeAgent } from './agent-files.ts'
import { isOwnFile, neighbours, readContent, realPath, shownPath } from './agent-paths.ts'
import { Confinement } from './confinement.ts'
import type { AgentDiagnostic } from './diagnostic.ts'
import { type FoundPaths, findAgentPaths, SearchEffort } from './find-agent-paths.ts'
import { dialectIn, loadForeignFile } from './foreign-file.ts'
import type { ChildReference, LoadedFile, Loading, SaidByFile } from './loaded-file.ts'
import type { RegistryOptions } from './options.ts'
import { loadOwnFile, type Voices } from './own-file.ts'
import { missingFile, type Referrer, spotOfReference, targetOf } from './resolve-child.ts'

/** Reads files, each once, and keeps what is wrong with those that count. */
export class FileLoader {
  readonly problems: Problem[] = []
  readonly diagnostics: AgentDiagnostic[] = []
  /** Files of other programs that nobody has trusted as they are. */
  readonly untrusted: FileState[] = []
  readonly #options: RegistryOptions
  readonly #files = new Map<string, Loading>()
  readonly #told = new Set<Loading>()
  readonly #visited = new Set<LoadedFile>()
  readonly #asRoot: Voices
  readonly #asChild: Voices
  readonly #confinement: Confinement
  #configured: readonly LoadedFile[] | undefined

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#confinement = new Confinement(options.config, options.trusted)
    const { flags = new Map(), variables = new Map() } = options
    const defaults: Voices['defaults'] = options.config ? optionDefaults(options.config) : new Map()
    const baseDir = realPath(dirname(resolve(options.workingDirectory, options.roots[0] ?? '.')))
    const { workingDirectory, tools = builtinToolNames } = options
    const voices = { baseDir, workingDirectory, tools }
    this.#asRoot = { over: new Map([...variables, ...flags]), defaults, ...voices }
    this.#asChild = { over: variables, defaults: withModels(defaults, flags), ...voices }
  }

  /** Every file that was looked into, as people know it. */
  get places(): readonly string[] {
    return [...this.#files.keys()].map((path) => this.#shown(path))
  }

  /** What the files say that could be read, even those with problems, if they are meant to be used. */
  get said(): readonly SaidByFile[] {
    return [...this.#files.values()].flatMap((loading): readonly SaidByFile[] => {
      if (!loading.ok) return loading.said ? [loading.said] : []
      return loading.file.enabled ? [loading.file] : []
    })
  }

  root(written: string): LoadedFile | undefined {
    const path = resolve(this.#options.workingDirectory, written)
    const content = readContent(path)
    if (!content.ok) {
      const remedy = content.isMissing ? besides(path) : undefined
      this.problems.push({ place: written, message: sentence(content.why), ...(remedy !== undefined && { remedy }) })
      return undefined
    }
    return this.#take(this.#load(realPath(path), { bytes: content.bytes, place: written, voices: this.#asRoot }))
  }

  /** The agent that a reference leads to. Where it leads to none, that is told. */
  child(reference: ChildReference, from: Referrer): LoadedFile | undefined {
    const target = targetOf(reference, from, () => this.configured())
    if (target.kind === 'nothing') return this.#options.config && this.#miss(reference, target.problem)
    if (target.kind === 'file') return target.file
    const path = realPath(target.path)
    const known = this.#files.get(path)
    if (known) return this.#take(known)
    const content = readContent(path)
    if (!content.ok) {
      const why = `the agent \`${reference.written}\` cannot be read: ${content.why}`
      return this.#miss(reference, content.isMissing ? missingFile(reference, path) : { ...spotOfReference(reference), message: why })
    }
    return this.#take(this.#load(path, { bytes: content.bytes, place: this.#shown(path), voices: this.#asChild }))
  }

  /** The agents that the configuration lists and that could be read. */
  configured(): readonly LoadedFile[] {
    this.#configured ??= this.#findConfigured()
    return this.#configured
  }

  #findConfigured(): readonly LoadedFile[] {
    const { config, environment, scope } = this.#options
    if (!config) return []
    const origin = settingsOf(config, 'agents')?.origin
    if (!origin) return []
    const place = `${origin.file}:${origin.line}:${origin.column}`
    const files: LoadedFile[] = []
    const within = this.#confinement.ofConfig(origin.file)
    for (const { paths, isNamed } of this.#search(agentPathsOf({ config, environment }), place)) {
      for (const path of paths.map(realPath)) {
        if (within !== undefined && !isInside(path, within)) {
          this.diagnostics.push(leaving(path, origin.file, place))
          continue
        }
        const content = readContent(path)
        if (!content.ok) {
          this.#tellConfigured([{ place, message: `the agent ${path} cannot be read: ${content.why}` }])
          continue
        }
        const known = this.#files.get(path)
        if (!known && !isNamed && !looksLikeAgent(path, content.bytes)) continue
        const loading = known ?? this.#load(path, { bytes: content.bytes, place: this.#shown(path), voices: this.#asChild })
        if (loading.ok) files.push(loading.file)
        else if (scope === 'everything') this.#take(loading)
        else this.#tellConfigured(loading.problems)
      }
    }
    return [...new Set(files)]
  }

  /** All entries together have the bounds of one search. */
  #search(entries: readonly string[], place: string): readonly FoundPaths[] {
    const effort = new SearchEffort()
    const found: FoundPaths[] = []
    for (const written of entries) {
      try {
        found.push(findAgentPaths(written, effort))
      } catch (error) {
        if (error instanceof TroupeError) {
          const { message, remedy } = error
          this.#tellConfigured([{ place, message, ...(remedy !== undefined && { remedy }) }])
          return []
        }
        this.#tellConfigured([{ place, message: `${written} cannot be searched: ${messageOf(error)}` }])
      }
    }
    return found
  }

  /** What is wrong with agents that nobody asked for stops nobody who runs others. */
  #tellConfigured(problems: readonly Problem[]): void {
    if (this.#options.scope === 'everything') this.problems.push(...problems)
    else
      this.diagnostics.push(
        ...problems.map(({ place, message, remedy }): AgentDiagnostic => {
          return { code: 'agent_broken', severity: 'warning', place, message, ...(remedy !== undefined && { remedy }) }
        }),
      )
  }

  #miss({ isOptional }: ChildReference, problem: Problem): undefined {
    const { place, message, remedy } = problem
    if (!isOptional) this.problems.push(problem)
    else this.diagnostics.push({ code: 'foreign_agent', severity: 'warning', place, message, ...(remedy !== undefined && { remedy }) })
  }

  #take(loading: Loading): LoadedFile | undefined {
    if (loading.ok) return loading.file
    if (this.#told.has(loading)) return undefined
    this.#told.add(loading)
    this.problems.push(...loading.problems)
    // Followed only to hear what is wrong with them, too.
    for (const reference of loading.children) this.#beyond(reference, loading)
    return undefined
  }

  #beyond(reference: ChildReference, from: Referrer): void {
    const file = this.child(reference, from)
    if (!file || this.#visited.has(file)) return
    this.#visited.add(file)
    for (const further of file.children) this.#beyond(further, file)
  }

  #load(path: string, { bytes, place, voices }: { readonly bytes: Uint8Array; readonly place: string; readonly voices: Voices }): Loading {
    const known = this.#files.get(path)
    if (known) return known
    const loading = this.#parse({ path, place, bytes }, voices)
    this.#files.set(path, loading)
    return loading
  }

  #parse(file: { readonly path: string; readonly place: string; readonly bytes: Uint8Array }, voices: Voices): Loading {
    const { path, bytes, place } = file
    if (isOwnFile(path)) return loadOwnFile(file, voices, this.#confinement.ofAgent(file))
    const dialect = dialectIn(path, bytes)
    if (dialect === undefined) {
      const remedy = 'Ours end in `.ai`; files of Claude, Copilot, opencode, Gemini and Codex are known by their place or their settings.'
      return { ok: false, problems: [{ place, message: 'this is no agent file', remedy }], path, children: [] }
    }
    const { trusted } = this.#options
    const state: FileState = { path, sha256: contentHash(bytes) }
    const isTrusted = trustOf(state, trusted) === 'trusted'
    if (!isTrusted) this.untrusted.push(state)
    return loadForeignFile(file, { dialect, isTrusted, voices })
  }

  #shown(path: string): string {
    return shownPath(path, this.#options.workingDirectory)
  }
}

/** Who names a model for the run means those agents too that name none themselves. */
function withModels(defaults: Voices['defaults'], flags: SaidValues): Voices['defaults'] {
  const models = flags.get('models')
  return models ? new Map([...defaults, ['models', models]]) : defaults
}

function leaving(path: string, file: string, place: string): AgentDiagnostic {
  return {
    code: 'agent_untrusted',
    severity: 'warning',
    place,
    message: `${path} is left out: it lies outside of the folder of a configuration that nobody has trusted`,
    remedy: `Look at both; if they are what you want: troupe trust ${shellWord(file)}`,
  }
}

const sentence = (words: string): string => `${words[0]?.toUpperCase()}${words.slice(1)}.`

function besides(path: string): string {
  const there = neighbours(dirname(path))
  const near = nearestNames(basename(path), there)
  if (near.length > 0) return `Did you mean ${listed(near)}?`
  const own = there.filter(isOwnFile)
  return own.length > 0 ? `In ${dirname(path)} there are ${listed(own.slice(0, 10))}.` : 'Give the path of an agent, a .ai file.'
}

/** The problems of a registry as one error. */
export function registryError(problems: readonly Problem[]): TroupeError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new TroupeError('agent_file_invalid', `The agents have ${count}.`, { problems })
}
