import type { AgentSpec, Clock, Diagnostic, SessionToolSource, SourceSession } from '../../contracts/index.ts'
import { matchesSource } from '../../policy/tool-name-patterns.ts'
import type { ToolRegistry } from '../../steps/index.ts'
import { isSameList } from '../../util/is-same-list.ts'
import { knownNames } from '../../util/nearest-names.ts'
import type { Redactor } from '../../util/redact.ts'
import { SessionToolList } from './session-tool-list.ts'

export interface TreeSourcesOptions {
  readonly session: Omit<SourceSession, 'report'>
  readonly clock: Clock
  /** For what sources report: a server may print the secrets that it got. */
  readonly redactor: Redactor
  /** The tools that all sessions have. */
  readonly base: ToolRegistry
  sourcesOf(agent: AgentSpec): readonly SessionToolSource[]
}

interface Built {
  readonly opened: readonly SessionToolList[]
  readonly lists: readonly unknown[]
  readonly registry: ToolRegistry
}

/**
 * The sources of tools that one tree has opened, and the registries made of them.
 *
 * 1. A source is opened when the first agent that may use it begins a turn. Agents with the same sources share a registry.
 * 2. `refresh` is the only place where a registry changes: sessions call it before a turn begins.
 * 3. Problems wait until the tree can record them.
 */
export class TreeSources {
  #options: TreeSourcesOptions
  readonly #opened = new Map<SessionToolSource, SessionToolList>()
  readonly #built = new Map<string, Built>()
  readonly #problems: Diagnostic[] = []
  /** Each is reported once. */
  readonly #unmatched = new Set<string>()
  #record: ((diagnostic: Diagnostic) => void) | undefined

  constructor(options: TreeSourcesOptions) {
    this.#options = options
  }

  /** For a newer configuration: other agents, other sources. Sources that no agent has any more are closed with the tree. */
  reconfigure(options: TreeSourcesOptions): void {
    this.#options = options
    this.#built.clear()
  }

  /** The registry of the last refresh. */
  registryOf(agent: AgentSpec): ToolRegistry {
    return this.#built.get(agent.name)?.registry ?? this.#options.base
  }

  isStale(agent: AgentSpec): boolean {
    const built = this.#built.get(agent.name)
    return !built || built.opened.some((each) => each.isStale)
  }

  /** Opens and lists the sources of an agent. Rejects if a required one fails. */
  async refresh(agent: AgentSpec): Promise<ToolRegistry> {
    const opened = this.#options.sourcesOf(agent).map((source) => this.#open(source))
    await Promise.all(opened.map((each) => (each.isStale ? each.refresh() : undefined)))
    const lists = opened.map(({ tools }) => tools)
    const same = [...this.#built.values()].find((built) => isSameList(built.opened, opened) && isSameList(built.lists, lists))
    const tools = lists.flat()
    const registry = same?.registry ?? (tools.length === 0 ? this.#options.base : this.#options.base.with(tools))
    this.#built.set(agent.name, { opened, lists, registry })
    for (const each of opened) this.#reportUnmatched(agent, each, registry)
    return registry
  }

  /** What the sources of an agent say about their tools. */
  instructionsFor(agent: AgentSpec): readonly { readonly source: string; readonly text: string }[] {
    const opened = this.#built.get(agent.name)?.opened ?? []
    return opened.flatMap(({ name, instructions, tools }) =>
      instructions && tools.length > 0 ? [{ source: name, text: instructions }] : [],
    )
  }

  /** Hands over problems, those that have waited and those to come. `undefined` stops it. */
  recordWith(record: ((diagnostic: Diagnostic) => void) | undefined): void {
    this.#record = record
    if (record) for (const problem of this.#problems.splice(0)) record(problem)
  }

  async close(): Promise<void> {
    this.#record = undefined
    await Promise.allSettled([...this.#opened.values()].map((each) => each.close()))
  }

  #open(source: SessionToolSource): SessionToolList {
    const known = this.#opened.get(source)
    if (known) return known
    const { session, clock, redactor } = this.#options
    const report = (diagnostic: Diagnostic): void => this.#report({ ...diagnostic, message: redactor.text(diagnostic.message) })
    const opened = new SessionToolList(source, { ...session, report }, { clock, redactor })
    this.#opened.set(source, opened)
    return opened
  }

  /** Listed tools that a source does not have. Tools behind `find_tools` exist. */
  #reportUnmatched(
    { name: agent, tools: patterns }: AgentSpec,
    { name: source, tools, isListed }: SessionToolList,
    registry: ToolRegistry,
  ): void {
    if (!isListed) return
    for (const pattern of patterns) {
      if (!matchesSource(pattern, source, 'only') || registry.allowed([pattern]).length > 0) continue
      const message = `"${source}" has ${tools.length === 0 ? 'no tools' : 'no such tool'}: \`${pattern}\` of the agent "${agent}" matches nothing.`
      if (this.#unmatched.has(message)) continue
      this.#unmatched.add(message)
      const names = tools.map(({ name }) => name)
      const remedy = names.length === 0 ? `Check the settings of "${source}".` : knownNames(pattern, names, 'tool')
      this.#report({ code: 'tool_missing', severity: 'warning', message, remedy })
    }
  }

  #report(diagnostic: Diagnostic): void {
    if (this.#record) this.#record(diagnostic)
    else if (this.#problems.length < maxWaiting) this.#problems.push(diagnostic)
  }
}

/** Problems of a source that nobody reads must not fill the memory. */
const maxWaiting = 100

/** The sources whose tools an agent may have: its own, and those of the session that its list of tools may name. */
export function sourcesFor(
  { tools }: AgentSpec,
  { own, shared }: { readonly own: readonly SessionToolSource[]; readonly shared: readonly SessionToolSource[] },
): readonly SessionToolSource[] {
  const names = new Set(own.map(({ name }) => name))
  const all = [...own, ...shared.filter(({ name }) => !names.has(name))]
  return all.filter(({ name }) => tools.some((pattern) => matchesSource(pattern, name)))
}
